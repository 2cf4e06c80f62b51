"""The local names that a function shares with regions and functions inside of it, told where it begins: what a region
that is recorded around the call has to do with them is nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gast

from autoconv.analysis.scopes import bindings
from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.tree import walk, walk_scope


def begin_own(parameters: Iterable[str], body: Sequence[Any], context: Context) -> list[Any]:
    """`ag__.own(lambda: (x, y))` for a function with those parameters, whose regions are functions already; nothing
    where no inner function writes a name of its."""
    names = _Names()
    names.visit(parameters, body)
    own = tuple(sorted((names.shared & names.bound) - names.declared))
    return [gast.Expr(build.operate("own", context.mark(build.thunk(build.loads(own)))))] if own else []


def written_inside(statement: Any) -> set[str]:
    """The names of the function around a statement that it writes, itself or through cells."""
    names = _Names()
    names.visit((), [statement])
    return names.bound | names.shared


class _Names:
    """What a function binds, declares as outer, and what functions and tries inside of it write through cells."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.shared: set[str] = set()

    def visit(self, parameters: Iterable[str], body: Iterable[Any]) -> None:
        self.bound.update(parameters)
        for statement in body:
            for node in walk_scope(statement):
                self._see(node)

    def _see(self, node: Any) -> None:
        self.bound.update(bindings(node))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            self.declared.update(node.names)
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            inner = _Names()
            inner.visit((n.id for n in walk(node.args) if isinstance(n, gast.Name)), node.body)
            self.shared |= (inner.shared - inner.bound) | inner.declared
        elif isinstance(node, gast.ClassDef):
            for inner_node in walk(node):
                if isinstance(inner_node, gast.Nonlocal):
                    self.shared.update(inner_node.names)
        elif build.is_operation(node, "attempts", "entering") and len(node.args) > 1:
            self.shared.update(n.id for n in walk(node.args[1].body) if isinstance(n, gast.Name))
