"""Build nodes with open or derived dimensions, whose shapes no result rule can compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Value
from autoconv.graph.types import Dimension, TensorType
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import Slice

_FULL_SLICE = Slice()


def dimensions(x: Value) -> tuple[Dimension, ...]:
    """Return the shape of a value: a constant or a symbol for each dimension."""
    assert isinstance(x.type, TensorType) and x.shape is not None
    return x.shape


def reshape(b: GraphBuilder, x: Value, shape: Sequence[Dimension]) -> Value:
    """Reshape to a shape with the same number of elements."""
    return x if dimensions(x) == tuple(shape) else _add_node(b, "reshape", x, shape, {"shape": tuple(shape)})


def broadcast(b: GraphBuilder, x: Value, shape: Sequence[Dimension]) -> Value:
    """Broadcast to a shape."""
    return x if dimensions(x) == tuple(shape) else _add_node(b, "broadcast_to", x, shape, {"shape": tuple(shape)})


def slice_axis(b: GraphBuilder, x: Value, axis: int, start: Dimension, stop: Dimension, size: Dimension) -> Value:
    """Take the `size` elements from `start` up to `stop` along the axis."""
    shape = dimensions(x)
    spec = (*[_FULL_SLICE] * axis, Slice(start, stop, None))
    return _add_node(b, "get_item", x, (*shape[:axis], size, *shape[axis + 1 :]), {"spec": spec})


def make_zeros(b: GraphBuilder, x: Value, shape: Sequence[Dimension]) -> Value:
    """Make zeros of the dtype of `x`."""
    zero = b.constant(value=np.zeros((), x.dtype.numpy))
    return _add_node(b, "fill", zero, shape, {"shape": tuple(shape)})


def concatenate(b: GraphBuilder, arrays: Sequence[Value], axis: int, shape: Sequence[Dimension]) -> Value:
    """Concatenate along the axis to an array of that shape."""
    types = [arrays[0].type.with_shape(tuple(shape))]  # type: ignore[union-attr]
    return b.graph.add(OPS["concat"], tuple(arrays), {"axis": axis}, types=types, span=b.span).results[0]


def count_elements(b: GraphBuilder, x: Value, axes: Sequence[int], dtype: DType) -> Value:
    """Return the number of elements along the axes, as a number of that dtype."""
    sizes = dimensions(x)
    product = math.prod(size for axis in axes if isinstance(size := sizes[axis], int))
    total = b.constant(value=np.asarray(product, np.int64))
    for axis in axes:
        if not isinstance(sizes[axis], int):
            total = b.multiply(total, b.dimension(x, axis=axis, dtype=int64))
    return b.cast(total, dtype=dtype)  # type: ignore[no-any-return]


def _add_node(b: GraphBuilder, name: str, x: Value, shape: Sequence[Dimension], attributes: dict[str, Any]) -> Value:
    """Add a node whose result has the dtype of x and this shape."""
    assert isinstance(x.type, TensorType)
    types = [x.type.with_shape(tuple(shape))]
    return b.graph.add(OPS[name], (x,), attributes, types=types, span=b.span).results[0]
