"""Concatenation, stacking, splitting, tiling and reversal of ragged tensors, and dimensions of size 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.rows import as_ragged, gather_rows, unify_splits_dtypes
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, shape, squeeze, stack, tile, transpose
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.static_values import static_value


def ragged_concat(values: Sequence[Any], axis: AxisLike) -> Any:
    """Return the concatenation of tensors and ragged tensors along `axis`."""
    operands = [partitions.values_of(operand) for operand in values]
    if not any(isinstance(operand, RaggedTensor) for operand in operands):
        return concat(operands, axis)
    rank = next((operand.shape.rank for operand in operands if operand.shape.rank is not None), None)
    positive_axis = static_int(axis, "axis")
    if positive_axis < 0 and rank is None:
        raise ValueError("a negative axis needs ragged tensors of known rank")
    positive_axis = positive_axis + rank if positive_axis < 0 else positive_axis  # type: ignore[operator]
    if rank is not None and not 0 <= positive_axis < rank:
        raise ValueError(f"axis {positive_axis} is out of range for {rank} dimensions")
    return operands[0] if len(operands) == 1 else _join_ragged(operands, positive_axis)


def _join_ragged(operands: Sequence[Any], axis: int) -> Any:
    """Return the concatenation of operands of one rank along an axis from 0 on."""
    if not any(isinstance(operand, RaggedTensor) for operand in operands):
        return concat(operands, axis)
    depth = max(operand.ragged_rank for operand in operands if isinstance(operand, RaggedTensor))
    ragged_operands = unify_splits_dtypes(*(as_ragged(operand, depth) for operand in operands))
    depths = {operand.ragged_rank for operand in ragged_operands}
    if len(depths) > 1:
        raise ValueError("ragged tensors with different numbers of ragged dimensions cannot be joined")
    if axis > 1:
        first_operand, *later_operands = ragged_operands
        for operand in later_operands:
            have_same_splits = partitions.has_same_splits(first_operand, operand)
            partitions.require(have_same_splits, "Inputs must have identical ragged splits")
        joined_values = _join_ragged([operand.values for operand in ragged_operands], axis - 1)
        return RaggedTensor(joined_values, first_operand.row_splits)
    if axis == 0:
        return _concat_rows(ragged_operands)
    # Along axis 1: interleave the rows of the operands, and merge each group of one row per operand into one row.
    count = len(ragged_operands)
    row_numbers = reshape(tensor_range(partitions.ragged_row_count(ragged_operands[0]) * count), [count, -1])
    interleaved_rows = gather_rows(_concat_rows(ragged_operands), reshape(transpose(row_numbers), [-1]))
    return RaggedTensor(interleaved_rows.values, get_item(interleaved_rows.row_splits, slice(None, None, count)))


def _concat_rows(ragged_operands: Sequence[RaggedTensor]) -> RaggedTensor:
    """Return all rows of the operands, one operand after the other."""
    values = _join_ragged([operand.values for operand in ragged_operands], 0)
    splits: list[Any] = [get_item(ragged_operands[0].row_splits, slice(0, 1))]
    offset: Any = None  # the number of values before `operand`
    for operand in ragged_operands:
        row_limits = partitions.limits(operand) if offset is None else partitions.limits(operand) + offset
        splits.append(row_limits)
        value_count = get_item(operand.row_splits, -1)
        offset = value_count if offset is None else offset + value_count
    return RaggedTensor(values, concat(splits, 0))  # no uniform length, as in TensorFlow


def ragged_stack(values: Sequence[Any], axis: AxisLike = 0) -> Any:
    """Return tensors and ragged tensors of one rank, stacked along a new dimension."""
    operands = [partitions.values_of(operand) for operand in values]
    rank = next((operand.shape.rank for operand in operands if operand.shape.rank is not None), None)
    if rank is None:
        raise ValueError("ragged.stack needs a value of known rank")
    positive_axis = static_int(axis, "axis")
    positive_axis = positive_axis + rank + 1 if positive_axis < 0 else positive_axis
    if rank == 0:
        return stack(operands, positive_axis)
    if rank == 1 and positive_axis == 0:  # splits of vectors are int32, the dtype of their sizes
        return RaggedTensor.from_row_lengths(concat(operands, 0), concat([shape(x) for x in operands], 0))
    if not any(isinstance(operand, RaggedTensor) for operand in operands) and positive_axis in (rank - 1, rank):
        return stack(operands, positive_axis)
    if not 0 <= positive_axis <= rank:
        raise ValueError(f"axis {positive_axis} is out of range for {rank + 1} dimensions")
    depth = max([1, *(operand.ragged_rank for operand in operands if isinstance(operand, RaggedTensor))])
    operands = [as_ragged(operand, depth) for operand in operands]
    result = ragged_concat([ragged_expand_dims(operand, positive_axis) for operand in operands], positive_axis)
    # As in TensorFlow, a stack of rows has no uniform length.
    return RaggedTensor(result.values, result.row_splits) if positive_axis == 0 else result


def ragged_expand_dims(value: RaggedLike, axis: AxisLike, name: str | None = None) -> Any:
    """Return a tensor, ragged or not, with a new dimension of size 1."""
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
        length = partitions.ragged_row_count(value) if static_count is None else static_count
        return RaggedTensor.from_uniform_row_length(value, length, nrows=1, validate=False)
    if positive_axis == 1:
        return RaggedTensor.from_uniform_row_length(value, 1, nrows=partitions.ragged_row_count(value), validate=False)
    return value.with_values(ragged_expand_dims(value.values, positive_axis - 1))


def ragged_squeeze(value: RaggedLike, axes: Sequence[int]) -> Any:
    """Return the tensor, ragged or not, without the dimensions `axes`, which have the size 1."""
    for axis in sorted(axes, reverse=True):
        value = _squeeze(value, axis)
    return value


def _squeeze(value: RaggedLike, axis: int) -> Any:
    """Return the tensor without one dimension of size 1."""
    if not isinstance(value, RaggedTensor):
        return squeeze(value, [axis])
    if axis == 0:
        return value.values
    if axis == 1:
        partitions.require_lengths(value, 1)
        return value.values
    return value.with_values(_squeeze(value.values, axis - 1))


def ragged_tile(value: RaggedTensor, multiples: TensorLike) -> Any:
    """Return the ragged tensor repeated `multiples[i]` times along each dimension i.

    Raises TypeError if `multiples` are not known while tracing.
    """
    known_multiples = static_value(multiples)
    if known_multiples is None:
        raise TypeError("the multiples of a ragged tensor have to be known while tracing")
    return _tile(value, [int(number) for number in np.ravel(known_multiples)])


def _tile(value: RaggedLike, counts: Sequence[int]) -> Any:
    """Return the tensor, ragged or not, repeated `counts[i]` times along each dimension i."""
    if not isinstance(value, RaggedTensor):
        return tile(value, list(counts))
    first_count, second_count, *inner_counts = counts
    if any(count != 1 for count in inner_counts):  # of the values, the first dimension is all rows joined
        value = value.with_values(_tile(value.values, [1, *inner_counts]))
    if second_count != 1:
        value = _join_ragged([value] * second_count, 1) if second_count else value[:, :0]
    if first_count == 0:
        return value[:0]  # type: ignore[index]
    return _join_ragged([value] * first_count, 0) if first_count > 1 else value


def ragged_reverse(value: Any, axes: Sequence[int]) -> Any:
    """Return the ragged tensor in reverse order along these axes."""
    for axis in axes:
        value = value[(*[slice(None)] * axis, slice(None, None, -1))]
    return value


def ragged_split(value: RaggedTensor, count_or_sizes: Any, axis: AxisLike) -> list[Any]:
    """Return the parts into which a dimension, the first or a uniform one, is split.

    `count_or_sizes` is the number of equal parts, or the size of each.
    """
    positive_axis = static_int(axis, "axis")
    positive_axis = positive_axis + (value.shape.rank or 0) if positive_axis < 0 else positive_axis
    length = value.shape[positive_axis]
    known_sizes = static_value(count_or_sizes)
    if known_sizes is None or (length is None and np.ndim(known_sizes) == 0):
        raise ValueError("ragged tensors are split along a dimension of known size")
    if np.ndim(known_sizes) == 0:
        if length % int(known_sizes):  # type: ignore[operator]
            raise ValueError(f"{length} rows cannot be split into {int(known_sizes)} equal parts")
        known_sizes = [length // int(known_sizes)] * int(known_sizes)  # type: ignore[operator]
    parts, start = [], 0
    for size in np.ravel(known_sizes).tolist():
        parts.append(value[(*[slice(None)] * positive_axis, slice(start, start + size))])
        start += size
    return parts
