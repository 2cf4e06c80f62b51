"""Counts of integers in tensors and in their rows, as sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    rows, numbers, weight_values, height = _count_inputs(values, weights, by_row=axis == -1)
    result = _count_numbers(rows, numbers, weight_values, height, minlength, maxlength, binary_output)
    if weights is not None:
        return result
    is_int64 = hasattr(values, "dtype") and as_dtype(values.dtype) is int64
    return result.with_values(cast(result.values, int64 if is_int64 else int32))


def _count_inputs(values: Any, weights: Any, by_row: bool) -> tuple[Any, Tensor, Any, Any]:
    """Return (rows, numbers, weights, height) for the arguments of `bincount`.

    These are vectors of the row, the number and the weight of each value, and the number of rows. Rows and height are
    None if all values are one row; weights are None if there are none.
    """
    if isinstance(values, SparseTensor):
        rows = column(values.indices, 0) if by_row and static_rank(values) > 1 else None
        height = get_item(values.dense_shape, 0) if rows is not None else None
        weight_values = weights.values if isinstance(weights, SparseTensor) else weights
        return rows, cast(values.values, int64), weight_values, height
    rows, numbers, height = _split_rows(values, by_row)
    _, weight_values, _ = (None, None, None) if weights is None else _split_rows(weights, by_row)
    return rows, cast(numbers, int64), weight_values, height


_ROW_SPLITTER_BY_CLASS: dict[type, Callable[[Any], tuple[Any, Tensor, Any]]] = {}  # for composites with rows


def register_row_splitter(composite_class: type, split: Callable[[Any], tuple[Any, Tensor, Any]]) -> None:
    """Register the function that returns the result of `_split_rows(value, by_row=True)` for a composite class."""
    _ROW_SPLITTER_BY_CLASS[composite_class] = split


def _split_rows(value: Any, by_row: bool) -> tuple[Any, Tensor, Any]:
    """Return the row of each element, the elements, and the number of rows; unless `by_row`, (None, elements, None)."""
    for composite_class, split in _ROW_SPLITTER_BY_CLASS.items():
        if isinstance(value, composite_class):
            rows, numbers, height = split(value)
            return (rows, numbers, height) if by_row else (None, numbers, None)
    tensor = convert_to_tensor(value)
    flat_numbers = reshape(tensor, [-1])
    if not by_row or tensor.shape.rank == 1:
        return None, flat_numbers, None
    all_ones = apply("ones_like", cast(tensor, int64))
    row_ids = reshape(column(where(all_ones), 0), [-1])
    return row_ids, flat_numbers, get_item(apply("shape", tensor, dtype=int64), 0)


def _count_numbers(
    rows: Any, numbers: Tensor, weight_values: Any, height: Any, min_length: Any, max_length: Any, is_binary: bool
) -> SparseTensor:
    """Return the counts of numbers in each row, or in all; the first four parameters are from `_count_inputs`."""
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
    sizes = stack([width]) if rows is None else stack([cast(height, int64), width])
    count_positions = numbers if rows is None else cast(rows, int64) * width + numbers
    order = argsort(count_positions)
    distinct_positions, segments = unique(gather(count_positions, order), out_idx=int64)
    counts = unsorted_segment_sum(gather(weights, order), segments, row_count(distinct_positions))
    values = apply("ones_like", counts) if is_binary else counts
    return SparseTensor(coordinates(distinct_positions, sizes), values, sizes)
