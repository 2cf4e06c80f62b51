"""Defer the operands of assert and raise statements, so that a running graph can evaluate them and fail.

def f(x):
    assert x > 0, x
    raise ValueError(f'bad {x}') from x
# becomes
def f(x):
    assert ag__.assertion(x > 0, lambda: x), x
    raise ag__.raising(lambda: ValueError(f'bad {x}')) from ag__.as_exception(x)
"""

from __future__ import annotations

import builtins
import copy
from typing import Any

import gast

from autoconv.analysis.immovable import cannot_be_deferred
from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Assertions(context).visit(tree)


class Assertions(FunctionPass, statements_only=True):
    def visit_Assert(self, node: Any) -> Any:
        self.generic(node)
        if build.is_operation(node.test, "assertion"):
            return node
        if node.msg is None:
            node.test = build.placed(build.operate("assertion", node.test), node.test)
        elif not cannot_be_deferred(node.msg):
            message = self.context.mark(build.thunk(copy.deepcopy(node.msg)))
            node.test = build.placed(build.operate("assertion", node.test, message), node.test)
        return node

    def visit_Raise(self, node: Any) -> Any:
        self.generic(node)
        error = node.exc
        if node.cause is not None and not isinstance(node.cause, gast.Constant):
            node.cause = build.wrapped("as_exception", node.cause)
        if isinstance(error, gast.Name) and not _is_builtin_exception(error.id):
            node.exc = build.placed(build.operate("as_exception", error), error)
            return node
        if not isinstance(error, gast.Call) or not error.args or build.is_operation(error, "raising", "as_exception"):
            return node
        if not cannot_be_deferred(error):
            deferred = self.context.mark(build.thunk(node.exc))
            node.exc = build.placed(build.operate("raising", deferred), node.exc)
        return node


def _is_builtin_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)
