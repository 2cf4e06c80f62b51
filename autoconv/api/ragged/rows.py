"""Selection of rows and of ranges of values, and the coordinates of the values of nested rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather
from autoconv.api.tensors.shaping import reshape, shape
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def gather_rows(params: RaggedLike, indices: RaggedLike) -> Any:
    """Return rows of a tensor or ragged tensor by their numbers, which may be ragged too."""
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather_rows(params, indices.values))
    row_numbers = convert_to_tensor(indices)
    if not isinstance(params, RaggedTensor):
        return gather(params, row_numbers)
    if row_numbers.shape.rank == 0:
        return get_row(params, row_numbers)
    if row_numbers.shape.rank != 1:
        rank = row_numbers.shape.rank
        if rank is None:
            raise ValueError("the rank of indices into a ragged tensor has to be known")
        rows = gather_rows(params, reshape(row_numbers, [-1]))
        sizes = shape(row_numbers, int64)
        for axis in range(rank - 1, 0, -1):
            static_size = row_numbers.shape[axis]
            rows = RaggedTensor.from_uniform_row_length(
                rows, sizes[axis] if static_size is None else static_size, validate=False
            )
        return rows
    begins, ends = gather(partitions.starts(params), row_numbers), gather(partitions.limits(params), row_numbers)
    return gather_ranges(params.values, begins, ends)


def get_row(params: RaggedTensor, row_number: Any) -> Any:
    """Return one row of a ragged tensor; `row_number` is 0 or more."""
    begin, end = gather(partitions.starts(params), row_number), gather(partitions.limits(params), row_number)
    return slice_rows(params.values, begin, end)


def slice_rows(values: Any, begin: Any, end: Any) -> Any:
    """Return the rows of a tensor, ragged or not, from `begin` up to `end`."""
    if isinstance(values, RaggedTensor):
        splits = values.row_splits[begin : end + 1]  # type: ignore[index]
        first, last = splits[0], splits[-1]
        return RaggedTensor(slice_rows(values.values, first, last), splits - first, values._uniform_row_length)
    return values[begin:end]


def gather_ranges(values: RaggedLike, begins: Tensor, ends: Tensor, step: int = 1) -> RaggedTensor:
    """Return a ragged tensor whose row i has the values from begins[i] up to ends[i], `step` apart."""
    dtype = begins.dtype
    zero = convert_to_tensor(np.array(0, dtype.numpy))
    extents = ends - begins if step > 0 else begins - ends
    step_size = abs(step)
    lengths = apply("maximum", (extents + (step_size - 1)) // step_size, zero)
    splits = partitions.splits_of_lengths(lengths)
    row_numbers = partitions.rowids_of_lengths(lengths)
    offsets = tensor_range(partitions.count_rows(row_numbers, dtype)) - gather(splits, row_numbers)
    return RaggedTensor(gather_rows(values, gather(begins, row_numbers) + offsets * step), splits)


def value_coordinates(rows: RaggedTensor) -> list[Tensor]:
    """Return for the first dimension and each ragged one a vector: the index of each flat value along it."""
    coordinates = [partitions.rowids(rows), partitions.positions_in_rows(rows)]
    values = rows.values
    while isinstance(values, RaggedTensor):
        row_numbers = partitions.rowids(values)
        coordinates = [gather(index, row_numbers) for index in coordinates] + [partitions.positions_in_rows(values)]
        values = values.values
    return coordinates


def unify_splits_dtypes(*values: RaggedLike) -> list[Any]:
    """Return the values; the row splits of ragged tensors among them are cast to int64 if their dtypes differ."""
    dtypes = {value.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}
    if len(dtypes) < 2:
        return list(values)
    return [value.with_row_splits_dtype(int64) if isinstance(value, RaggedTensor) else value for value in values]


def as_ragged(value: TensorLike, ragged_rank: int = 1) -> RaggedTensor:
    """Return a tensor of at least two dimensions as a ragged one; a ragged tensor is returned unchanged."""
    return value if isinstance(value, RaggedTensor) else RaggedTensor.from_tensor(value, ragged_rank=ragged_rank)
