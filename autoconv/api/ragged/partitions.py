"""Row partitions: conversions between splits, lengths, starts, limits and row ids.

Row i has the values from starts[i] up to limits[i]; the splits are all starts and the last limit. The row id of a value
is the number of its row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.control.checks import Assert
from autoconv.api.ragged.annotations import RaggedProtocol
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
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
    """Return the values as a tensor; a composite tensor, such as a ragged one, is returned unchanged."""
    return values if isinstance(values, CompositeTensor) else convert_to_tensor(values)


def partition_tensor(numbers: TensorLike) -> Tensor:
    """Return numbers that describe a row partition as a tensor: int32 if that is their dtype, else int64."""
    given_dtype = getattr(numbers, "dtype", None)
    tensor = as_tensor(numbers)
    if tensor is None:
        if isinstance(numbers, np.ndarray):
            numbers = numbers.astype(np.int32 if numbers.dtype == np.int32 else np.int64)
        return convert_to_tensor(numbers, as_dtype(numbers.dtype) if hasattr(numbers, "dtype") else int64)
    return tensor if given_dtype is not None and as_dtype(given_dtype) in (int32, int64) else cast(tensor, int64)


def count_rows(values: Any, dtype: DTypeLike = int64) -> Tensor:
    """Return the number of rows of a tensor or ragged tensor."""
    if hasattr(values, "row_splits"):
        return ragged_row_count(values, dtype)
    static_count = values.shape[0] if values.shape.rank else None
    if static_count is not None:
        return convert_to_tensor(np.array(static_count, as_dtype(dtype).numpy))
    return get_item(shape(values, dtype), 0)


def ragged_row_count(rows: RaggedProtocol, dtype: DTypeLike | None = None) -> Tensor:
    """Return the number of rows, by default in the dtype of the row splits."""
    splits_dtype = as_dtype(dtype or rows.row_splits.dtype)
    split_count = rows.row_splits.shape[0]
    if split_count is not None:
        return convert_to_tensor(np.array(split_count - 1, splits_dtype.numpy))
    return get_item(shape(rows.row_splits, splits_dtype), 0) - 1


def starts(rows: RaggedProtocol) -> Tensor:
    """Return the position of the first value of each row."""
    return get_item(rows.row_splits, slice(None, -1))


def limits(rows: RaggedProtocol) -> Tensor:
    """Return the position after the last value of each row."""
    return get_item(rows.row_splits, slice(1, None))


def lengths(rows: RaggedProtocol) -> Tensor:
    """Return the number of values of each row."""
    return limits(rows) - starts(rows)


def rowids(rows: RaggedProtocol) -> Tensor:
    """Return the row id of each value."""
    return rowids_of_lengths(lengths(rows))


def rowids_of_lengths(row_lengths: Tensor) -> Tensor:
    """Return the row id of each value, for rows of these lengths."""
    count = count_rows(row_lengths, row_lengths.dtype)
    return repeat(tensor_range(count), apply("maximum", row_lengths, 0))


def positions_in_rows(rows: RaggedProtocol) -> Tensor:
    """Return for each value its position in its row."""
    starts_of_values = apply("gather", starts(rows), rowids(rows), axis=0, batch_dims=0)
    return tensor_range(count_rows(rows.values, rows.row_splits.dtype)) - starts_of_values


def splits_of_lengths(row_lengths: Tensor) -> Tensor:
    """Return the splits of rows of these lengths."""
    return concat([zeros([1], row_lengths.dtype), cumsum(row_lengths)], 0)


def splits_of_starts(values: Any, row_starts: Tensor) -> Tensor:
    """Return the splits of rows of the values that begin at these positions."""
    return concat([row_starts, expand_dims(count_rows(values, row_starts.dtype), 0)], 0)


def splits_of_limits(row_limits: Tensor) -> Tensor:
    """Return the splits of rows that end before these positions."""
    return concat([zeros([1], row_limits.dtype), row_limits], 0)


def splits_of_rowids(values: Any, ids: Tensor, nrows: IntLike | None, validate: bool) -> Tensor:
    """Return the splits of the rows, where `ids[i]` is the row of value i; `nrows` is by default the last id plus 1."""
    if nrows is None:
        # Without ids, the -1 in front is the last one: there are 0 rows.
        last_id = get_item(concat([convert_to_tensor(np.array([-1], ids.dtype.numpy)), ids], 0), -1)
        count: Any = last_id + 1
    else:
        static_nrows = static_value(nrows)
        if static_nrows is not None and int(static_nrows) < 0:
            raise ValueError(f"Argument `nrows` must be at least 0, found {int(static_nrows)}")
        count = cast(convert_to_tensor(nrows), ids.dtype) if static_nrows is None else int(static_nrows)
    if validate:
        message = "Arguments to from_value_rowids do not form a valid RaggedTensor"
        require(apply("equal", count_rows(values, ids.dtype), count_rows(ids, ids.dtype)), message)
        require(reduce_all(get_item(ids, slice(None, -1)) <= get_item(ids, slice(1, None))), message)
        require(reduce_all(apply("logical_and", ids >= 0, ids < count)), message)
    # Ids beyond the last row become -1, which is in no row.
    ids_in_range = ids if validate or nrows is None else apply("select", ids < count, ids, -1)
    row_lengths = unsorted_segment_sum(apply("ones_like", ids), ids_in_range, count)
    return splits_of_lengths(row_lengths)


def splits_of_uniform(values: Any, length: IntLike, nrows: IntLike | None) -> tuple[Tensor, int | None]:
    """Return the splits of rows of one length, and the length if it is known."""
    known_length = static_value(length)
    static_length = None if known_length is None else int(known_length)
    dtype = values.row_splits.dtype if hasattr(values, "row_splits") else int64
    row_length = cast(convert_to_tensor(length), dtype)
    if nrows is not None:
        count: Any = cast(convert_to_tensor(nrows), dtype)
    elif static_length == 0:
        count = convert_to_tensor(np.array(0, dtype.numpy))
    else:
        count = count_rows(values, dtype) // row_length
    return tensor_range(count + 1) * row_length, static_length


def check_splits(values: Any, splits: Tensor, name: str, validate: bool) -> Tensor:
    """Return the splits after checking that they begin with 0, do not decrease, and end with the number of values.

    Raises ValueError for splits of a rank other than 1; for the errors of other faults see `require`.
    """
    splits.shape.with_rank(1)
    if not validate:
        return splits
    message = f"Arguments to from_{name} do not form a valid RaggedTensor"
    require(apply("equal", get_item(splits, 0), 0), f"{message}: the first split is not 0")
    is_ascending = reduce_all(get_item(splits, slice(None, -1)) <= get_item(splits, slice(1, None)))
    require(is_ascending, f"{message}: a row has a negative length")
    is_complete = apply("equal", get_item(splits, -1), count_rows(values, splits.dtype))
    require(is_complete, f"{message}: the last split is not the number of values")
    return splits


def require(condition: Tensor, message: str) -> None:
    """Raise an error with this message unless the condition holds.

    A condition that is known while tracing raises ValueError at once, others raise AssertionFailedError.
    """
    static_condition = static_value(condition)
    if static_condition is not None and bool(static_condition):
        return
    if current_region() is None or static_condition is None:
        Assert(condition, [message])
    else:
        raise ValueError(message)


def require_same_rows(first: RaggedProtocol, second: RaggedProtocol) -> None:
    """Raise an error, perhaps at run time, unless two ragged tensors have equal row splits at every depth."""
    if first.ragged_rank != second.ragged_rank:
        raise ValueError(f"ragged tensors of {first.ragged_rank} and {second.ragged_rank} ragged dimensions do not fit")
    for first_splits, second_splits in zip(first.nested_row_splits, second.nested_row_splits, strict=True):
        if first_splits is not second_splits:
            split_counts = first_splits.shape[0], second_splits.shape[0]
            if None not in split_counts and split_counts[0] != split_counts[1]:
                raise InvalidArgumentError("Inputs must have identical ragged splits: the numbers of rows differ")
            are_equal = reduce_all(apply("equal", first_splits, cast(second_splits, first_splits.dtype)))
            require(are_equal, "Inputs must have identical ragged splits")


def has_same_splits(first: RaggedProtocol, second: RaggedProtocol) -> Tensor:
    """Return whether two ragged tensors have the same splits; raises if their numbers of rows are known and differ."""
    if None not in (first.shape[0], second.shape[0]) and first.shape[0] != second.shape[0]:
        raise InvalidArgumentError("Inputs must have identical ragged splits: the numbers of rows differ")
    return reduce_all(apply("equal", first.row_splits, second.row_splits))


def require_lengths(rows: RaggedProtocol, length: int) -> None:
    """Raise an error, perhaps at run time, unless all rows have this length."""
    if rows._uniform_row_length != length:
        require(reduce_all(apply("equal", lengths(rows), length)), f"the rows do not all have the length {length}")
