"""Replace names, keywords and calls of version 1 by those of version 2."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autoconv.upgrade import vocabulary
from autoconv.upgrade.edits import Source
from autoconv.upgrade.report import Note


def find_aliases(tree: ast.AST) -> dict[str, ast.Import | ast.ImportFrom]:
    """Return the names under which a program imports TensorFlow, each with its statement."""
    result: dict[str, ast.Import | ast.ImportFrom] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in ("tensorflow", "tensorflow.compat.v1"):
                    result[alias.asname or "tensorflow"] = node
        elif isinstance(node, ast.ImportFrom) and node.module in ("tensorflow.compat", "tensorflow"):
            for alias in node.names:
                if alias.name in ("v1", "compat.v1"):
                    result[alias.asname or alias.name] = node
    return result


def dotted_name(node: ast.AST, aliases: dict[str, ast.Import | ast.ImportFrom]) -> str | None:
    """Return the name after the alias of TensorFlow: "nn.relu" for `tf.nn.relu`; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not (isinstance(node, ast.Name) and node.id in aliases and parts):
        return None
    name = ".".join(reversed(parts))
    return name.removeprefix("compat.v1.")


def rename_names(
    source: Source, aliases: dict[str, ast.Import | ast.ImportFrom], graph_builders: Sequence[ast.AST] = ()
) -> list[Note]:
    """Replace names, keywords and calls in the source; return notes on the changes.

    Variables that `graph_builders` make are those of version 1, which a `VariableStore` shares between their calls.
    """
    notes: list[Note] = []
    built_nodes = {node for builder in graph_builders for node in ast.walk(builder)}
    handled_nodes: set[ast.AST] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            handled_nodes |= _replace_call(source, node, aliases, notes)
    for node in _outermost_names(source.tree, aliases):
        if node not in handled_nodes:
            _replace_attribute(source, node, aliases, notes, is_stored=node in built_nodes)
    for node in ast.walk(source.tree):
        _replace_size_value(source, node, notes)
    return notes


def _outermost_names(tree: ast.AST, aliases: dict[str, ast.Import | ast.ImportFrom]) -> Iterator[ast.Attribute]:
    """Yield the longest chains of attributes that start at an alias."""
    worklist: list[ast.AST] = [tree]
    while worklist:
        node = worklist.pop()
        if isinstance(node, ast.Attribute) and dotted_name(node, aliases) is not None:
            yield node
            continue
        worklist += ast.iter_child_nodes(node)


def _replace_attribute(
    source: Source, node: ast.Attribute, aliases: dict[str, ast.Import | ast.ImportFrom], notes: list[Note],
    is_stored: bool,
) -> None:  # fmt: skip
    """Replace a name of version 1 by its new name; note it, or the remedy where there is none.

    `is_stored` tells whether a `VariableStore` owns the variables that the name makes.
    """
    name = dotted_name(node, aliases)
    assert name is not None
    remedy_text = vocabulary.remedy(name)
    if remedy_text is not None:
        notes.append(Note(node.lineno, f"tf.{name} is gone: {remedy_text}", is_open=True))
        return
    replacement = "compat.v1.Variable" if name == "Variable" and is_stored else vocabulary.new_name(name)
    alias = source.original(node).split(".", 1)[0]
    if f"{alias}.{replacement}" != source.original(node):
        source.replace(node, f"{alias}.{replacement}")
    if replacement != name:
        notes.append(Note(node.lineno, f"tf.{name} is tf.{replacement}"))


