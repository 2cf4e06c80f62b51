"""Turn generator functions into functions that pass each value to a consumer, as graph loops over generators need.

def count(n):
    for i in range(n):
        yield i
# becomes
def count(take_, n):
    for i in range(n):
        enough_ = take_(i)
        if enough_:
            return
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context
from autoconv.syntax import build
from autoconv.syntax.tree import Transformer, contains, walk, walk_scope

_YIELDS = (gast.Yield, gast.YieldFrom)
_ASYNCHRONOUS = (gast.AsyncWith, gast.AsyncFor)
# Restrictions that a yield in a try or with passes to the consumer, which is the body of a graph's loop. The body may
# not raise there, or may neither raise nor end the loop.
_MAY_NOT_RAISE, _MUST_CONTINUE = "may_not_raise", "must_continue"
# Exceptions by which a clause may catch GeneratorExit.
_CLOSING_EXCEPTIONS = ("BaseException", "BaseExceptionGroup", "GeneratorExit")
# Names whose use in a generator function rules the rewrite out.
_EXCLUDED_NAMES = ("StopIteration", "next", "locals", "eval", "exec")


def push_generator(definition: Any, context: Context) -> bool:
    """Turn a generator function into one that passes its values to a consumer, its new first argument.

    The consumer returns True to end the iteration; a yield inside a try or with also passes it a restriction.
    Returns False, without a change, where a value is sent into the generator, or where an expression evaluated before a
    yield would be evaluated after it.
    """
    if not _can_push(definition) or not _expand_super(definition):
        return False
    name = "take_"
    while any(isinstance(node, gast.Name) and node.id == name for node in walk(definition)):
        name += "_"
    definition.body = _ConsumerCalls(name, context).visit_list(definition.body)
    arguments = definition.args
    (arguments.posonlyargs if arguments.posonlyargs else arguments.args).insert(
        0, build.place(build.parameter(name), definition)
    )
    return True


def _expand_super(definition: Any) -> bool:
    """Rewrite `super()` to `super(__class__, self)`, since the consumer becomes the first argument.

    Returns False if there is no argument that it could refer to.
    """
    arguments = definition.args.posonlyargs + definition.args.args
    calls = [node for statement in definition.body for node in walk_scope(statement) if _is_super(node)]
    for node in calls if arguments else ():
        node.args = [build.place(build.name(name), node) for name in ("__class__", arguments[0].id)]
    return bool(arguments) or not calls


def _is_super(node: Any) -> bool:
    """Return whether a node is a call of `super` without arguments."""
    is_call = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "super"
    return is_call and not node.args and not node.keywords


def _can_push(definition: Any) -> bool:
    """Return whether a function is a generator function whose yields can all become calls of a consumer."""
    if not isinstance(definition, gast.FunctionDef):
        return False
    nodes = [node for statement in definition.body for node in walk_scope(statement)]
    if not any(isinstance(node, _YIELDS) for node in nodes):
        return False
    if any(isinstance(node, _ASYNCHRONOUS) and contains(node, _YIELDS) for node in nodes):
        return False
    calls = [node for node in nodes if isinstance(node, gast.Call) and len(node.args) == 2]
    # `next` with a default never raises StopIteration.
    next_with_default = {id(call.func) for call in calls if isinstance(call.func, gast.Name) and call.func.id == "next"}
    names = [node for node in nodes if isinstance(node, gast.Name)]
    if any(node.id in _EXCLUDED_NAMES and id(node) not in next_with_default for node in names):
        return False
    replaceable_yields = {id(first) for node in nodes for first in [_first_yield(node)] if first is not None}
    return all(id(node) in replaceable_yields for node in nodes if isinstance(node, _YIELDS))


def _first_yield(statement: Any) -> Any:
    """Return the yield that a statement evaluates before anything else; None if there is none."""
    if not isinstance(statement, (gast.Expr, gast.Assign)):
        return None
    if isinstance(statement, gast.Assign) and not all(isinstance(target, gast.Name) for target in statement.targets):
        return None
    value = statement.value
    while not isinstance(value, _YIELDS):
        if isinstance(value, gast.BoolOp):
            value = value.values[0]
        elif isinstance(value, (gast.BinOp, gast.Compare)):
            value = value.left
        else:
            return None
    if isinstance(value, gast.YieldFrom) and not (isinstance(statement, gast.Expr) and value is statement.value):
        return None  # the inner generator's return value is used
    return value if value.value is None or not contains(value.value, _YIELDS) else None


class _ConsumerCalls(Transformer):
    """Rewrite the yields of a generator function to calls of the consumer, its parameter `name`."""

    def __init__(self, name: str, context: Context) -> None:
        self.name = name
        self.context = context
        self.restriction = ""

    def visit_Expr(self, node: Any) -> Any:
        first_yield = _first_yield(node)
        if first_yield is None:
            return node
        call = self._consumer_call(first_yield, node)
        return call if first_yield is node.value else [*call, _replace_yield_by_none(node, first_yield)]

    visit_Assign = visit_Expr

    def visit_Return(self, node: Any) -> Any:
        """Drop the value of a return, which a loop over the generator ignores."""
        if node.value is None or isinstance(node.value, gast.Constant):
            node.value = None
            return node
        return [build.place(gast.Expr(node.value), node), build.place(gast.Return(None), node)]

    def visit_Try(self, node: Any) -> Any:
        yields_in_finally = any(contains(statement, _YIELDS) for statement in node.finalbody)
        catches_close = yields_in_finally or any(map(_may_catch_close, node.handlers))
        return self._visit_restricted(node, _MUST_CONTINUE if catches_close else self.restriction or _MAY_NOT_RAISE)

    visit_TryStar = visit_Try

    def visit_With(self, node: Any) -> Any:
        return self._visit_restricted(node, _MUST_CONTINUE)

    def _visit_restricted(self, node: Any, restriction: str) -> Any:
        """Rewrite the yields in a statement, which pass the restriction to the consumer."""
        outer_restriction, self.restriction = self.restriction, restriction
        result = self.visit_children(node)
        self.restriction = outer_restriction
        return result

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def _consumer_call(self, yield_node: Any, statement: Any) -> list[Any]:
        """Return the statements that take the place of a yield, the first thing that `statement` evaluates."""
        if isinstance(yield_node, gast.YieldFrom):
            item_name = self.context.namer.shared_name("item_")
            body = self._call_and_exit_check(build.name(item_name), statement)
            loop = gast.For(build.store(item_name), yield_node.value, body, [], None)
            result = [build.place(self.context.mark_generated(loop), statement)]
        else:
            result = self._call_and_exit_check(yield_node.value or build.constant(None), statement)
        if isinstance(statement, gast.Assign) and yield_node is statement.value:
            result.append(build.place(gast.Assign(statement.targets, build.constant(None), None), statement))
        return result

    def _call_and_exit_check(self, value: Any, statement: Any) -> list[Any]:
        """Return the assignment of a call's result, and an if that tests the result.

        They are two statements, since an `if take_(i):` alone in an else would be printed as an elif.
        """
        restriction = [build.constant(self.restriction)] if self.restriction else []
        call = build.call(build.name(self.name), value, *restriction)
        enough_name = self.context.namer.shared_name("enough_")
        exit_check = self.context.mark_generated(gast.If(build.name(enough_name), [gast.Return(None)], []))
        assignment = gast.Assign([build.store(enough_name)], call, None)
        return [build.place(assignment, statement), build.place(exit_check, statement)]


def _may_catch_close(handler: Any) -> bool:
    """Return whether an except clause may catch the exception that closes a generator."""
    caught_types = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
    return not all(isinstance(caught, gast.Name) and caught.id not in _CLOSING_EXCEPTIONS for caught in caught_types)


def _replace_yield_by_none(statement: Any, yield_node: Any) -> Any:
    """Replace the yield in a statement by None, the value of a yield without a `send`."""
    holder: Any = statement
    field: Any = "value"
    value = statement.value
    while value is not yield_node:
        if isinstance(value, gast.BoolOp):
            holder, field, value = value.values, 0, value.values[0]
        else:
            holder, field, value = value, "left", value.left
    none = build.place(build.constant(None), yield_node)
    if isinstance(holder, list):
        holder[field] = none
    else:
        setattr(holder, field, none)
    return statement
