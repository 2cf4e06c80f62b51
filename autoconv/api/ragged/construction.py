"""Ragged tensors made from nested lists, ranges, masks and other tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.joining import ragged_stack
from autoconv.api.ragged.rows import gather_rows, value_coordinates
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.sparse.coordinates import true_rows
from autoconv.api.sparse.counting import RowElements
from autoconv.api.tensors.accepted_dtypes import as_indices, check_dtype, with_default_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, unsorted_segment_sum
from autoconv.api.tensors.indexing import boolean_mask as dense_mask
from autoconv.api.tensors.shaping import broadcast_to, reshape, shape
from autoconv.api.tensors.shaping import stack as dense_stack
from autoconv.api.tensors.sorting import argsort
from autoconv.graph.dtype_sets import LARGE_INTEGERS
from autoconv.graph.dtypes import as_dtype, int64
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.support.shape import as_shape
from autoconv.runtime.tensors.conversion import constant as dense_constant
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def constant(
    pylist: Any, dtype: DTypeLike | None = None, ragged_rank: int | None = None, inner_shape: ShapeLike | None = None,
    name: str | None = None, row_splits_dtype: DTypeLike = int64,
) -> Any:  # fmt: skip
    """Return a ragged tensor of nested lists, or a dense tensor of a list of numbers.

    `ragged_rank` is the number of ragged dimensions: by default all but the first and those of `inner_shape`. Raises
    ValueError if the numbers are not all nested equally deep.

    >>> autoconv.ragged.constant([[1, 2], [], [3]])
    <autoconv.RaggedTensor [[1, 2], [], [3]]>
    """
    inner_sizes = None if inner_shape is None else tuple(as_shape(inner_shape) or ())
    scalar_depth, list_depth = _scalar_depth(pylist), _depth(pylist)
    if scalar_depth is not None and list_depth > scalar_depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if inner_sizes is not None and list_depth < len(inner_sizes):
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with inner_shape={inner_sizes}")
    if ragged_rank is None:
        ragged_rank = max(0, list_depth - 1 - len(inner_sizes or ()))
    if ragged_rank == 0:
        return dense_constant(pylist, dtype, inner_sizes if not list_depth else None)  # a scalar fills `inner_shape`
    if scalar_depth is not None and ragged_rank >= list_depth:
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
    values, nested_splits = pylist, []
    for _ in range(ragged_rank):
        nested_splits.append(np.cumsum([0, *(len(row) for row in values)]))
        values = [item for row in values for item in row]
    result = _flat_values(values, dtype, inner_sizes, max(1, list_depth - ragged_rank))
    for splits in reversed(nested_splits):
        result = RaggedTensor(result, dense_constant(splits.astype(as_dtype(row_splits_dtype).numpy)))
    return result


def _flat_values(values: Any, dtype: DTypeLike | None, inner_sizes: tuple[Any, ...] | None, rank: int) -> Any:
    """Return the values of all rows as a tensor of `rank` dimensions, or of shape [len(values), *inner_sizes]."""
    if inner_sizes is None and rank == 1 and not values:
        return dense_constant(values, dtype)
    if inner_sizes is not None:
        array = np.asarray(dense_constant(values, dtype).numpy()).reshape(  # type: ignore[attr-defined]
            (len(values), *inner_sizes)
        )
        return dense_constant(array)
    if not values:
        return dense_constant(np.zeros((0,) * rank, as_dtype(dtype).numpy if dtype is not None else np.float32))
    return dense_constant(values, dtype)


def _is_list(value: Any) -> bool:
    """Return whether the value has items: a list, tuple or array."""
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _depth(value: Any) -> int:
    """Return the depth of nested lists."""
    return 1 + max(map(_depth, value), default=0) if _is_list(value) else 0


def _scalar_depth(value: Any) -> int | None:
    """Return the depth at which the scalars are; None where there are none."""
    if not _is_list(value):
        return 0
    depths = {depth for depth in map(_scalar_depth, value) if depth is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return 1 + depths.pop() if depths else None


def range_(
    starts: TensorLike, limits: TensorLike | None = None, deltas: TensorLike = 1, dtype: DTypeLike | None = None,
    name: str | None = None, row_splits_dtype: DTypeLike = int64,
) -> RaggedTensor:  # fmt: skip
    """Return a ragged tensor: row i has the numbers from starts[i] to limits[i], exclusive, deltas[i] apart.

    A scalar is used for all rows. A single argument is the limits; rows then start with 0.

    >>> autoconv.ragged.range([1, 2], [5, 4], 2)
    <autoconv.RaggedTensor [[1, 3], [2]]>
    """
    if limits is None:
        starts, limits = 0, starts
    bounds = [convert_to_tensor(bound, dtype) if dtype is not None else convert_to_tensor(bound)
             for bound in (starts, limits, deltas)]  # fmt: skip
    widest_dtype = max((bound.dtype for bound in bounds), key=lambda dtype: (dtype.is_floating, dtype.size))
    first, last, step = (cast(bound, widest_dtype) for bound in bounds)
    differences = last - first
    count = apply("ceil", cast(differences, _division_dtype(widest_dtype)) / cast(step, _division_dtype(widest_dtype)))
    lengths = apply("maximum", cast(count, row_splits_dtype), convert_to_tensor(0, as_dtype(row_splits_dtype)))
    if lengths.shape.rank == 0:
        lengths = broadcast_to(lengths, [1])  # scalars give one row
    splits = partitions.splits_of_lengths(lengths)
    row_ids = partitions.rowids_of_lengths(lengths)
    value_count = partitions.count_rows(row_ids, splits.dtype)
    offsets = cast(tensor_range(value_count) - gather(splits, row_ids), widest_dtype)
    row_starts, row_steps = (gather(broadcast_to(bound, shape(lengths)), row_ids) for bound in (first, step))
    return RaggedTensor(row_starts + offsets * row_steps, splits)


def _division_dtype(dtype: Any) -> Any:
    """Return the floating dtype in which numbers of a dtype are divided."""
    return dtype if dtype.is_floating else as_dtype("float64")


def stack(values: Sequence[Any], axis: int = 0, name: str | None = None) -> Any:
    """Stack tensors and ragged tensors of one rank along a new dimension `axis`.

    >>> autoconv.ragged.stack([autoconv.constant([1, 2]), autoconv.constant([3])])
    <autoconv.RaggedTensor [[1, 2], [3]]>
    """
    return ragged_stack(values if isinstance(values, (list, tuple)) else [values], axis)


def boolean_mask(data: RaggedLike, mask: RaggedLike, name: str | None = None) -> Any:
    """Return the values where `mask` is true, in the same rows.

    >>> autoconv.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <autoconv.RaggedTensor [[1, 3], [6]]>
    """
    flags = mask if isinstance(mask, RaggedTensor) else convert_to_tensor(mask)
    if not flags.dtype.is_bool:
        raise TypeError(f"a mask is of bools, found {flags.dtype.name}")
    if not isinstance(flags, RaggedTensor):
        rank = flags.shape.rank
        if rank is None or rank == 0:
            raise ValueError("mask cannot be scalar, and its rank has to be known")
        if rank == 1:
            positions = true_rows(flags)
            return gather_rows(data, positions) if isinstance(data, RaggedTensor) else dense_mask(data, flags)
        flags = RaggedTensor.from_tensor(flags, ragged_rank=rank - 1)
    rows = data if isinstance(data, RaggedTensor) else RaggedTensor.from_tensor(data, ragged_rank=flags.ragged_rank)
    return _mask(rows, flags)


def _mask(rows: RaggedTensor, mask: RaggedTensor) -> Any:
    """Return `rows` with only the values for which the mask is true; the mask has the same rows."""
    if isinstance(mask.values, RaggedTensor):
        return RaggedTensor(_mask(rows.values, mask.values), rows.row_splits)
    flags = mask.flat_values
    increments = cast(flags, rows.row_splits.dtype)
    row_lengths = unsorted_segment_sum(increments, partitions.rowids(mask), partitions.ragged_row_count(mask))
    return RaggedTensor(gather_rows(rows.values, true_rows(flags)), partitions.splits_of_lengths(row_lengths))


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return `op` applied to the flat values of the ragged tensors among the arguments, as a tensor with their rows.

    >>> autoconv.ragged.map_flat_values(autoconv.square, autoconv.ragged.constant([[1, 2], [3]]))
    <autoconv.RaggedTensor [[1, 4], [9]]>
    """
    ragged_arguments: list[RaggedTensor] = []

    def flatten_value(value: RaggedLike) -> Any:
        if isinstance(value, RaggedTensor):
            ragged_arguments.append(value)
            return value.flat_values
        return [flatten_value(argument) for argument in value] if isinstance(value, (list, tuple)) else value

    values = [flatten_value(argument) for argument in args]
    result = op(*values, **{key: flatten_value(argument) for key, argument in kwargs.items()})
    if not ragged_arguments:
        return result
    first_argument, *later_arguments = ragged_arguments
    for argument in later_arguments:
        partitions.require_same_rows(first_argument, argument)
    return first_argument.with_flat_values(result)


