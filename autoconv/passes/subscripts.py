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

# NumPy's objects whose subscripts make new arrays.
_GRID_NAMES = frozenset({"mgrid", "ogrid", "r_", "c_"})


def transform(tree: gast.AST, context: Context) -> gast.AST:
    return Subscripts(context).visit(tree)


class Subscripts(FunctionPass):
    """Route reads of items with a possible tensor as index through an operator."""

    def visit_Subscript(self, node: Any) -> Any:
        self.visit_children(node)
        if not isinstance(node.ctx, gast.Load) or (is_static(node.slice) and not _is_grid(node.value)):
            return node
        return build.place(build.operate("get_item", node.value, index_expression(node.slice)), node)


def _is_grid(node: Any) -> bool:
    """Return whether an expression has the name of one of NumPy's objects for grids, as `np.mgrid`."""
    return (node.attr if isinstance(node, gast.Attribute) else getattr(node, "id", "")) in _GRID_NAMES


def is_static(index: Any) -> bool:
    """Return whether an index stays plain Python: it consists of constants, or contains a starred item."""
    other_nodes = [
        n for n in walk(index) if not isinstance(n, (gast.Slice, gast.Constant, gast.UnaryOp, gast.Tuple))
    ]
    return not other_nodes or any(isinstance(n, gast.Starred) for n in other_nodes)
