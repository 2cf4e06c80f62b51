"""Insert checks for raised exceptions before the exits of a try body.

    return f(x)
    # becomes
    return ag__.watched(mark, f(x))
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.syntax import build
from autoconv.syntax.tree import Transformer


class WatchedExits(Transformer):
    """Insert `watched` before the exits of a try body."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.in_loop = False

    def visit_For(self, node: Any) -> Any:
        """A break or continue of an inner loop does not leave the try."""
        before, self.in_loop = self.in_loop, True
        node.body = self.visit_list(node.body)
        self.in_loop = before
        node.orelse = self.visit_list(node.orelse)
        return node

    visit_While = visit_AsyncFor = visit_For

    def visit_Return(self, node: Any) -> Any:
        if node.value is None or isinstance(node.value, (gast.Constant, gast.Name)):
            return self._before(node)
        node.value = build.place(build.operate("watched", build.name(self.mark), node.value), node.value)
        return node

    def _before(self, node: Any) -> Any:
        return [build.place(gast.Expr(build.operate("watched", build.name(self.mark))), node), node]

    def visit_Yield(self, node: Any) -> Any:
        """Check before a yield, since the code after it may never run."""
        node.value = build.operate("watched", build.name(self.mark), self.generic(node).value or build.constant(None))
        return build.place(node, node)

    def visit_YieldFrom(self, node: Any) -> Any:
        node.value = build.operate("watching", build.name(self.mark), self.generic(node).value)
        return build.place(node, node)

    def visit_Break(self, node: Any) -> Any:
        return node if self.in_loop else self._before(node)

    visit_Continue = visit_Break

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef
