"""Cost model: estimated time of one element of an op, in units of 0.05 ns."""

from __future__ import annotations

from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.ops.elements.maths import is_in_c_library, is_vectorised

# Times of an element in units of 0.05 ns: arithmetic, a vectorised elementary function, an elementary function that is
# called, and a load or store.
_ARITHMETIC_COST, _VECTORISED_COST, _CALL_COST, MEMORY_COST = 1, 6, 300, 1
MULTIPLICATIONS_PER_UNIT = 3  # multiplications of a matrix product in a unit of 0.05 ns


def cost(node: Node) -> int:
    """Estimate the cost of one element of a node's result."""
    return cost_of(node.op.name, node.results[0].dtype)


def cost_of(name: str, dtype: DType) -> int:
    """Estimate the cost of one element of an op's result, by the name of the op and the dtype of the result."""
    if not is_in_c_library(name):
        return _ARITHMETIC_COST
    return _VECTORISED_COST if is_vectorised(name, dtype) else _CALL_COST
