"""Code objects with the user's lines, and functions and classes by qualified name."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Collection, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from autoconv.emit.relocate import rename_regions
from autoconv.process_state import without_warnings

_MARKER = re.compile(r"^__autoconv__ = ag__\.module\(", re.MULTILINE)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

# The attribute of a function that is part of another one: it returns what `emit.function.locate_source` does.
SOURCE_ATTRIBUTE = "__autoconv_source__"


class FunctionSource(NamedTuple):
    """The source of a function: its definition or lambda, the class around it ("" if none), its file, and its lines."""

    definition: Any
    class_name: str
    filename: str
    lines: list[str]  # of the whole file


def source_lines(code: CodeType, namespace: dict[str, Any]) -> list[str]:
    """Return the lines of the file of a function with that code and those globals; none if they are not found.

    From Python 3.13 on, the lines of "<string>" are those of the program that `python -c` runs. They are not the source
    of other text that is executed, even where that has a function of the same name on the same line.
    """
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, namespace)
    return lines if code.co_filename != "<string>" or _is_code_of(code, "".join(lines)) else []


def _is_code_of(code: CodeType, text: str) -> bool:
    """Return whether the text compiles to the code, perhaps within other code."""
    try:
        with without_warnings():
            pending = [compile(text, code.co_filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return False
    while pending:
        inner_codes = [constant for constant in pending.pop().co_consts if isinstance(constant, CodeType)]
        if code in inner_codes:
            return True
        pending += inner_codes
    return False


def compile_with_origins(
    text: str,
    origins: Sequence[int],
    filename: str,
    *,
    source: str | None = None,
    generated: Collection[str] = (),
) -> CodeType:
    """Compile converted `text` under the user's `filename` and line numbers.

    `origins[k]` is the line of the user's file for line k+1 of `text`, 0 if there is none: such a line counts as the
    one before it. `source` is the user's original text. Expressions that a converted statement shares with the
    original statement on the line of its origin get their original positions. All others have no columns, so that a
    traceback never has carets under the wrong words. Functions named in `generated` get the name of the enclosing
    function.
    """
    tree = ast.parse(text, filename)
    user_lines = _fill_gaps(origins)
    common_parts = _find_common_parts(tree, user_lines, source) if source is not None else []
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            _relocate(node, user_lines)
    for node, original in common_parts:
        ast.copy_location(node, original)
    return rename_regions(compile(tree, filename, "exec", dont_inherit=True), generated)


def definitions(tree: ast.AST) -> dict[str, list[Definition]]:
    """Return every function and class by its qualified name: `f`, `Class.method`, `outer.inner`.

    One name may be defined several times (for example in both branches of an `if`).
    """
    result: dict[str, list[Definition]] = {}
    pending: list[tuple[str, ast.AST]] = [("", tree)]
    while pending:
        prefix, node = pending.pop(0)
        for child in _child_statements(node):
            if isinstance(child, Definition):
                name = prefix + child.name
                result.setdefault(name, []).append(child)
                pending.append((f"{name}.", child))
            else:
                pending.append((prefix, child))
    return result


def is_converted(source: str) -> bool:
    """Return whether a module's text is the result of an earlier conversion."""
    return _MARKER.search(source) is not None


def first_line(node: Definition) -> int:
    """Return the line on which a definition starts, including its decorators."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _child_statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements, handlers and match cases directly below a node; expressions hold no definitions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child


def _fill_gaps(origins: Sequence[int]) -> list[int]:
    """Replace each 0 by the line before it; the zeros at the start by the first line."""
    lines, last_line = [], next(filter(None, origins), 1)
    for line in origins:
        last_line = line or last_line
        lines.append(last_line)
    return lines or [1]


def _find_common_parts(tree: ast.AST, user_lines: list[int], source: str) -> list[tuple[ast.AST, ast.AST]]:
    """Return pairs of a node of the tree and the node of the source that it stands for."""
    originals: dict[tuple[type, int], list[ast.AST]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _WITH_BODIES):
            originals.setdefault((type(node), _line_of(node)), []).append(node)
    common_parts: list[tuple[ast.AST, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, _WITH_BODIES):
            line = user_lines[min(_line_of(node), len(user_lines)) - 1]
            for original in originals.get((type(node), line), ()):
                pairs = [_matching_nodes(*parts) for parts in zip(_parts(node), _parts(original), strict=False)]
                common_parts += [pair for pairs_of_part in pairs for pair in pairs_of_part]
                if all(pairs) and len(pairs) == len(list(_parts(original))):
                    common_parts.append((node, original))
    return common_parts


def _matching_nodes(node: Any, original: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Return pairs of nodes of two expressions that are equal, except for calls of operators around parts of `node`.

    The result is empty if the expressions differ in another way.
    """
    if ast.dump(node) == ast.dump(original):
        return list(zip(ast.walk(node), ast.walk(original), strict=True))
    pairs = [(node, original)]
    if _is_operator_call(node):
        pairs_of_operand = _matching_nodes(node.args[0], original)
        return pairs_of_operand and [*pairs, *((part, original) for part in ast.walk(node.func)), *pairs_of_operand]
    parts, original_parts = list(_parts(node)), list(_parts(original))
    if type(node) is not type(original) or len(parts) != len(original_parts) or _names(node) != _names(original):
        return []
    for part_pair in zip(parts, original_parts, strict=True):
        pairs_of_part = _matching_nodes(*part_pair)
        if not pairs_of_part:
            return []
        pairs += pairs_of_part
    return pairs


def _names(node: ast.AST) -> list[Any]:
    """Return the names and constants in the fields of a node, without those of its children."""
    return [value for _, value in ast.iter_fields(node) if not isinstance(value, (ast.AST, list))]


def _is_operator_call(node: Any) -> bool:
    """Return whether a node is a call of an operator with an operand."""
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and bool(node.args)
    return is_method and isinstance(node.func.value, ast.Name) and node.func.value.id == "ag__"


_WITH_BODIES = (ast.stmt, ast.excepthandler, ast.match_case)  # nodes that may contain statements


def _line_of(node: Any) -> int:
    """Return the line of a statement or handler, or of the pattern of a case."""
    line: int = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
    return line


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node that contain no statements."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, _WITH_BODIES))


def _relocate(node: Any, user_lines: list[int]) -> None:
    """Move a node to the user's lines, without columns."""
    first, last = (user_lines[min(line, len(user_lines)) - 1] for line in (node.lineno, node.end_lineno))
    node.lineno, node.end_lineno = first, max(first, last)
    node.col_offset = node.end_col_offset = -1
