"""Turn generator functions into functions that pass each value to a consumer, as graph loops over them need.

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
# Argument to the consumer from inside a try or with: the body of the graph's loop may not raise there, or may neither
# raise nor end the loop.
_MAY_NOT_RAISE, _MUST_CONTINUE = "tried", "kept"
# Exceptions by which a clause may catch GeneratorExit.
_EXITS = ("BaseException", "BaseExceptionGroup", "GeneratorExit")
# Names whose use in a generator function rules the rewrite out.
_FRAME = ("StopIteration", "next", "locals", "eval", "exec")


def push_generator(definition: Any, context: Context) -> bool:
    """Turn a generator function into one that passes its values to a consumer, its new first argument.

    The consumer returns True to end the iteration; a yield inside a try or with informs it of that statement.
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
    is_call = isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "super"
    return is_call and not node.args and not node.keywords


def _can_push(definition: Any) -> bool:
    if not isinstance(definition, gast.FunctionDef):
        return False
    nodes = [node for statement in definition.body for node in walk_scope(statement)]
    if not any(isinstance(node, _YIELDS) for node in nodes):
        return False
    if any(isinstance(node, _ASYNCHRONOUS) and contains(node, _YIELDS) for node in nodes):
        return False
    calls = [node for node in nodes if isinstance(node, gast.Call) and len(node.args) == 2]
    safe = {id(call.func) for call in calls if isinstance(call.func, gast.Name) and call.func.id == "next"}
    if any(isinstance(node, gast.Name) and node.id in _FRAME and id(node) not in safe for node in nodes):
        return False  # `next` with a default never raises StopIteration
    hosts = {id(first) for node in nodes for first in [_first_yield(node)] if first is not None}
    return all(id(node) in hosts for node in nodes if isinstance(node, _YIELDS))


def _first_yield(statement: Any) -> Any:
    """Return the yield that a statement evaluates before anything else; None if there is none."""
    if not isinstance(statement, (gast.Expr, gast.Assign)):
        return None
    if isinstance(statement, gast.Assign) and not all(isinstance(t, gast.Name) for t in statement.targets):
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
        self.around = ""

    def visit_Expr(self, node: Any) -> Any:
        first = _first_yield(node)
        if first is None:
            return node
        handed = self._consumer_call(first, node)
        return handed if first is node.value else [*handed, _without_yield(node, first)]

    visit_Assign = visit_Expr

    def visit_Return(self, node: Any) -> Any:
        """Drop the value of a return, which a loop over the generator does not see."""
        if node.value is None or isinstance(node.value, gast.Constant):
            node.value = None
            return node
        return [build.place(gast.Expr(node.value), node), build.place(gast.Return(None), node)]

    def visit_Try(self, node: Any) -> Any:
        gives_behind = any(contains(statement, _YIELDS) for statement in node.finalbody)
        takes_exits = gives_behind or any(map(_takes_every_exit, node.handlers))
        return self._inside(node, _MUST_CONTINUE if takes_exits else self.around or _MAY_NOT_RAISE)

    visit_TryStar = visit_Try

    def visit_With(self, node: Any) -> Any:
        return self._inside(node, _MUST_CONTINUE)

    def _inside(self, node: Any, around: str) -> Any:
        before, self.around = self.around, around
        result = self.generic(node)
        self.around = before
        return result

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def _consumer_call(self, expression: Any, statement: Any) -> list[Any]:
        if isinstance(expression, gast.YieldFrom):
            item = self.context.namer.free("item_")
            body = self._if_enough(build.name(item), statement)
            loop = gast.For(build.store(item), expression.value, body, [], None)
            handed = [build.place(self.context.mark(loop), statement)]
        else:
            handed = self._if_enough(expression.value or build.constant(None), statement)
        if isinstance(statement, gast.Assign) and expression is statement.value:
            handed.append(build.place(gast.Assign(statement.targets, build.constant(None), None), statement))
        return handed

    def _if_enough(self, value: Any, statement: Any) -> list[Any]:
        """Return a call and an if, since a single if behind an else would become an elif, whose test has no effects."""
        around = [build.constant(self.around)] if self.around else []
        call, enough = build.call(build.name(self.name), value, *around), self.context.namer.free("enough_")
        leave = self.context.mark(gast.If(build.name(enough), [gast.Return(None)], []))
        return [build.place(gast.Assign([build.store(enough)], call, None), statement), build.place(leave, statement)]


def _takes_every_exit(handler: Any) -> bool:
    """Return whether an except clause may catch the exception that closes a generator."""
    kinds = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
    return not all(isinstance(kind, gast.Name) and kind.id not in _EXITS for kind in kinds)


def _without_yield(statement: Any, expression: Any) -> Any:
    """Replace the yield in a statement by None, the value of a yield without a `send`."""
    holder: Any = statement
    field: Any = "value"
    value = statement.value
    while value is not expression:
        if isinstance(value, gast.BoolOp):
            holder, field, value = value.values, 0, value.values[0]
        else:
            holder, field, value = value, "left", value.left
    nothing = build.place(build.constant(None), expression)
    if isinstance(holder, list):
        holder[field] = nothing
    else:
        setattr(holder, field, nothing)
    return statement
