"""Comprehensions and generator expressions iterate through an operator, and so do their conditions.

    def f(xs):
        return [x * 2 for x in xs if x > 0]
    # becomes
    def f(xs):
        return [x * 2 for x in ag__.iterate(xs) if ag__.test(x > 0)]
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build

_KINDS = {
    gast.ListComp: "list comprehension", gast.SetComp: "set comprehension",
    gast.DictComp: "dict comprehension", gast.GeneratorExp: "generator expression",
}  # fmt: skip


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Comprehensions(context).visit(tree)


class Comprehensions(FunctionPass):
    def visit_ListComp(self, node: Any) -> Any:
        self.generic(node)
        kind = _KINDS[type(node)]
        if any(generator.is_async for generator in node.generators):
            self.context.note(kind, node, self.function, "plain", False, "asynchronous")
            return node
        for generator in node.generators:
            generator.iter = build.wrapped("iterate", generator.iter)
            generator.ifs = [build.wrapped("test", test) for test in generator.ifs]
        conditional = any(generator.ifs for generator in node.generators)
        reason = "the number of elements would depend on a tensor" if conditional else ""
        self.context.note(kind, node, self.function, "statement", not conditional, reason)
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp
