"""Names that a function only writes: it assigns them, or mutates the list or dict that they refer to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Methods of Python's containers and files whose result does not depend on the previous contents.
_WRITING_METHODS = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "update", "write", "writelines"}
)


def write_only_names(function: ast.AST) -> frozenset[str]:
    """Return the names that a function (or lambda), including nested ones, never reads except to mutate their value.

    `seen.append(x)` and `seen[k] = x`, as statements, are mutations; any other use is a read.
    """
    mutating_use_ids = set(map(id, _mutating_uses(function)))
    written_names: set[str] = set()
    names_read: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            is_write = id(node) in mutating_use_ids or not isinstance(node.ctx, ast.Load)
            (written_names if is_write else names_read).add(node.id)
        elif isinstance(node, ast.AugAssign):  # the target is both read and written
            names_read |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}
    return frozenset(written_names - names_read)


def _mutating_uses(function: ast.AST) -> Iterator[ast.Name]:
    """Yield the uses of names whose value a statement mutates without reading it."""
    for node in ast.walk(function):
        mutated: ast.AST | None = None
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            method = node.value.func
            if isinstance(method, ast.Attribute) and method.attr in _WRITING_METHODS:
                mutated = method.value
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            mutated = node.value
        if isinstance(mutated, ast.Name):
            yield mutated
