"""`%load_ext autoconv`: the magic `%%autoconv`, which compiles the functions that a cell defines.

%%autoconv              all functions at the top of the cell
%%autoconv step energy  only the functions with these names
"""

from __future__ import annotations

import ast
from typing import Any


def load(shell: Any) -> None:
    """Register the cell magic `%%autoconv` with an IPython shell."""
    shell.register_magic_function(lambda line, cell: _run(shell, line, cell), "cell", "autoconv")


def _run(shell: Any, line: str, cell: str) -> None:
    """Run a cell of a notebook with the functions that the line names compiled."""
    names = frozenset(line.split())
    missing_names = sorted(names - _defined_names(shell.transform_cell(cell)))
    if missing_names:
        raise NameError(f"%%autoconv: the cell defines no function {', '.join(missing_names)}")
    transformer = _CompileDecorator(names)
    shell.ast_transformers.append(transformer)
    try:
        shell.run_cell(cell)
    finally:
        shell.ast_transformers.remove(transformer)


def _defined_names(text: str) -> set[str]:
    """Return the names of functions at the top level of a cell; none for a syntax error, which the shell reports."""
    try:
        return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    except SyntaxError:
        return set()


class _CompileDecorator(ast.NodeTransformer):
    """Decorate `def f(…): …` with @autoconv.compile, unless it has a decorator of autoconv."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Module(self, tree: ast.Module) -> ast.Module:
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and (not self.names or node.name in self.names):
                _decorate(node)
        return tree


def _decorate(node: ast.FunctionDef) -> None:
    """Insert @autoconv.compile as the outermost decorator, unless one of the decorators is of autoconv."""
    if any("autoconv" in ast.unparse(decorator) for decorator in node.decorator_list):
        return
    decorator = ast.parse("__import__('autoconv').compile", mode="eval").body
    for part in ast.walk(decorator):
        ast.copy_location(part, node)
    node.decorator_list.insert(0, decorator)
