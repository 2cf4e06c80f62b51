"""Ops whose results share memory with their first operand, as in NumPy, and arrays that leave a graph."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType

# Ops that in NumPy return a view of the first operand, or that operand itself.
VIEWS = frozenset(
    {
        "identity", "get_item", "reshape", "transpose", "matrix_transpose", "expand_dims", "squeeze", "reverse",
        "split", "numpy_read_only",
    }
)  # fmt: skip

# Ops whose kernels may return an operand's memory: trivial cases, and unknown functions.
PASSING = frozenset({
    "bitcast", "cast", "ceil", "check_numerics", "einsum", "ensure_same_shape", "ensure_shape", "floor", "gather_nd",
    "numpy_call", "py_call", "python_cast", "real", "reshape_like", "rint", "round", "split_like", "stop_gradient",
    "sum_to_shape_of", "trunc", "unpad", "unstack",
})  # fmt: skip


def leaving(graph: Graph) -> set[Value]:
    """Return the arrays visible to the program: outputs, parts of objects, and operands of views that are."""
    found = {value for value in graph.outputs if _is_array(value)}
    for node in reversed(graph.nodes):
        if node.op.name in VIEWS:
            shared = node.inputs[:1] if not found.isdisjoint(node.results) else ()
        else:
            shared = node.inputs if node.regions or node.op.name.startswith("object_") else ()
        found.update(filter(_is_array, shared))
    return found


def _is_array(value: Value) -> bool:
    return isinstance(value.type, TensorType) and not value.weak and value.shape != ()


__all__ = ["PASSING", "VIEWS", "leaving"]
