"""Lists, dicts and sets that a function makes go through an operator, so that a graph can come to hold them.

    def f(x):
        xs = [x]
        return {x: xs}
    # becomes
    def f(x):
        xs = ag__.new([x])
        return ag__.new_dict(x, xs)
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.syntax import build

_MADE = (gast.List, gast.ListComp)


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Displays(context).visit(tree)


class Displays(FunctionPass):
    def visit_List(self, node: Any) -> Any:
        self.generic(node)
        return build.wrapped("new", node) if isinstance(node.ctx, gast.Load) else node

    def visit_ListComp(self, node: Any) -> Any:
        self.generic(node)
        return build.wrapped("new", node)

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: Any) -> Any:
        """A key that only the running graph knows cannot be hashed now: the pairs become a dict of the graph."""
        self.generic(node)
        return build.wrapped("new", node)

    def visit_Set(self, node: Any) -> Any:
        self.generic(node)
        if not node.elts or all(isinstance(item, gast.Constant) for item in node.elts):
            return build.wrapped("new", node)
        return build.placed(build.operate("new_set", *node.elts), node)

    def visit_Dict(self, node: Any) -> Any:
        self.generic(node)
        if all(key is None or isinstance(key, gast.Constant) for key in node.keys) or None in node.keys:
            return build.wrapped("new", node)
        parts = [part for pair in zip(node.keys, node.values, strict=True) for part in pair]
        return build.placed(build.operate("new_dict", *parts), node)

    def visit_For(self, node: Any) -> Any:
        """What is only gone over, or looked in, nobody can change."""
        node.target = self.visit(node.target)
        node.iter = self._inside(node.iter)
        node.body = self.visit_list(node.body)
        node.orelse = self.visit_list(node.orelse)
        return node

    def visit_comprehension(self, node: Any) -> Any:
        node.iter = self._inside(node.iter)
        node.ifs = self.visit_list(node.ifs)
        return node

    def visit_Starred(self, node: Any) -> Any:
        node.value = self._inside(node.value)
        return node

    def visit_Assign(self, node: Any) -> Any:
        unpacks = all(isinstance(target, (gast.Tuple, gast.List)) for target in node.targets)
        node.targets = [self.visit(target) for target in node.targets]
        node.value = self._inside(node.value) if unpacks else self.visit(node.value)
        return node

    def visit_Call(self, node: Any) -> Any:
        if build.is_operation(node, "new"):
            node.args = [self.generic(node.args[0])]
            return node
        if build.is_operation(node, "iterate"):
            node.args = [self._inside(node.args[0])]
            return node
        if build.is_operation(node, "in_", "not_in"):
            node.args = [self.visit(node.args[0]), self._inside(node.args[1])]
            return node
        return self.generic(node)

    def _inside(self, node: Any) -> Any:
        """The node with what is inside of it rewritten, itself as it is where it is a display."""
        return self.generic(node) if isinstance(node, _MADE) else self.visit(node)
