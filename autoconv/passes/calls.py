"""Route calls, `__class__` of placeholders, and links to exceptions of the graph through operators.

def f(g, x, error):
    return g(x, *x), x.__class__, error.__cause__
# becomes
def f(g, x, error):
    return ag__.call(g)(x, *x), ag__.class_of(x), ag__.exception(error.__cause__)
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.class_statements import announcement
from autoconv.syntax import build

# Builtins recognised by name because they inspect the frame of their caller.
FRAME_CALLS = frozenset(
    {"super", "locals", "globals", "vars", "eval", "exec", "dir", "breakpoint", "__import__"}
)

# Builtins that list the names of their frame, where `ag__` must not appear.
_NAME_LISTING_BUILTINS = frozenset({"locals", "vars", "dir"})


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Calls(context).visit(tree)


class Calls(FunctionPass):
    """Route calls, and reads of `__class__`, `__cause__` and `__context__`, through operators."""

    def visit_Call(self, node: Any) -> Any:
        """Route the callee through `ag__.call`, unless it is called directly or reads its caller's frame."""
        function = node.func
        if build.is_operation(node, "exception"):
            return node
        self.visit_children(node)
        if isinstance(function, gast.Name) and function.id in FRAME_CALLS:
            lists_names = function.id in _NAME_LISTING_BUILTINS and not node.args and not node.keywords
            if lists_names and self.context.at_run_time:
                return build.wrap("users_names", node)
            if lists_names or function.id != "dir":  # `dir` of an argument is a call like any other
                return node
        if not _is_called_directly(function):
            node.func = build.wrap("call", node.func)
        return node

    def visit_Attribute(self, node: Any) -> Any:
        """Route a read of `__class__`, `__cause__` or `__context__` through an operator."""
        self.visit_children(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        if node.attr in ("__cause__", "__context__"):
            return build.place(build.operate("exception", node), node)
        return build.place(build.operate("class_of", node.value), node) if node.attr == "__class__" else node

    _after_announcement = False  # whether the previous statement is a call of `class_statement`

    def visit_Expr(self, node: Any) -> Any:
        self._after_announcement = build.is_operation(node.value, "class_statement")
        return self.visit_children(node)

    def visit_ClassDef(self, node: Any) -> Any:
        statement_before = announcement(node) if self.in_function and not self._after_announcement else None
        self._after_announcement = False
        class_statement = super().visit_ClassDef(node)
        return class_statement if statement_before is None else [build.place(statement_before, node), class_statement]

    def visit_FunctionDef(self, node: Any) -> Any:
        """Leave decorators, which are applied unconverted."""
        decorators = node.decorator_list
        node.decorator_list = []
        node = super().visit_FunctionDef(node)
        node.decorator_list = decorators
        return node

    visit_AsyncFunctionDef = visit_FunctionDef


def _is_called_directly(function: Any) -> bool:
    """Return whether a called expression is an operator, or `pdb.set_trace`, which stops in the frame that calls it."""
    if not isinstance(function, gast.Attribute) or not isinstance(function.value, gast.Name):
        return False
    return function.value.id == build.OPERATORS or (function.value.id, function.attr) == ("pdb", "set_trace")