def stack_dynamic_partitions(
    data: RaggedLike, partitions_: TensorLike, num_partitions: IntLike, name: str | None = None
) -> RaggedTensor:
    """Group the rows of `data` by `partitions`: row i of the result has the rows whose partition is i.

    >>> autoconv.ragged.stack_dynamic_partitions([1, 2, 3], [1, 0, 1], 2)
    <autoconv.RaggedTensor [[2], [1, 3]]>
    """
    check_dtype("stack_dynamic_partitions", LARGE_INTEGERS, partitions_)
    partition_ids = convert_to_tensor(partitions_)
    if partition_ids.shape.rank != 1:  # a scalar, or partitions with several dimensions: flatten them first
        rows = partitions.values_of(data)
        if partition_ids.shape.rank == 0:
            rows, partition_ids = dense_stack([rows], 0), reshape(partition_ids, [1])
        else:
            rows = reshape(rows, [-1, *rows.shape[partition_ids.shape.rank :]])
            partition_ids = reshape(partition_ids, [-1])
        return stack_dynamic_partitions(rows, partition_ids, num_partitions)
    order = argsort(partition_ids, stable=True)
    values = gather_rows(partitions.values_of(data), order)
    ids = cast(gather(partition_ids, order), int64)
    return RaggedTensor.from_value_rowids(values, ids, nrows=num_partitions, validate=False)


