"""Which ops give memory of their first input out again, as NumPy does, and which arrays leave a graph."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType

# In NumPy a view of the first input, or that input itself.
VIEWS = frozenset(
    {
        "identity", "get_item", "reshape", "transpose", "matrix_transpose", "expand_dims", "squeeze", "reverse",
        "split", "numpy_read_only",
    }
)  # fmt: skip

# Whose kernels may give memory of an input out, where there is nothing to do or nothing is known of the function.
PASSING = frozenset({
    "bitcast", "cast", "ceil", "check_numerics", "einsum", "ensure_same_shape", "ensure_shape", "floor", "gather_nd",
    "numpy_call", "py_call", "python_cast", "real", "reshape_like", "rint", "round", "split_like", "stop_gradient",
    "sum_to_shape_of", "trunc", "unpad", "unstack",
})  # fmt: skip


def leaving(graph: Graph) -> set[Value]:
    """The arrays that a program gets: outputs, parts of objects, and those whose memory a view that is one shares."""
    found = {value for value in graph.outputs if _is_array(value)}
    for node in reversed(graph.nodes):
        if node.op.name in VIEWS:
            shared = node.inputs[:1] if not found.isdisjoint(node.results) else ()
        else:
            shared = node.inputs if node.regions or node.op.name.startswith("object_") else ()
        found.update(filter(_is_array, shared))
    return found


def _is_array(value: Value) -> bool:
    return isinstance(value.type, TensorType) and not value.type.weak and value.type.shape != ()


__all__ = ["PASSING", "VIEWS", "leaving"]
