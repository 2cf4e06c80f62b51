"""What may be a set on both sides of `|`, `&`, `^` or `-` goes through an operator, in files that speak of frozensets:
these do not ask a set of the graph, and would find it empty. Numbers are subtracted far more often than sets, so all
other files keep their operators.

    def f(words, found, n):
        known = frozenset(words)
        return known | found, known - found, n - 1
    # becomes
    def f(words, found, n):
        known = frozenset(words)
        return ag__.bitor(known, found), ag__.sub(known, found), n - 1
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.analysis.numbers import arithmetic_names, may_be_sets
from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build

_OPERATORS = {gast.BitOr: "bitor", gast.BitAnd: "bitand", gast.BitXor: "bitxor", gast.Sub: "sub"}


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Sets(context).visit(tree) if any("frozenset" in line for line in context.lines) else tree


class Sets(FunctionPass):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._found: dict[int, tuple[Any, set[str]]] = {}  # the names that a function computes with

    def visit_BinOp(self, node: Any) -> Any:
        found = self.function_node is not None and may_be_sets(node, self._arithmetic())
        self.generic(node)
        if not found:
            return node
        return build.placed(build.operate(_OPERATORS[type(node.op)], node.left, node.right), node)

    def _arithmetic(self) -> set[str]:
        function = self.function_node
        if id(function) not in self._found:
            self._found[id(function)] = function, arithmetic_names(function)
        return self._found[id(function)][1]
