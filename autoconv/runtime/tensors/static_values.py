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
