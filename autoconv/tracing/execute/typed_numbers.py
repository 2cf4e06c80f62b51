"""Ops whose results are NumPy's numbers rather than Python's."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, TensorType

_MOVING_OPS = frozenset({"constant", "identity", "select", "array_load", "array_view", "array_new"})


def computes_typed_numbers(node: Node) -> bool:
    """Return whether a node computes NumPy's numbers, or stores elements with a conversion to or from floats.

    A node that only moves or compares numbers does not compute any.
    """
    if node.op.traits.stores_into is not None:
        dtypes = {value.dtype for value in node.inputs if isinstance(value.type, (ArrayType, TensorType))}
        return len(dtypes) > 1 and any(dtype.is_floating or dtype.is_complex for dtype in dtypes)
    if node.op.name in ("cast", "python_cast") and node.inputs[0].dtype is node.results[0].dtype:
        return False  # only the class of the number changes
    return not node.regions and node.op.name not in _MOVING_OPS and any(map(_is_typed, node.results))


def _is_typed(value: Value) -> bool:
    """Return whether the value has a dtype of its own, unlike Python's numbers; booleans do not count."""
    type_ = value.type
    return not (isinstance(type_, TensorType) and ((type_.weak and type_.shape == ()) or type_.dtype.is_bool))
