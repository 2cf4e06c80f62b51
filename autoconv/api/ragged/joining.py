"""Joins of ragged tensors, and changes of their dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.rows import as_ragged, gather_rows, unify_splits_dtypes
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, squeeze, stack, tile, transpose
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.static_values import static_value


def ragged_concat(values: Sequence[Any], axis: AxisLike) -> Any:
    """Concatenate tensors and ragged tensors along `axis`."""
    parts = [partitions.values_of(part) for part in values]
    if not any(isinstance(part, RaggedTensor) for part in parts):
        return concat(parts, axis)
    rank = next((part.shape.rank for part in parts if part.shape.rank is not None), None)
    positive_axis = static_int(axis, "axis")
    if positive_axis < 0 and rank is None:
        raise ValueError("a negative axis needs ragged tensors of known rank")
    positive_axis = positive_axis + rank if positive_axis < 0 else positive_axis  # type: ignore[operator]
    if rank is not None and not 0 <= positive_axis < rank:
        raise ValueError(f"axis {positive_axis} is out of range for {rank} dimensions")
    return parts[0] if len(parts) == 1 else _join_ragged(parts, positive_axis)


def _join_ragged(parts: Sequence[Any], axis: int) -> Any:
    if not any(isinstance(part, RaggedTensor) for part in parts):
        return concat(parts, axis)
    depth = max(part.ragged_rank for part in parts if isinstance(part, RaggedTensor))
    rows = unify_splits_dtypes(*(as_ragged(part, depth) for part in parts))
    depths = {part.ragged_rank for part in rows}
    if len(depths) > 1:
        raise ValueError("ragged tensors with different numbers of ragged dimensions cannot be joined")
    if axis > 1:
        for other in rows[1:]:
            partitions.require(partitions.same_splits(rows[0], other), "Inputs must have identical ragged splits")
        return RaggedTensor(_join_ragged([part.values for part in rows], axis - 1), rows[0].row_splits)
    if axis == 0:
        return _concat_rows(rows)
    all_rows = _concat_rows(rows)
    count, total = len(rows), partitions.row_count(rows[0])
    row_numbers = tensor_range(total * count)
    order = reshape(row_numbers, [count, -1])
    ordered = gather_rows(all_rows, reshape(transpose(order), [-1]))
    return RaggedTensor(ordered.values, get_item(ordered.row_splits, slice(None, None, count)))


def _concat_rows(rows: Sequence[RaggedTensor]) -> RaggedTensor:
    values = _join_ragged([part.values for part in rows], 0)
    splits, offset = [get_item(rows[0].row_splits, slice(0, 1))], None
    for part in rows:
        row_limits = partitions.limits(part) if offset is None else partitions.limits(part) + offset
        splits.append(row_limits)
        last = get_item(part.row_splits, -1)
        offset = last if offset is None else offset + last
    return RaggedTensor(values, concat(splits, 0))  # no uniform length, as in TensorFlow


def ragged_stack(values: Sequence[Any], axis: AxisLike = 0) -> Any:
    """Stack tensors and ragged tensors of one rank along a new dimension."""
    parts = [partitions.values_of(part) for part in values]
    rank = next((part.shape.rank for part in parts if part.shape.rank is not None), None)
    if rank is None:
        raise ValueError("ragged.stack needs a value of known rank")
    positive_axis = static_int(axis, "axis")
    positive_axis = positive_axis + rank + 1 if positive_axis < 0 else positive_axis
    if rank == 0:
        return stack(parts, positive_axis)
    if not 0 <= positive_axis <= rank:
        raise ValueError(f"axis {positive_axis} is out of range for {rank + 1} dimensions")
    if positive_axis == 0 and not any(isinstance(part, RaggedTensor) for part in parts):
        depth = rank
        return _join_ragged([RaggedTensor.from_tensor(expand_dims(part, 0), ragged_rank=depth) for part in parts], 0)
    if not any(isinstance(part, RaggedTensor) for part in parts) and positive_axis > 0:
        parts = [as_ragged(part, min(positive_axis, rank - 1)) if rank > 1 else part for part in parts]
        if rank == 1:
            return stack(parts, positive_axis)
    if positive_axis == 0:
        depth = max(part.ragged_rank for part in parts if isinstance(part, RaggedTensor))
        parts = [as_ragged(part, depth) for part in parts]
    joined = ragged_concat([ragged_expand_dims(part, positive_axis) for part in parts], positive_axis)
    # As in TensorFlow, a stack of rows has no uniform length.
    return RaggedTensor(joined.values, joined.row_splits) if positive_axis == 0 else joined


def ragged_expand_dims(value: RaggedLike, axis: AxisLike, name: str | None = None) -> Any:
    if not isinstance(value, RaggedTensor):
        return expand_dims(value, axis)
    positive_axis = static_int(axis, "axis")
    if positive_axis < 0:
        rank = value.shape.rank
        if rank is None:
            raise ValueError("a negative axis needs a ragged tensor of known rank")
        positive_axis += rank + 1
    if positive_axis == 0:
        static_count = value.shape[0]
        length = partitions.row_count(value) if static_count is None else static_count
        return RaggedTensor.from_uniform_row_length(value, length, nrows=1, validate=False)
    if positive_axis == 1:
        return RaggedTensor.from_uniform_row_length(value, 1, nrows=partitions.row_count(value), validate=False)
    return value.with_values(ragged_expand_dims(value.values, positive_axis - 1))


def ragged_squeeze(value: RaggedLike, axes: Sequence[int]) -> Any:
    """Remove dimensions of size 1."""
    result = value
    for axis in sorted(axes, reverse=True):
        result = _squeeze(result, axis)
    return result


def _squeeze(value: RaggedLike, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return squeeze(value, [axis])
    if axis == 0:
        return value.values
    if axis == 1:
        partitions.require_lengths(value, 1)
        return value.values
    return value.with_values(_squeeze(value.values, axis - 1))


def ragged_tile(value: RaggedTensor, multiples: TensorLike) -> Any:
    counts = static_value(multiples)
    if counts is None:
        raise TypeError("the multiples of a ragged tensor have to be known while tracing")
    return _tile(value, [int(count) for count in np.ravel(counts)])


def _tile(value: RaggedLike, counts: Sequence[int]) -> Any:
    if not isinstance(value, RaggedTensor):
        return tile(value, list(counts))
    inner = value.values
    if any(count != 1 for count in counts[2:]):
        value = value.with_values(_tile(inner, [1, *counts[2:]]))
    if counts[1] != 1:
        value = _join_ragged([value] * counts[1], 1) if counts[1] else _empty_rows(value)
    return _join_ragged([value] * counts[0], 0) if counts[0] > 1 else value if counts[0] else value[:0]


def _empty_rows(value: RaggedTensor) -> RaggedTensor:
    return value[:, :0]  # type: ignore[no-any-return]


def ragged_reverse(value: Any, axes: Sequence[int]) -> Any:
    from_end = slice(None, None, -1)
    result = value
    for axis in axes:
        result = result[(*[slice(None)] * axis, from_end)]
    return result


def ragged_split(value: RaggedTensor, sizes: Any, axis: AxisLike) -> list[Any]:
    """Return equal parts, or parts of these sizes, along the first dimension or a uniform one."""
    positive_axis = static_int(axis, "axis")
    positive_axis = positive_axis + (value.shape.rank or 0) if positive_axis < 0 else positive_axis
    length = value.shape[positive_axis]
    static_sizes = static_value(sizes)
    if static_sizes is None or (length is None and np.ndim(static_sizes) == 0):
        raise ValueError("ragged tensors are split along a dimension of known size")
    if np.ndim(static_sizes) == 0:
        if length % int(static_sizes):  # type: ignore[operator]
            raise ValueError(f"{length} rows cannot be split into {int(static_sizes)} equal parts")
        static_sizes = [length // int(static_sizes)] * int(static_sizes)  # type: ignore[operator]
    result, start = [], 0
    for size in np.ravel(static_sizes).tolist():
        result.append(value[(*[slice(None)] * positive_axis, slice(start, start + size))])
        start += size
    return result