def _replace_call(
    source: Source, node: ast.Call, aliases: dict[str, ast.Import | ast.ImportFrom], notes: list[Note]
) -> set[ast.AST]:
    """Change the keywords of a call, or the whole call; return the names that need no further renaming."""
    name = dotted_name(node.func, aliases)
    if name is None:
        return set()
    alias = source.original(node.func).split(".", 1)[0]
    if name in vocabulary.DTYPE_BY_CAST_FUNCTION and len(node.args) == 1 and not node.keywords:
        dtype = vocabulary.DTYPE_BY_CAST_FUNCTION[name]
        _replace_around(source, node, node.args[0], f"{alias}.cast(", f", {alias}.{dtype})")
        notes.append(Note(node.lineno, f"tf.{name} is tf.cast to {dtype}"))
        return {node.func}
    if name in vocabulary.ASSIGNMENTS and len(node.args) >= 2 and isinstance(node.args[0], ast.Name | ast.Attribute):
        value_start = source.start(node.args[1])
        source.replace_range(source.start(node), value_start, f"{source.original(node.args[0])}.{name}(")
        for keyword in node.keywords:
            if keyword.arg in ("validate_shape", "use_locking"):
                _remove_keyword(source, node, keyword)
        notes.append(Note(node.lineno, f"tf.{name} is the method of the variable"))
        return {node.func, node.args[0]}
    if name == "nn.dropout":
        _replace_dropout(source, node, notes)
    for keyword in node.keywords:
        old_keyword = keyword.arg or ""
        if old_keyword in vocabulary.DROPPED_KEYWORDS_BY_FUNCTION.get(name, ()):
            _remove_keyword(source, node, keyword)
            notes.append(Note(node.lineno, f"the argument {old_keyword} of tf.{name} is gone"))
        elif name.startswith(vocabulary.PREFIXES_BY_OLD_KEYWORD.get(old_keyword, ())):
            start = source.start(keyword)
            source.replace_range(start, start + len(old_keyword), vocabulary.NEW_KEYWORDS[old_keyword])
            new_keyword = vocabulary.NEW_KEYWORDS[old_keyword]
            notes.append(Note(node.lineno, f"the argument {old_keyword} of tf.{name} is {new_keyword}"))
    return set()


def _replace_dropout(source: Source, node: ast.Call, notes: list[Note]) -> None:
    """Replace `keep_prob` by the rate of dropped elements."""
    keyword = next((keyword for keyword in node.keywords if keyword.arg == "keep_prob"), None)
    if keyword is None and len(node.args) < 2:
        return
    keep_prob = node.args[1] if keyword is None else keyword.value
    start, end = source.span(keyword or keep_prob)
    is_single_term = isinstance(keep_prob, ast.Name | ast.Constant | ast.Attribute | ast.Call)
    text = source.original(keep_prob)
    source.replace_range(start, end, f"rate=1 - {text}" if is_single_term else f"rate=1 - ({text})")
    notes.append(Note(node.lineno, "tf.nn.dropout takes the rate of what is dropped, not the probability to keep"))


def _replace_size_value(source: Source, node: ast.AST, notes: list[Note]) -> None:
    """Replace `x.shape[1].value` by `x.shape[1]`."""
    if not (isinstance(node, ast.Attribute) and node.attr == "value" and isinstance(node.value, ast.Subscript)):
        return
    owner = node.value.value
    is_call = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == "get_shape"
    if is_call or (isinstance(owner, ast.Attribute) and owner.attr == "shape"):
        source.replace_range(source.end(node.value), source.end(node), "")
        notes.append(Note(node.lineno, "sizes of shapes are ints and None, without `value`"))


def _replace_around(source: Source, node: ast.AST, kept_node: ast.AST, before: str, after: str) -> None:
    """Keep the text of a part of a node, and replace the text before and after it."""
    start, end = source.span(node)
    kept_start, kept_end = source.span(kept_node)
    source.replace_range(start, kept_start, before)
    source.replace_range(kept_end, end, after)


def _remove_keyword(source: Source, call: ast.Call, keyword: ast.keyword) -> None:
    """Remove a keyword of a call with the comma before it."""
    start, end = source.span(keyword)
    comma = source.full_text.rfind(",", source.end(call.func), start)
    source.replace_range(comma if comma >= 0 else start, end, "")
