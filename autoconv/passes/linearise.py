"""Turn an expression with conditionally evaluated walruses into statements, in the same order of evaluation."""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import children, contains


class Lineariser:
    """Rewriter of one statement's expressions.

    `linearise(e)` returns the replacement of `e`, to be evaluated after `statements`.
    """

    def __init__(self, context: Context, namer: Namer, place: gast.AST) -> None:
        self.context = context
        self.namer = namer
        self.place = place
        self.statements: list[Any] = []

    def linearise(self, node: Any) -> Any:
        if not _has_conditional_walrus(node):
            return node
        if isinstance(node, gast.BoolOp):
            return self._linearise_bool_op(node)
        if isinstance(node, gast.IfExp):
            return self._linearise_if_exp(node)
        if isinstance(node, gast.NamedExpr):
            value = self.linearise(node.value)
            self._emit(build.assign(build.store(node.target.id), value))
            return build.place(build.name(node.target.id), node)
        return self._linearise_operands(node)

    def _linearise_bool_op(self, node: Any) -> Any:
        result = self.namer.fresh("value_")
        self._emit(build.assign(result, self.linearise(node.values[0])))
        test: Any = build.name(result)
        if isinstance(node.op, gast.Or):
            test = gast.UnaryOp(gast.Not(), test)
        other_operands = node.values[1] if len(node.values) == 2 else gast.BoolOp(node.op, node.values[1:])
        self._emit(self._make_if(test, self._arm_statements(result, other_operands), []))
        return build.place(build.name(result), node)

    def _linearise_if_exp(self, node: Any) -> Any:
        result = self.namer.fresh("value_")
        test = self.linearise(node.test)
        body, orelse = self._arm_statements(result, node.body), self._arm_statements(result, node.orelse)
        self._emit(self._make_if(test, body, orelse))
        return build.place(build.name(result), node)

    def _arm_statements(self, result: str, value: Any) -> list[Any]:
        inner = Lineariser(self.context, self.namer, self.place)
        inner._emit(build.assign(result, inner.linearise(value)))
        return inner.statements

    def _make_if(self, test: Any, body: list[Any], orelse: list[Any]) -> Any:
        return self.context.mark(build.place(gast.If(test, body, orelse), self.place))

    def _linearise_operands(self, node: Any) -> Any:
        """Evaluate operands before the last one with a walrus into temporaries, to preserve the order."""
        parts = [part for part in children(node) if isinstance(part, (gast.expr, gast.keyword))]
        last = max(i for i, part in enumerate(parts) if _has_conditional_walrus(part))
        replacements: dict[int, Any] = {}
        for i, part in enumerate(parts[: last + 1]):
            if isinstance(part, (gast.keyword, gast.Starred)):
                part.value = self._linearise_operand(part.value, i < last)
            else:
                replacements[id(part)] = self._linearise_operand(part, i < last)
        _replace_children(node, replacements)
        return node

    def _linearise_operand(self, part: Any, is_followed: bool) -> Any:
        value = self.linearise(part)
        if not is_followed or isinstance(value, (gast.Constant, gast.Lambda)):
            return value
        temporary = self.namer.fresh("value_")
        self._emit(build.assign(temporary, value))
        return build.place(build.name(temporary), part)

    def _emit(self, statement: Any) -> None:
        self.statements.append(build.place(statement, self.place))


def _has_conditional_walrus(node: gast.AST) -> bool:
    """Return whether `and`, `or` or a conditional expression may skip a walrus."""
    if isinstance(node, gast.BoolOp):
        return contains(node, gast.NamedExpr) and (
            any(contains(v, gast.NamedExpr) for v in node.values[1:])
            or _has_conditional_walrus(node.values[0])
        )
    if isinstance(node, gast.IfExp):
        return contains(node, gast.NamedExpr) and (
            contains(node.body, gast.NamedExpr)
            or contains(node.orelse, gast.NamedExpr)
            or _has_conditional_walrus(node.test)
        )
    if isinstance(node, (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
        return False
    return any(_has_conditional_walrus(child) for child in children(node))


def _replace_children(node: Any, replacements: dict[int, Any]) -> None:
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            setattr(node, field, [replacements.get(id(item), item) for item in value])
        elif isinstance(value, gast.AST):
            setattr(node, field, replacements.get(id(value), value))
