"""Declare, at the start of a function, the local names that its regions and inner functions share.

A loop or branch of a caller then does not carry these names as its state.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from autoconv.analysis.scopes import BINDING_KINDS, bindings
from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.tree import walk, walk_scope


def declare_cells(names: WrittenNames) -> list[Any]:
    """Return, as a list, the statement `ag__.local_cells(lambda: (x, y))`.

    The staged constructs of the function have become inner functions. The list is empty if no inner function writes a
    local name of the function.
    """
    cells = tuple(sorted((names.shared & names.bound) - names.declared))
    mark = names.context.mark_generated
    return [gast.Expr(build.operate("local_cells", mark(build.thunk(build.loads(cells)))))] if cells else []


def names_written_in(statement: Any, context: Context) -> set[str]:
    """Return the names that a statement writes in its function, directly or through cells."""
    names = WrittenNames(context, (), [statement])
    return names.bound | names.shared


class WrittenNames:
    """The names that a function writes.

    `bound`: those that it binds itself; `declared`: those that it declares global or nonlocal; `shared`: those that
    inner functions and tries write, through cells. The context caches the result for a region, since regions nest.
    """

    def __init__(self, context: Context, parameters: Iterable[str] = (), body: Iterable[Any] = ()) -> None:
        self.context = context
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.shared: set[str] = set()
        self.bound.update(parameters)
        self._add_statements(body)

    @property
    def outer_names(self) -> set[str]:
        """The names of enclosing functions that are written."""
        return (self.shared - self.bound) | self.declared

    def _add_statements(self, body: Iterable[Any]) -> None:
        for statement in body:
            for node in walk_scope(statement):
                if type(node) in _RELEVANT_KINDS:
                    self._collect(node)

    def _collect(self, node: Any) -> None:
        """Add the names that a statement binds, declares, and shares with regions and inner functions."""
        self.bound.update(bindings(node))
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            self.declared.update(node.names)
        elif isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef)):
            if id(node) in self.context.region_writes:
                _, writes = self.context.region_writes[id(node)]
                self.shared |= writes
            else:
                parameters = (n.id for n in walk(node.args) if isinstance(n, gast.Name))
                self.shared |= WrittenNames(self.context, parameters, node.body).outer_names
        elif isinstance(node, gast.ClassDef):
            for inner_node in walk(node):
                if isinstance(inner_node, gast.Nonlocal):
                    self.shared.update(inner_node.names)
        elif build.is_operation(node, "attempts", "with_attempts") and len(node.args) > 1:  # [1]: lambda: (x, y)
            self.shared.update(n.id for n in walk(node.args[1].body) if isinstance(n, gast.Name))


# Kinds of nodes that affect the result.
_RELEVANT_KINDS = BINDING_KINDS | {gast.Global, gast.Nonlocal, gast.ClassDef, gast.Call}
