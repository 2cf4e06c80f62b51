"""Constant evaluation: values that are known while tracing."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def static_value(value: object) -> Any:
    """Return the value of a number, array, eager tensor, or symbolic tensor of static value; None if unknown.

    Lists and tuples of such values become arrays.
    """
    if isinstance(value, EagerTensor):
        return value.numpy()
    if isinstance(value, SymbolicTensor):
        return constant_of(value.value_in_graph)
    if isinstance(value, (list, tuple)):
        items = [static_value(item) for item in value]
        return None if any(item is None for item in items) else np.array(items)
    if isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return value
    return None


def constant_of(value: Any) -> Any:
    """Return the static array of a graph value: a constant, or a fully known shape; None if unknown."""
    node = value.node
    if node is None:
        return None
    if node.op.name == "constant":
        array = node.attributes["value"]
        return array[()] if array.ndim == 0 else array
    if node.op.name == "shape":
        shape = node.inputs[0].shape
        if shape is not None and all(isinstance(d, int) for d in shape):
            return np.array(shape, value.dtype.numpy)
    return None


def static_sizes(vector: object) -> tuple[int | None, ...] | None:
    """Return what is known of the sizes in a vector, None for the others; None where not even their number is known."""
    known = static_value(vector)
    if known is not None:
        return tuple(int(size) if size >= 0 else None for size in np.ravel(known))
    node = vector.value_in_graph.node if isinstance(vector, SymbolicTensor) else None
    if node is not None and node.op.name == "shape":
        shape = node.inputs[0].shape
        return None if shape is None else tuple(d if isinstance(d, int) else None for d in shape)
    if node is not None and node.op.name in ("cast", "identity"):
        return static_sizes(SymbolicTensor(node.inputs[0]))
    if node is not None and node.op.name in ("stack", "concat"):
        parts = [_sizes_in(SymbolicTensor(part), node.op.name) for part in node.inputs]
        return None if None in parts else tuple(size for part in parts for size in part)  # type: ignore[union-attr]
    length = vector.shape[0] if isinstance(vector, SymbolicTensor) and vector.shape else None
    return (None,) * length if isinstance(length, int) else None


def _sizes_in(part: SymbolicTensor, op: str) -> tuple[int | None, ...] | None:
    if op == "concat":
        return static_sizes(part)
    known = static_value(part)
    return (None if known is None or known < 0 else int(known),)
