"""Counts of integers in tensors and in their rows, as sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.api.sparse.computing import segment_count
from autoconv.api.sparse.coordinates import (
    column,
    coordinates,
    row_count,
    static_rank,
    true_rows,
)
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones
from autoconv.api.tensors.gather import (
    gather,
    unsorted_segment_sum,
    where,
)
from autoconv.api.tensors.shaping import expand_dims, reshape, stack
from autoconv.api.tensors.sorting import argsort, unique
from autoconv.graph.dtype_sets import LARGE_INTEGERS
from autoconv.graph.dtypes import as_dtype, int32, int64
from autoconv.runtime.annotations import IntLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def bincount(
    values: Any, weights: Any = None, axis: int | None = 0, minlength: IntLike | None = None,
    maxlength: IntLike | None = None, binary_output: bool = False, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Return how often each integer occurs, as a sparse tensor: in all values (axis 0 or None) or in each row (-1).

    With `weights` it sums the weights of each integer; with `binary_output` it gives 1 for each that occurs. Numbers
    from `maxlength` on are left out; `minlength` is the least size of the result.

    >>> autoconv.sparse.to_dense(autoconv.sparse.bincount([[1, 1, 2], [0, 2, 2]], axis=-1)).numpy()
    array([[0, 2, 1],
           [1, 0, 2]], dtype=int32)
    """
    if axis not in (0, -1, None):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    check_dtype("bincount", LARGE_INTEGERS, values)
    if isinstance(weights, SparseTensor) and not isinstance(values, SparseTensor):
        raise TypeError(f"the weights are sparse, but not the values: {values!r}")
    elements = _elements_of(values, by_row=axis == -1)
    elements = elements._replace(values=cast(elements.values, int64))
    weight_values = None if weights is None else _elements_of(weights, by_row=False).values
    result = _count_numbers(elements, weight_values, minlength, maxlength, binary_output)
    if weights is not None:
        return result
    is_int64 = hasattr(values, "dtype") and as_dtype(values.dtype) is int64
    return result.with_values(cast(result.values, int64 if is_int64 else int32))


class RowElements(NamedTuple):
    """The elements of a tensor, the row of each, and the number of rows; the latter two are None for a single row."""

    values: Tensor
    row_ids: Tensor | None
    row_count: Tensor | None


# For each class of composites with rows, the function that returns the elements of an object by row.
_ROW_SPLITTER_BY_CLASS: dict[type, Callable[[Any], RowElements]] = {}


def register_row_splitter(composite_class: type, split: Callable[[Any], RowElements]) -> None:
    """Register the function that returns the elements of a composite object by row, for counts in its rows."""
    _ROW_SPLITTER_BY_CLASS[composite_class] = split


def _elements_of(value: Any, by_row: bool) -> RowElements:
    """Return the elements of a tensor, a sparse tensor or a composite; unless `by_row`, as a single row."""
    if isinstance(value, SparseTensor):
        if by_row and static_rank(value) > 1:
            return RowElements(value.values, column(value.indices, 0), get_item(value.dense_shape, 0))
        return RowElements(value.values, None, None)
    for composite_class, split in _ROW_SPLITTER_BY_CLASS.items():
        if isinstance(value, composite_class):
            elements = split(value)
            return elements if by_row else RowElements(elements.values, None, None)
    tensor = convert_to_tensor(value)
    flat_values = reshape(tensor, [-1])
    if not by_row or tensor.shape.rank == 1:
        return RowElements(flat_values, None, None)
    all_ones = apply("ones_like", cast(tensor, int64))
    row_ids = reshape(column(where(all_ones), 0), [-1])
    return RowElements(flat_values, row_ids, get_item(apply("shape", tensor, dtype=int64), 0))


def _count_numbers(
    elements: RowElements, weight_values: Any, min_length: Any, max_length: Any, is_binary: bool
) -> SparseTensor:
    """Return how often each number, or with weights how much of it, is in each row."""
    numbers, rows, height = elements
    width = segment_count(numbers)
    if min_length is not None:
        width = apply("maximum", width, cast(convert_to_tensor(min_length), int64))
    count = expand_dims(row_count(numbers), 0)
    weights = ones(count, int64) if weight_values is None else reshape(convert_to_tensor(weight_values), [-1])
    if max_length is not None:
        limit = cast(convert_to_tensor(max_length), int64)
        positions_below_limit = true_rows(numbers < limit)
        numbers, weights = gather(numbers, positions_below_limit), gather(weights, positions_below_limit)
        rows = None if rows is None else gather(rows, positions_below_limit)
        width = limit
    if rows is None or height is None:
        sizes, count_positions = stack([width]), numbers
    else:
        sizes, count_positions = stack([cast(height, int64), width]), cast(rows, int64) * width + numbers
    order = argsort(count_positions)
    distinct_positions, segments = unique(gather(count_positions, order), out_idx=int64)
    counts = unsorted_segment_sum(gather(weights, order), segments, row_count(distinct_positions))
    values = apply("ones_like", counts) if is_binary else counts
    return SparseTensor(coordinates(distinct_positions, sizes), values, sizes)
