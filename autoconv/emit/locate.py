"""Code objects with the user's lines, and functions and classes by qualified name."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from types import CodeType

from autoconv.emit.relocate import rename_regions

_MARKER = re.compile(r"^__autoconv__ = ag__\.module\(", re.MULTILINE)

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


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
    one before it. Columns are kept where a line of `text` equals a line of `source` except for its indentation;
    elsewhere there are none, so that a traceback never has carets under the wrong words. Functions named in
    `generated` get the name of the enclosing function.
    """
    tree = ast.parse(text, filename)
    user_lines = _fill_gaps(origins)
    shifts = _column_shifts(text, user_lines, source)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            _relocate(node, user_lines, shifts)
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


def _column_shifts(text: str, user_lines: list[int], source: str | None) -> list[int | None]:
    """Return for each line by how many columns it is indented further in the source; None where the two differ."""
    if source is None:
        return [None] * len(user_lines)
    source_lines = source.split("\n")
    shifts: list[int | None] = []
    for output_line, line in zip(text.split("\n"), user_lines, strict=False):
        source_line = source_lines[line - 1] if line <= len(source_lines) else ""
        is_same_line = output_line.strip() and output_line.strip() == source_line.strip()
        shifts.append(_indentation(source_line) - _indentation(output_line) if is_same_line else None)
    return shifts


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _relocate(node: ast.AST, user_lines: list[int], shifts: list[int | None]) -> None:
    first_line, last_line = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    shift = shifts[first_line - 1] if first_line == last_line and first_line <= len(shifts) else None
    line = user_lines[min(first_line, len(user_lines)) - 1]
    node.lineno = line  # type: ignore[attr-defined]
    node.end_lineno = max(line, user_lines[min(last_line, len(user_lines)) - 1])  # type: ignore[attr-defined]
    if shift is None or node.col_offset + shift < 0:  # type: ignore[attr-defined]
        node.col_offset = node.end_col_offset = -1  # type: ignore[attr-defined]
    else:
        node.col_offset += shift  # type: ignore[attr-defined]
        node.end_col_offset += shift  # type: ignore[attr-defined]
