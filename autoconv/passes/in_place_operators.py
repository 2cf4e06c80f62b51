"""Turn augmented assignment to names of possible lists, dicts, sets or aliased arrays into operators.
Such an operator mutates the object for all its aliases. In files that mention frozensets, `|`, `&`, `^` and `-` between
possible sets become operators too, as a frozenset would read a set in the graph as empty. All other files keep these
operators, since numbers are subtracted far more often than sets.

    def f(words, found, o):
        n = 0
        n += 1
        known = frozenset(words)
        found |= known
        weights = o.weights
        weights /= 2
        return known - found, n - 1
    # becomes
    def f(words, found, o):
        n = 0
        n += 1
        known = frozenset(words)
        found = ag__.ior(found, known)
        weights = o.weights
        weights = ag__.itruediv(weights, 2)
        return ag__.sub(known, found), n - 1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from autoconv.analysis.syntactic_types import (
    may_be_sets,
    may_change_in_place,
    non_list_names,
    non_set_names,
    possibly_aliased_names,
)
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.normalise import OPERATOR_BY_AUGMENTATION
from autoconv.syntax import build

_SET_OPERATOR_NAMES = {gast.BitOr: "bitor", gast.BitAnd: "bitand", gast.BitXor: "bitxor", gast.Sub: "sub"}


class _NamesByUse(NamedTuple):
    """Names of a function by the values that they may hold."""

    non_sets: set[str]  # hold no sets
    non_lists: set[str]  # hold no lists
    possible_aliases: set[str]  # may be second names of an array


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return InPlaceOperators(context).visit(tree)


class InPlaceOperators(FunctionPass):
    """Route augmented assignments that may change an object in place, and set operators, through operators."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # By the id of a function: its node, which keeps the id in use, and its names.
        self._names_by_function: dict[int, tuple[Any, _NamesByUse]] = {}
        self._mentions_frozenset = any("frozenset" in line for line in context.lines)

    def visit_BinOp(self, node: Any) -> Any:
        """Route `|`, `&`, `^` and `-` of possible sets through an operator, in files that mention frozensets."""
        may_be_set_operation = False
        if self._mentions_frozenset and self.function_node is not None:
            may_be_set_operation = may_be_sets(node, self._names_by_use().non_sets)
        self.visit_children(node)
        if not may_be_set_operation:
            return node
        return build.place(build.operate(_SET_OPERATOR_NAMES[type(node.op)], node.left, node.right), node)

    def visit_AugAssign(self, node: Any) -> Any:
        """Route an augmented assignment to a name that may change an alias through an operator."""
        is_name = self.function_node is not None and isinstance(node.target, gast.Name)
        may_change_alias = is_name and self._may_change(node)
        self.visit_children(node)
        if not may_change_alias:
            return node
        name = node.target.id
        value = build.operate(OPERATOR_BY_AUGMENTATION[type(node.op)], build.name(name), node.value)
        return build.place(build.assign(name, value), node)

    def _may_change(self, node: Any) -> bool:
        names = self._names_by_use()
        may_be_alias = node.target.id in names.possible_aliases
        return may_be_alias or may_change_in_place(node, names.non_sets, names.non_lists)

    def _names_by_use(self) -> _NamesByUse:
        """Return the names of the current function by the values that they may hold."""
        function = self.function_node
        if id(function) not in self._names_by_function:
            names = _NamesByUse(non_set_names(function), non_list_names(function), possibly_aliased_names(function))
            self._names_by_function[id(function)] = function, names
        return self._names_by_function[id(function)][1]
