"""Row partitions: splits, lengths, starts, limits and row ids, each computed from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.control.checks import Assert
from autoconv.api.ragged.annotations import HasRows
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as counted
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.gather import unsorted_segment_sum
from autoconv.api.tensors.maths import cumsum
from autoconv.api.tensors.reductions import reduce_all
from autoconv.api.tensors.shaping import concat, expand_dims, repeat, shape
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, int32, int64
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.type_spec import CompositeTensor
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def values_of(values: TensorLike | CompositeTensor) -> Any:
    """Return values as a tensor or a composite tensor."""
    return values if isinstance(values, CompositeTensor) else convert_to_tensor(values)


def integers(numbers: TensorLike) -> Tensor:
    """Return a row partition as a tensor: int32 if it is a tensor or array of that dtype, else int64."""
    own_dtype = getattr(numbers, "dtype", None)
    tensor = as_tensor(numbers)
    if tensor is None:
        if isinstance(numbers, np.ndarray):
            numbers = numbers.astype(np.int32 if numbers.dtype == np.int32 else np.int64)
        return convert_to_tensor(numbers, as_dtype(numbers.dtype) if hasattr(numbers, "dtype") else int64)
    return tensor if own_dtype is not None and as_dtype(own_dtype) in (int32, int64) else cast(tensor, int64)


def count_of(values: Any, dtype: DTypeLike = int64) -> Tensor:
    """Return the number of rows of values."""
    if hasattr(values, "row_splits"):
        return row_count(values, dtype)
    static_count = values.shape[0] if values.shape.rank else None
    if static_count is not None:
        return convert_to_tensor(np.array(static_count, as_dtype(dtype).numpy))
    return get_item(shape(values, dtype), 0)


def row_count(rows: HasRows, dtype: DTypeLike | None = None) -> Tensor:
    splits_dtype = as_dtype(dtype or rows.row_splits.dtype)
    split_count = rows.row_splits.shape[0]
    if split_count is not None:
        return convert_to_tensor(np.array(split_count - 1, splits_dtype.numpy))
    return get_item(shape(rows.row_splits, splits_dtype), 0) - 1


def starts(rows: HasRows) -> Tensor:
    return get_item(rows.row_splits, slice(None, -1))


def limits(rows: HasRows) -> Tensor:
    return get_item(rows.row_splits, slice(1, None))


def lengths(rows: HasRows) -> Tensor:
    return limits(rows) - starts(rows)


def rowids(rows: HasRows) -> Tensor:
    return rowids_of_lengths(lengths(rows))


def rowids_of_lengths(row_lengths: Tensor) -> Tensor:
    """Return the row id of each value."""
    count = count_of(row_lengths, row_lengths.dtype)
    return repeat(counted(count), row_lengths)


def positions_in_rows(rows: HasRows) -> Tensor:
    """Return for each value its position in its row."""
    from_start = apply("gather", starts(rows), rowids(rows), axis=0, batch_dims=0)
    return counted(count_of(rows.values, rows.row_splits.dtype)) - from_start


def splits_of_lengths(row_lengths: Tensor) -> Tensor:
    """Return the splits of rows of these lengths."""
    return concat([zeros([1], row_lengths.dtype), cumsum(row_lengths)], 0)


def splits_of_starts(values: Any, row_starts: Tensor) -> Tensor:
    return concat([row_starts, expand_dims(count_of(values, row_starts.dtype), 0)], 0)


def splits_of_limits(row_limits: Tensor) -> Tensor:
    return concat([zeros([1], row_limits.dtype), row_limits], 0)


def splits_of_rowids(values: Any, ids: Tensor, nrows: IntLike | None, validate: bool) -> Tensor:
    """Return the splits of rows that are given by the row id of each value."""
    if nrows is None:
        last = get_item(concat([convert_to_tensor(np.array([-1], ids.dtype.numpy)), ids], 0), -1)
        count: Any = last + 1
    else:
        constant = static_value(nrows)
        if constant is not None and int(constant) < 0:
            raise ValueError(f"Argument `nrows` must be at least 0, found {int(constant)}")
        count = cast(convert_to_tensor(nrows), ids.dtype) if constant is None else int(constant)
    if validate:
        message = "Arguments to from_value_rowids do not form a valid RaggedTensor"
        require(apply("equal", count_of(values, ids.dtype), count_of(ids, ids.dtype)), message)
        require(reduce_all(get_item(ids, slice(None, -1)) <= get_item(ids, slice(1, None))), message)
        require(reduce_all(apply("logical_and", ids >= 0, ids < count)), message)
    found = unsorted_segment_sum(apply("ones_like", ids), ids, count)
    return splits_of_lengths(found)


def splits_of_uniform(values: Any, length: IntLike, nrows: IntLike | None) -> tuple[Tensor, int | None]:
    """Return the splits of rows of one length, and the length if it is known."""
    constant = static_value(length)
    size = None if constant is None else int(constant)
    dtype = values.row_splits.dtype if hasattr(values, "row_splits") else int64
    each = cast(convert_to_tensor(length), dtype)
    if nrows is not None:
        count: Any = cast(convert_to_tensor(nrows), dtype)
    elif size == 0:
        count = convert_to_tensor(np.array(0, dtype.numpy))
    else:
        count = count_of(values, dtype) // each
    return counted(count + 1) * each, size


def checked_splits(values: Any, splits: Tensor, name: str, validate: bool) -> Tensor:
    """Check splits: they begin with 0, do not decrease, and end with the number of values.

    Raises ValueError for another rank than 1, InvalidArgumentError otherwise; for splits of a graph at run time.
    """
    splits.shape.with_rank(1)
    if not validate:
        return splits
    message = f"Arguments to from_{name} do not form a valid RaggedTensor"
    require(apply("equal", get_item(splits, 0), 0), f"{message}: the first split is not 0")
    rising = reduce_all(get_item(splits, slice(None, -1)) <= get_item(splits, slice(1, None)))
    require(rising, f"{message}: a row has a negative length")
    same = apply("equal", get_item(splits, -1), count_of(values, splits.dtype))
    require(same, f"{message}: the rows have another number of values than there are")
    return splits


def require(condition: Tensor, message: str) -> None:
    """Raise an error with that message unless the condition holds; at run time if it is known only then."""
    constant = static_value(condition)
    if constant is not None and bool(constant):
        return
    if current_region() is None or constant is None:
        Assert(condition, [message])
    else:
        raise ValueError(message)


def require_same(rows: HasRows, other: HasRows) -> None:
    """Check that two ragged tensors have the same rows, at every depth."""
    if rows.ragged_rank != other.ragged_rank:
        raise ValueError(f"ragged tensors of {rows.ragged_rank} and {other.ragged_rank} ragged dimensions do not fit")
    pairs = zip(rows.nested_row_splits, other.nested_row_splits, strict=True)
    for mine, its in pairs:
        if mine is not its:
            if None not in (mine.shape[0], its.shape[0]) and mine.shape[0] != its.shape[0]:
                raise InvalidArgumentError("Inputs must have identical ragged splits: the numbers of rows differ")
            require(reduce_all(apply("equal", mine, cast(its, mine.dtype))), "Inputs must have identical ragged splits")


def same_splits(rows: HasRows, other: HasRows) -> Tensor:
    """Return whether two ragged tensors have rows of the same lengths."""
    if None not in (rows.shape[0], other.shape[0]) and rows.shape[0] != other.shape[0]:
        raise InvalidArgumentError("Inputs must have identical ragged splits: the numbers of rows differ")
    return reduce_all(apply("equal", rows.row_splits, other.row_splits))


def require_lengths(rows: HasRows, length: int) -> None:
    """Check that all rows have this length."""
    if rows._uniform != length:
        require(reduce_all(apply("equal", lengths(rows), length)), f"the rows do not all have the length {length}")
