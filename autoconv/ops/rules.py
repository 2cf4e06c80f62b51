"""Type rules that ops share, and helpers of type rules: broadcasting, reductions, axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.graph.dtypes import bool_
from autoconv.graph.types import Dimension, Shape, TensorType


def same_type(x: TensorType, **_: Any) -> TensorType:
    """Return the input's type."""
    return x


def broadcast(*inputs: TensorType, **_: Any) -> TensorType:
    """Return the type of inputs of one dtype, broadcast to one shape; it is weak if all inputs are.

    Raises TypeError for inputs of several dtypes; callers put the name of the input before its text.
    """
    dtype = inputs[0].dtype
    for x in inputs[1:]:
        if x.dtype is not dtype:
            raise TypeError(f"has type {x.dtype.name} that does not match type {dtype.name}")
    return TensorType(dtype, broadcast_shapes(*(x.shape for x in inputs)), all(x.weak for x in inputs))


def broadcast_to_bool(*inputs: TensorType, **_: Any) -> TensorType:
    """Return the type of a comparison: bools in the shape to which the inputs broadcast."""
    return broadcast(*inputs).with_dtype(bool_, all(x.weak for x in inputs))


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Broadcast shapes as NumPy does, with static, unknown and symbolic dimensions; None if a rank is unknown.

    A symbol or an unknown dimension (None) combined with a number other than 1 gives the number: at run time, each
    size but the number and 1 fails. Combined with 1 it stays unchanged. Two different symbols give None, as does a
    symbol with None. Raises ValueError for two different numbers other than 1.
    """
    if any(shape is None for shape in shapes):
        return None
    known_shapes = [shape for shape in shapes if shape is not None]
    rank = max((len(shape) for shape in known_shapes), default=0)
    result: list[Dimension] = []
    for axis in range(-rank, 0):
        dimensions = [shape[axis] for shape in known_shapes if len(shape) >= -axis]
        result.append(_broadcast_dimension(dimensions, known_shapes))
    return tuple(result)


def is_known_to_broadcast(target: Sequence[Dimension], shape: Any) -> bool:
    """Return whether a value of the shape is statically known to broadcast into `target`."""
    if shape is None or len(shape) > len(target):
        return False
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return all(size == 1 or (size == target_size and size is not None) for size, target_size in pairs)


def _broadcast_dimension(dimensions: list[Dimension], shapes: list[tuple[Dimension, ...]]) -> Dimension:
    """Return the dimension to which `dimensions` of `shapes` broadcast; the error shows the shapes."""
    known_sizes = {dimension for dimension in dimensions if isinstance(dimension, int) and dimension != 1}
    open_sizes = {dimension for dimension in dimensions if not isinstance(dimension, int)}
    if len(known_sizes) > 1:
        shapes_text = " and ".join(str(list(shape)) for shape in shapes)
        raise ValueError(f"the shapes {shapes_text} do not broadcast: {sorted(known_sizes)} differ")
    if known_sizes:
        return known_sizes.pop()
    if not open_sizes:
        return 1
    return open_sizes.pop() if len(open_sizes) == 1 else None


def reduced_shape(shape: Shape, axis: int | tuple[int, ...] | None, keepdims: bool) -> Shape:
    """Return the shape after a reduction over `axis` (None: all axes); None if the result's rank is unknown."""
    if shape is None:
        return () if axis is None and not keepdims else None
    axes = normalised_axes(axis, len(shape))
    if keepdims:
        return tuple(1 if i in axes else dimension for i, dimension in enumerate(shape))
    return tuple(dimension for i, dimension in enumerate(shape) if i not in axes)


def normalised_axes(axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Convert axes to non-negative numbers; raises ValueError for one that is out of range or repeated."""
    if axis is None:
        return tuple(range(rank))
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    result = tuple(normalised_axis(i, rank) for i in axes)
    if len(set(result)) != len(result):
        raise ValueError(f"axes {axes} name a dimension twice")
    return result


def normalised_axis(axis: int, rank: int) -> int:
    """Return the axis counted from the start; raises ValueError if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for a tensor of {rank} dimensions")
    return axis % rank


def check_axis_of(op_name: str, x: TensorType, axis: int) -> None:
    """Raise ValueError if `x`, the operand of the op, is a scalar or has no such axis."""
    if x.shape == ():
        raise ValueError(f"{op_name} takes a tensor of at least one dimension, found a scalar")
    if x.shape is not None:
        normalised_axis(axis, len(x.shape))


def diagonal_length(rows: Dimension, columns: Dimension, offset: int) -> Dimension:
    """Return the length of the diagonal with the elements [i, i + offset]; None if it is unknown.

    An open size is known to be the length only of the main diagonal of a square matrix.
    """
    if isinstance(rows, int) and isinstance(columns, int):
        return max(min(rows - max(-offset, 0), columns - max(offset, 0)), 0)
    return rows if rows == columns and not offset else None


def element_count(shape: Shape) -> int | None:
    """Return the number of elements; None if the rank is unknown or a dimension is not static."""
    sizes = [dimension for dimension in shape or () if isinstance(dimension, int)]
    return None if shape is None or len(sizes) < len(shape) else math.prod(sizes)
