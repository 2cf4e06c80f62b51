"""Turn an expression with conditionally evaluated walruses into statements, in the same order of evaluation."""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.names import Namer
from autoconv.syntax.tree import COMPREHENSIONS, children, contains, copy_tree, walk

_NOT_LINEARISED = (gast.Lambda, *COMPREHENSIONS, gast.Await, gast.Yield, gast.YieldFrom)


class Lineariser:
    """Rewriter of one statement's expressions.

    `linearise(e)` returns the replacement of `e`, and appends to `statements` what runs before it. New nodes get the
    position of `place`.
    """

    def __init__(self, context: Context, namer: Namer, place: gast.AST) -> None:
        self.context = context
        self.namer = namer
        self.place = place
        self.statements: list[Any] = []

    def linearise(self, node: Any) -> Any:
        """Return an expression without conditional walruses; the statements that it needs are emitted before it."""
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
        if _is_assigning_quantifier(node):
            return self._linearise_quantifier(node)
        return self._linearise_operands(node)

    def _linearise_quantifier(self, node: Any) -> Any:
        """Turn `any(test for x in xs if condition)` into a loop, unless another function has the name.

        if ag__.is_builtin(any):
            value_ = False
            for x_ in xs:
                if condition and test:
                    value_ = True
                    break
        else:
            value_ = any(test for x in xs if condition)
        """
        result_name, is_any = self.namer.fresh("value_"), node.func.id == "any"
        (generator,) = node.args[0].generators
        call_of_other_function = build.assign(result_name, copy_tree(node))
        iterable = self.linearise(generator.iter)
        target_names = [part.id for part in walk(generator.target) if isinstance(part, gast.Name)]
        fresh_names = {name: self.namer.fresh(f"{name.strip('_')}_") for name in target_names}
        for part in (generator.target, node.args[0].elt, *generator.ifs):
            for name_node in walk(part):
                if isinstance(name_node, gast.Name):
                    name_node.id = fresh_names.get(name_node.id, name_node.id)
        test = node.args[0].elt if is_any else gast.UnaryOp(gast.Not(), node.args[0].elt)
        tests = [*generator.ifs, test]
        decision_statements = [build.assign(result_name, build.constant(is_any)), gast.Break()]
        lineariser = Lineariser(self.context, self.namer, self.place)
        joined_test = gast.BoolOp(gast.And(), tests) if len(tests) > 1 else test
        condition = lineariser.linearise(build.place(joined_test, node))
        lineariser._emit(self._make_if(condition, decision_statements, []))
        loop = gast.For(generator.target, iterable, lineariser.statements, [], None)
        loop = self.context.mark_generated(build.place(loop, node))
        body = [build.assign(result_name, build.constant(not is_any)), loop]
        is_builtin = build.operate("is_builtin", build.name(node.func.id), build.constant(node.func.id))
        self._emit(self._make_if(is_builtin, body, [call_of_other_function]))
        return build.place(build.name(result_name), node)

    def _linearise_bool_op(self, node: Any) -> Any:
        """Return the name of the value of an `and` or `or`, whose later operands are in the arm of an if."""
        result_name = self.namer.fresh("value_")
        self._emit(build.assign(result_name, self.linearise(node.values[0])))
        test: Any = build.name(result_name)
        if isinstance(node.op, gast.Or):
            test = gast.UnaryOp(gast.Not(), test)
        other_operands = node.values[1] if len(node.values) == 2 else gast.BoolOp(node.op, node.values[1:])
        self._emit(self._make_if(test, self._arm_statements(result_name, other_operands), []))
        return build.place(build.name(result_name), node)

    def _linearise_if_exp(self, node: Any) -> Any:
        result_name = self.namer.fresh("value_")
        test = self.linearise(node.test)
        body, orelse = self._arm_statements(result_name, node.body), self._arm_statements(result_name, node.orelse)
        self._emit(self._make_if(test, body, orelse))
        return build.place(build.name(result_name), node)

    def _arm_statements(self, result_name: str, value: Any) -> list[Any]:
        lineariser = Lineariser(self.context, self.namer, self.place)
        lineariser._emit(build.assign(result_name, lineariser.linearise(value)))
        return lineariser.statements

    def _make_if(self, test: Any, body: list[Any], orelse: list[Any]) -> Any:
        return self.context.mark_generated(build.place(gast.If(test, body, orelse), self.place))

    def _linearise_operands(self, node: Any) -> Any:
        """Evaluate operands before the last one with a walrus into temporaries, to preserve the order."""
        parts = [part for part in children(node) if isinstance(part, (gast.expr, gast.keyword))]
        last_walrus = max(i for i, part in enumerate(parts) if _has_conditional_walrus(part))
        replacements: dict[int, Any] = {}
        for i, part in enumerate(parts[: last_walrus + 1]):
            if isinstance(part, (gast.keyword, gast.Starred)):
                part.value = self._linearise_operand(part.value, i < last_walrus)
            else:
                replacements[id(part)] = self._linearise_operand(part, i < last_walrus)
        _replace_children(node, replacements)
        return node

    def _linearise_operand(self, operand: Any, is_followed: bool) -> Any:
        """Return an operand, saved in a variable if code that follows may change it."""
        value = self.linearise(operand)
        if not is_followed or isinstance(value, (gast.Constant, gast.Lambda)):
            return value
        temporary = self.namer.fresh("value_")
        self._emit(build.assign(temporary, value))
        return build.place(build.name(temporary), operand)

    def _emit(self, statement: Any) -> None:
        self.statements.append(build.place(statement, self.place))


def has_walrus(node: gast.AST) -> bool:
    """Return whether an expression assigns to a name, itself or in the elements that `any` or `all` tests."""
    return contains(node, gast.NamedExpr) or any(map(_is_assigning_quantifier, walk(node)))


def _has_conditional_walrus(node: gast.AST) -> bool:
    """Return whether `and`, `or`, a conditional expression, `any` or `all` may skip a walrus."""
    if isinstance(node, gast.BoolOp):
        return has_walrus(node) and (
            any(has_walrus(value) for value in node.values[1:])
            or _has_conditional_walrus(node.values[0])
        )
    if isinstance(node, gast.IfExp):
        return has_walrus(node) and (
            has_walrus(node.body)
            or has_walrus(node.orelse)
            or _has_conditional_walrus(node.test)
        )
    if isinstance(node, (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
        return False
    return _is_assigning_quantifier(node) or any(_has_conditional_walrus(child) for child in children(node))


def _is_assigning_quantifier(node: Any) -> bool:
    """Return whether a node is `any` or `all` of a generator expression whose elements contain a walrus."""
    is_quantifier = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in ("any", "all")
    if not is_quantifier or len(node.args) != 1 or node.keywords or not isinstance(node.args[0], gast.GeneratorExp):
        return False
    (generator, *other_generators), element = node.args[0].generators, node.args[0].elt
    if other_generators or generator.is_async:
        return False
    parts = (element, *generator.ifs)
    assigns = any(contains(part, gast.NamedExpr) for part in parts)
    target_kinds = (gast.Name, gast.Tuple, gast.expr_context)
    has_plain_target = all(isinstance(part, target_kinds) for part in walk(generator.target))
    return assigns and has_plain_target and not any(contains(part, _NOT_LINEARISED) for part in parts)


def _replace_children(node: Any, replacements: dict[int, Any]) -> None:
    """Replace the children of a node, given by id."""
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            setattr(node, field, [replacements.get(id(item), item) for item in value])
        elif isinstance(value, gast.AST):
            setattr(node, field, replacements.get(id(value), value))
