"""Turn `and`, `or`, `not`, conditional expressions, `in` and `is` into operators that evaluate lazily.
Comparisons of possible tuples or lists become operators too.

    def f(a, b):
        return a < b if b and not a else a in (1, 2)
    # becomes
    def f(a, b):
        return ag__.if_exp(ag__.and_(b, lambda: ag__.not_(a)), lambda: ag__.lt(a, b), lambda: ag__.in_(a, (1, 2)))
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import gast

from autoconv.analysis.pinned_constructs import deferral_obstacle
from autoconv.analysis.syntactic_types import has_complex_constant, may_have_parts, number_names
from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build

_ALWAYS_REPLACED = {gast.In: "in_", gast.NotIn: "not_in", gast.Is: "is_", gast.IsNot: "is_not"}
_REPLACED_FOR_CONTAINERS = {
    gast.Eq: "eq", gast.NotEq: "ne", gast.Lt: "lt", gast.LtE: "le", gast.Gt: "gt", gast.GtE: "ge"
}  # fmt: skip


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Logic(context).visit(tree)


def comparison_operator(node: Any, numbers: Container[str] = ()) -> str | None:
    """Return the operator for a comparison, None if the comparison is kept; `numbers` are names of numbers."""
    result = _ALWAYS_REPLACED.get(type(node.ops[0]))
    operands = (node.left, *node.comparators)
    # The class of `1j == x` depends on the order of the operands, which is unknown to methods of tensors.
    if result is None and (
        has_complex_constant(node) or all(may_have_parts(operand, numbers) for operand in operands)
    ):
        result = _REPLACED_FOR_CONTAINERS[type(node.ops[0])]
    return result


class Logic(FunctionPass):
    """Turn `and`, `or`, `not`, conditional expressions and comparisons into operators."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # By the id of a function: its node, and its names of numbers.
        self._names_by_function: dict[int, tuple[Any, set[str]]] = {}

    def visit_BoolOp(self, node: Any) -> Any:
        """Return the operator `and_` or `or_` with lambdas for the later operands, or wrapped operands."""
        kind = "and" if isinstance(node.op, gast.And) else "or"
        values = node.values
        reason = next(filter(None, map(deferral_obstacle, values[1:])), "")
        self.visit_children(node)
        if reason:
            return self._wrap_operands(kind, node, reason)
        self.context.note(kind, node, self.function, "operator", stages=True)
        first, *other_operands = node.values
        return build.place(build.operate(f"{kind}_", first, *map(self._thunk, other_operands)), node)

    def visit_IfExp(self, node: Any) -> Any:
        """Return `ag__.if_exp` with lambdas for the arms, or the expression with a checked test."""
        reason = deferral_obstacle(node.body) or deferral_obstacle(node.orelse)
        self.visit_children(node)
        if reason:
            node.test = build.wrap("test", node.test)
            note_reason = f"an operand holds {reason}"
            self.context.note("if expression", node, self.function, "statement", stages=False, reason=note_reason)
            return node
        self.context.note("if expression", node, self.function, "operator", stages=True)
        arms = self._thunk(node.body), self._thunk(node.orelse)
        return build.place(build.operate("if_exp", node.test, *arms), node)

    def visit_UnaryOp(self, node: Any) -> Any:
        """Return `ag__.not_` for `not`; `not not not x` is `not x`."""
        while _is_not(node) and _is_not(node.operand) and _is_not(node.operand.operand):
            node = node.operand.operand  # `not not not x` is `not x`; this limits the nesting of calls
        self.visit_children(node)
        if isinstance(node.op, gast.Not):
            return build.place(build.operate("not_", node.operand), node)
        return node

    def visit_Compare(self, node: Any) -> Any:
        """Return the operator of a single comparison whose result may be known only at run time."""
        self.visit_children(node)
        if len(node.ops) > 1:
            return node
        operator = comparison_operator(node, self._numbers())
        if operator is None:
            return node
        return build.place(build.operate(operator, node.left, node.comparators[0]), node)

    def _numbers(self) -> set[str]:
        function = self.function_node
        if id(function) not in self._names_by_function:
            self._names_by_function[id(function)] = function, set() if function is None else number_names(function)
        return self._names_by_function[id(function)][1]

    def _thunk(self, value: Any) -> Any:
        return self.context.mark_generated(build.thunk(value))

    def _wrap_operands(self, kind: str, node: Any, reason: str) -> Any:
        """Keep the operator, and wrap the operands whose truth it tests in `ag__.operand`."""
        self.context.note(kind, node, self.function, "statement", stages=False, reason=f"an operand holds {reason}")
        *tested_values, last = node.values
        node.values = [*(build.wrap("operand", value) for value in tested_values), last]
        return node


def _is_not(node: Any) -> bool:
    return isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)
