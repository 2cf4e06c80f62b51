"""Insert checks for raised exceptions before the exits of a try body.

    return f(x)
    # becomes
    return ag__.check_watched(try_, f(x))
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.syntax import build
from autoconv.syntax.tree import Transformer


class WatchedExits(Transformer):
    """Insert `check_watched` before the exits of a try body; `watch_name` has the result of `ag__.watch()`."""

    def __init__(self, watch_name: str) -> None:
        self.watch_name = watch_name
        self.in_loop = False

    def visit_For(self, node: Any) -> Any:
        """Leave the breaks and continues of an inner loop, which do not leave the try."""
        outer_in_loop, self.in_loop = self.in_loop, True
        node.body = self.visit_list(node.body)
        self.in_loop = outer_in_loop
        node.orelse = self.visit_list(node.orelse)
        return node

    visit_While = visit_AsyncFor = visit_For

    def visit_Return(self, node: Any) -> Any:
        if node.value is None or isinstance(node.value, (gast.Constant, gast.Name)):
            return self._insert_check(node)
        node.value = build.place(build.operate("check_watched", build.name(self.watch_name), node.value), node.value)
        return node

    def _insert_check(self, node: Any) -> Any:
        return [build.place(gast.Expr(build.operate("check_watched", build.name(self.watch_name))), node), node]

    def visit_Yield(self, node: Any) -> Any:
        """Check before a yield, since the code after it may never run."""
        value = self.visit_children(node).value or build.constant(None)
        node.value = build.place(build.operate("check_watched", build.name(self.watch_name), value), node)
        return node

    def visit_YieldFrom(self, node: Any) -> Any:
        value = self.visit_children(node).value
        node.value = build.place(build.operate("watch_iteration", build.name(self.watch_name), value), node)
        return node

    def visit_Break(self, node: Any) -> Any:
        return node if self.in_loop else self._insert_check(node)

    visit_Continue = visit_Break

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef
