"""The local names that a function shares with regions and functions inside of it, told where it begins: what a region
that is recorded around the call has to do with them is nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from autoconv.analysis.scopes import BINDING, bindings
from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.tree import walk, walk_scope


def begin_own(names: Names) -> list[Any]:
    """`ag__.own(lambda: (x, y))` for a function of those names, whose regions are functions already; nothing where no
    inner function writes a name of its."""
    own = tuple(sorted((names.shared & names.bound) - names.declared))
    mark = names.context.mark
    return [gast.Expr(build.operate("own", mark(build.thunk(build.loads(own)))))] if own else []


def written_inside(statement: Any, context: Context) -> set[str]:
    """The names of the function around a statement that it writes, itself or through cells."""
    names = Names(context, (), [statement])
    return names.bound | names.shared


class Names:
    """What a function binds, declares as outer, and what functions and tries inside of it write through cells.

    What a region writes is found once and kept with the context: regions stand in regions."""

    def __init__(self, context: Context, parameters: Iterable[str] = (), body: Iterable[Any] = ()) -> None:
        self.context = context
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.shared: set[str] = set()
        self.visit(parameters, body)

    @property
    def outer(self) -> set[str]:
        """The names of functions around that are written."""
        return (self.shared - self.bound) | self.declared

    def visit(self, parameters: Iterable[str], body: Iterable[Any]) -> None:
        self.bound.update(parameters)
        for statement in body:
            for node in walk_scope(statement):
                if type(node) in _SAYING:
                    self._see(node)

    def _see(self, node: Any) -> None:
        self.bound.update(bindings(node))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            self.declared.update(node.names)
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            known = self.context.region_writes.get(id(node))
            if known is not None:
                self.shared |= known[1]
            else:
                parameters = (n.id for n in walk(node.args) if isinstance(n, gast.Name))
                self.shared |= Names(self.context, parameters, node.body).outer
        elif isinstance(node, gast.ClassDef):
            for inner_node in walk(node):
                if isinstance(inner_node, gast.Nonlocal):
                    self.shared.update(inner_node.names)
        elif build.is_operation(node, "attempts", "entering") and len(node.args) > 1:
            self.shared.update(n.id for n in walk(node.args[1].body) if isinstance(n, gast.Name))


_SAYING = BINDING | {gast.Global, gast.Nonlocal, gast.ClassDef, gast.Call}
