"""Cost model: estimated time of one element of an op, in units of 0.05 ns."""

from __future__ import annotations

from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.ops.elements.maths import is_elementary, is_vectorised

# Estimated costs, in units of about 0.05 ns: an element of arithmetic, of a vectorised elementary function, or of one
# that is called; a load or store of an element. Then the least work that is worth waking a thread, and that of a part.
_ARITHMETIC, _VECTORISED, _CALLED, MEMORY = 1, 6, 300, 1


def cost(node: Node) -> int:
    """Estimate the cost of one element of a node's result, in units of about 0.05 ns."""
    return cost_of(node.op.name, node.results[0].dtype)


def cost_of(name: str, dtype: DType) -> int:
    """Estimate the cost, as `cost`, of an op by its name."""
    if not is_elementary(name):
        return _ARITHMETIC
    return _VECTORISED if is_vectorised(name, dtype) else _CALLED
