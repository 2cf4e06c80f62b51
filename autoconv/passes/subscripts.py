"""Route reads of items with a possible tensor as index through an operator.

def f(xs, i):
    return xs[i] + xs[0]
# becomes
def f(xs, i):
    return ag__.get_item(xs, i) + xs[0]
"""

from __future__ import annotations

from typing import Any

import gast

from autoconv.passes.base import Context, FunctionPass
from autoconv.passes.effects import index_expression
from autoconv.syntax import build
from autoconv.syntax.tree import walk

_GRIDS = frozenset({"mgrid", "ogrid", "r_", "c_"})


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Subscripts(context).visit(tree)


class Subscripts(FunctionPass):
    def visit_Subscript(self, node: Any) -> Any:
        self.visit_children(node)
        if not isinstance(node.ctx, gast.Load) or (is_static(node.slice) and not _is_grid(node.value)):
            return node
        return build.place(build.operate("get_item", node.value, index_expression(node.slice)), node)


def _is_grid(node: Any) -> bool:
    """Return whether subscripts of this object make new arrays: `np.mgrid`."""
    return (node.attr if isinstance(node, gast.Attribute) else getattr(node, "id", "")) in _GRIDS


def is_static(index: Any) -> bool:
    """Return whether an index is built from constants, without any possible tensor; starred items count as well."""
    other_nodes = [
        n for n in walk(index) if not isinstance(n, (gast.Slice, gast.Constant, gast.UnaryOp, gast.Tuple))
    ]
    return not other_nodes or any(isinstance(n, gast.Starred) for n in other_nodes)
