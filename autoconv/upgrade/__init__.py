"""Upgrade of TensorFlow 1 programs: names are replaced, and sessions become functions; the program is not run."""

from __future__ import annotations

import ast

from autoconv.upgrade.edits import Source
from autoconv.upgrade.functions import rewrite_scope
from autoconv.upgrade.names import dotted_name, find_aliases, rename_names
from autoconv.upgrade.program import Aliases, CannotUpgrade, builds_graph, scopes_with_sessions
from autoconv.upgrade.report import Note, UpgradedFile


def upgrade(text: str, filename: str = "<string>") -> UpgradedFile:
    """Rewrite a program of TensorFlow 1 for autoconv; return it with notes on changes and on what is left to do.

    A session becomes a function for each combination of fetched and fed tensors; the placeholders that are fed are its
    parameters. Where that is impossible, all sessions of the file stay, run by `autoconv.compat.v1`, and a comment at
    the line has the reason. Raises SyntaxError for text that is no Python.

    >>> from autoconv.upgrade import upgrade
    >>> print(upgrade("import tensorflow as tf\\ny = tf.log(tf.to_float(3))\\n").text)
    import autoconv as tf
    y = tf.math.log(tf.cast(3, tf.float32))
    """
    source = Source(text, filename)
    aliases = find_aliases(source.tree)
    if not aliases:
        return UpgradedFile(text)
    bodies = list(scopes_with_sessions(source.tree, aliases))
    graph_builders = {
        node.name: node for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef) and all(node.body is not body for body in bodies)
        and builds_graph(node, set(), aliases, set())
    }  # fmt: skip
    notes = rename_names(source, aliases, list(graph_builders.values()) if bodies else [])
    notes += _replace_imports(source, aliases, "autoconv")
    try:
        if not bodies and _uses_placeholders(source.tree, aliases):
            raise CannotUpgrade(source.tree.body[0], "placeholders without a session in the same file")
        for body in bodies:
            notes += rewrite_scope(source, body, aliases, graph_builders)
    except CannotUpgrade as error:
        return _keep_sessions(text, filename, error)
    if bodies:
        notes = [note for note in notes if not note.text.startswith(_SESSION_NOTES)]
    return UpgradedFile(source.text(), notes, "functions" if bodies else "")


# Prefixes of notes about names that are removed together with the sessions.
_SESSION_NOTES = ("tf.placeholder", "tf.Session", "tf.InteractiveSession", "tf.global_variables_initializer",
                "tf.local_variables_initializer", "tf.initialize_all_variables", "tf.ConfigProto")  # fmt: skip


def _keep_sessions(text: str, filename: str, error: CannotUpgrade) -> UpgradedFile:
    """Return the program with its sessions, run by `compat.v1`, and a comment at the node of the error."""
    source = Source(text, filename)
    aliases = find_aliases(source.tree)
    notes = _replace_imports(source, aliases, "autoconv.compat.v1")
    line = getattr(error.node, "lineno", 1)
    start = sum(map(len, source.lines[: line - 1]))
    comment = f"# autoconv upgrade: sessions stay, because of {error.reason}"
    source.replace_range(start, start, f"{source.indent(line)}{comment}\n")
    notes.append(Note(line, f"sessions stay, because of {error.reason}", is_open=True))
    return UpgradedFile(source.text(), notes, "kept")


def _replace_imports(source: Source, aliases: Aliases, module: str) -> list[Note]:
    """Replace imports of TensorFlow by those of `module`; return notes. With `compat.v1`, version 2 is disabled."""
    notes = []
    for node in dict.fromkeys(aliases.values()):
        names = [name for name, import_statement in aliases.items() if import_statement is node]
        other_imports = [alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) not in names]
        lines = [f"import {module} as {name}" for name in names]
        if other_imports:
            beginning = "import" if isinstance(node, ast.Import) else f"from {node.module} import"
            lines.insert(0, f"{beginning} {', '.join(map(ast.unparse, other_imports))}")
        if module.endswith("v1"):
            lines += ["", f"{names[0]}.disable_v2_behavior()"]
        indent = source.indent(node.lineno)
        source.replace(node, "\n".join([lines[0], *(line and indent + line for line in lines[1:])]))
        notes.append(Note(node.lineno, f"the import is that of {module}"))
    for part in ast.walk(source.tree):
        if not isinstance(part, ast.ImportFrom) or part in aliases.values():
            continue
        if (part.module or "").startswith("tensorflow."):
            notes.append(Note(part.lineno, f"{part.module} is part of TensorFlow's package", is_open=True))
    return notes


def _uses_placeholders(tree: ast.AST, aliases: Aliases) -> bool:
    """Return whether a program makes placeholders."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(dotted_name(call.func, aliases) == "placeholder" for call in calls)


__all__ = ["Note", "UpgradedFile", "upgrade"]