def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """Return the row id of each value: the number of its row.

    >>> autoconv.ragged.row_splits_to_segment_ids([0, 2, 2, 3]).numpy()
    array([0, 0, 2])
    """
    splits = as_indices("row_splits_to_segment_ids", with_default_dtype(splits, int64))
    row_splits = partitions.partition_tensor(splits)
    if row_splits.shape == [0]:
        raise ValueError("Invalid row_splits: []")
    ids = partitions.rowids_of_lengths(row_splits[1:] - row_splits[:-1])
    return ids if out_type is None else cast(ids, out_type)


def segment_ids_to_row_splits(
    segment_ids: TensorLike, num_segments: IntLike | None = None, out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the splits of rows that are given by the row id of each value.

    >>> autoconv.ragged.segment_ids_to_row_splits([0, 0, 2], 4).numpy()
    array([0, 2, 2, 3, 3])
    """
    segment_ids = with_default_dtype(segment_ids, int64) if out_type is None else cast(segment_ids, out_type)
    segment_ids = segment_ids if out_type else as_indices("segment_ids_to_row_splits", segment_ids)
    ids = partitions.partition_tensor(segment_ids)
    return partitions.splits_of_rowids(values=ids, ids=ids, nrows=num_segments, validate=False)  # one id for each value


def row_elements(value: RaggedTensor) -> RowElements:
    """Return the flat values, the row of each in the first dimension, and the number of rows."""
    return RowElements(value.flat_values, value_coordinates(value)[0], partitions.ragged_row_count(value))
