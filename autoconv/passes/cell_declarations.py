"""Register a function's local names that regions and inner functions share, at its start.

Regions recorded around the call then ignore writes to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from autoconv.analysis.scopes import BINDING, bindings
from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.tree import walk, walk_scope


def begin_own(names: Names) -> list[Any]:
    """Return `ag__.local_cells(lambda: (x, y))` for a function whose regions are functions already.

    Empty if no inner function writes one of its names.
    """
    own = tuple(sorted((names.shared & names.bound) - names.declared))
    mark = names.context.mark
    return [gast.Expr(build.operate("local_cells", mark(build.thunk(build.loads(own)))))] if own else []


def written_inside(statement: Any, context: Context) -> set[str]:
    """Return the names that a statement writes in its function, directly or through cells."""
    names = Names(context, (), [statement])
    return names.bound | names.shared


class Names:
    """Names that a function binds, declares as outer, and that functions and tries inside it write through cells.

    The result for a region is computed once and cached in the context, since regions nest.
    """

    def __init__(self, context: Context, parameters: Iterable[str] = (), body: Iterable[Any] = ()) -> None:
        self.context = context
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.shared: set[str] = set()
        self.visit(parameters, body)

    @property
    def outer(self) -> set[str]:
        """The names of enclosing functions that are written."""
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


_SAYING = BINDING | {gast.Global, gast.Nonlocal, gast.ClassDef, gast.Call}  # kinds of nodes that affect the result
