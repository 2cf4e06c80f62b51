"""Defer the operands of assert and raise statements, so that a running graph can evaluate them and fail.

def f(x):
    assert x > 0, x
    raise ValueError(f'bad {x}') from x
# becomes
def f(x):
    assert ag__.assertion(x > 0, lambda: x), x
    raise ag__.make_exception(lambda: ValueError(f'bad {x}')) from ag__.as_cause(x)
"""

from __future__ import annotations

import builtins
from typing import Any

import gast

from autoconv.analysis.pinned_constructs import deferral_obstacle
from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build
from autoconv.syntax.tree import copy_tree


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Assertions(context).visit(tree)


class Assertions(FunctionPass, statements_only=True):
    """Defer the operands of assert and raise statements."""

    def visit_Assert(self, node: Any) -> Any:
        """Route the test, with its message as a lambda, through `ag__.assertion`."""
        self.visit_children(node)
        if build.is_operation(node.test, "assertion"):
            return node
        if node.msg is None:
            node.test = build.place(build.operate("assertion", node.test), node.test)
        elif not deferral_obstacle(node.msg):
            message = self.context.mark_generated(build.thunk(copy_tree(node.msg)))
            node.test = build.place(build.operate("assertion", node.test, message), node.test)
        return node

    def visit_Raise(self, node: Any) -> Any:
        """Route the exception and its cause through operators, as lambdas where they may hold values of the graph."""
        self.visit_children(node)
        error, cause = node.exc, copy_tree(node.cause)
        if node.cause is not None and not isinstance(node.cause, gast.Constant):
            node.cause = build.wrap("as_cause", node.cause)
        if _may_depend_on_graph(error):
            # A value of the graph may choose among several exceptions, each of which then evaluates the cause.
            node.exc = build.place(build.operate("as_exception", error, *self._cause_thunks(cause)), error)
            return node
        if not isinstance(error, gast.Call) or build.is_operation(error, "make_exception", "as_exception"):
            return node
        if not error.args and not _may_depend_on_graph(error.func):
            return node
        if not deferral_obstacle(error):
            deferred_error = self.context.mark_generated(build.thunk(node.exc))
            cause_thunks = self._cause_thunks(cause) if _may_depend_on_graph(error.func) else []
            node.exc = build.place(build.operate("make_exception", deferred_error, *cause_thunks), node.exc)
        return node

    def _cause_thunks(self, cause: gast.expr | None) -> list[gast.expr]:
        return [] if cause is None or deferral_obstacle(cause) else [self.context.mark_generated(build.thunk(cause))]


def _may_depend_on_graph(error: gast.expr | None) -> bool:
    """Return whether a value of the graph may decide which exception is raised, or may be that exception."""
    if isinstance(error, gast.Name):
        return not _is_builtin_exception(error.id)
    return error is not None and not isinstance(error, gast.Call)


def _is_builtin_exception(name: str) -> bool:
    attribute = getattr(builtins, name, None)
    return isinstance(attribute, type) and issubclass(attribute, BaseException)
