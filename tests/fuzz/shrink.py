"""Reduce a failing program: remove statements, and replace statements by their bodies and expressions by operands."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any


def reduce_source(source: str, fails: Callable[[str], bool], rounds: int = 2_000) -> str:
    """Return a small program for which `fails` still holds, after at most `rounds` attempts."""
    current = ast.parse(source)
    tried: set[str] = set()
    progress = True
    while progress and rounds > 0:
        progress = False
        size = len(ast.unparse(current))
        for candidate in _reduced_copies(current):
            try:
                text = ast.unparse(ast.fix_missing_locations(candidate))
            except Exception:
                continue
            if text in tried or len(text) >= size:
                continue
            tried.add(text)
            rounds -= 1
            if rounds <= 0:
                break
            if fails(text):
                current = ast.parse(text)
                progress = True
                break
    return ast.unparse(current)


def _reduced_copies(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield copies of the tree with one change each, large changes first."""
    for path in _paths_of_blocks(tree):
        block = _node_at(tree, path)
        for index in range(len(block)):
            yield _with_block(tree, path, index, [])
        for index, statement in enumerate(block):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    yield _with_block(tree, path, index, inner)
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                yield _with_block(tree, path, index, part.body)
    for path in _paths_of_expressions(tree):
        node = _node_at(tree, path)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield _with_expression(tree, path, child)
        if not isinstance(node, ast.Constant):
            yield _with_expression(tree, path, ast.Constant(1))


Path = tuple[tuple[str, int], ...]


def _walk(node: ast.AST, path: Path) -> Iterator[tuple[ast.AST, Path]]:
    yield node, path
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _walk(value, (*path, (name, -1)))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _walk(item, (*path, (name, index)))


def _paths_of_blocks(tree: ast.AST) -> list[Path]:
    paths = []
    for node, path in _walk(tree, ()):
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            if isinstance(getattr(node, name, None), list) and getattr(node, name):
                paths.append((*path, (name, -1)))
    return paths


def _paths_of_expressions(tree: ast.AST) -> list[Path]:
    return [
        path
        for node, path in _walk(tree, ())
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    ]


def _node_at(tree: Any, path: Path) -> Any:
    for name, index in path:
        tree = getattr(tree, name) if index < 0 else getattr(tree, name)[index]
    return tree


def _with_block(tree: ast.AST, path: Path, index: int, inner: list[Any]) -> ast.AST:
    changed = copy.deepcopy(tree)
    block = _node_at(changed, path)
    block[index : index + 1] = copy.deepcopy(inner)
    if not block and path[-1][0] == "body":
        block.append(ast.Pass())
    return changed


def _with_expression(tree: ast.AST, path: Path, new: ast.AST) -> ast.AST:
    changed = copy.deepcopy(tree)
    owner, (name, index) = _node_at(changed, path[:-1]), path[-1]
    if index < 0:
        setattr(owner, name, copy.deepcopy(new))
    else:
        getattr(owner, name)[index] = copy.deepcopy(new)
    return changed
