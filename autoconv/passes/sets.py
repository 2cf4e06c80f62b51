"""`+=` and the like on a name that may be a list, dict or set changes what others may have by other names, and goes
through an operator. So does, in files that speak of frozensets, what may be a set on both sides of `|`, `&`, `^` or
`-`: a frozenset does not ask a set of the graph, and would find it empty. (Numbers are subtracted far more often than
sets, so all other files keep these operators.)

    def f(words, found, n):
        n += 1
        known = frozenset(words)
        found |= known
        return known - found, n - 1
    # becomes
    def f(words, found, n):
        n += 1
        known = frozenset(words)
        found = ag__.ior(found, known)
        return ag__.sub(known, found), n - 1
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.analysis.numbers import arithmetic_names, computed_names, may_be_sets, may_change_in_place
from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.normalise import INPLACE
from autoconv.syntax import build

_OPERATORS = {gast.BitOr: "bitor", gast.BitAnd: "bitand", gast.BitXor: "bitxor", gast.Sub: "sub"}


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Sets(context).visit(tree)


class Sets(FunctionPass):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._found: dict[int, tuple[Any, tuple[set[str], set[str]]]] = {}  # names that a function computes with
        self._frozen = any("frozenset" in line for line in context.lines)

    def visit_BinOp(self, node: Any) -> Any:
        found = self._frozen and self.function_node is not None and may_be_sets(node, self._names()[0])
        self.generic(node)
        if not found:
            return node
        return build.placed(build.operate(_OPERATORS[type(node.op)], node.left, node.right), node)

    def visit_AugAssign(self, node: Any) -> Any:
        named = self.function_node is not None and isinstance(node.target, gast.Name)
        changes = named and may_change_in_place(node, *self._names())
        self.generic(node)
        if not changes:
            return node
        name = node.target.id
        value = build.operate(INPLACE[type(node.op)], build.name(name), node.value)
        return build.placed(build.assign(name, value), node)

    def _names(self) -> tuple[set[str], set[str]]:
        function = self.function_node
        if id(function) not in self._found:
            self._found[id(function)] = function, (arithmetic_names(function), computed_names(function))
        return self._found[id(function)][1]
