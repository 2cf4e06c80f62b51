"""Indexing of ragged tensors: `x[…]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.rows import gather_ranges, gather_rows, get_row
from autoconv.api.ragged.tensor import GET_ITEM, RaggedTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import where
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def ragged_get_item(rows: RaggedTensor, key: Any) -> Any:
    """Return rows[key] for keys of row numbers and slices; inner ragged dimensions take slices only.

    Raises ValueError for a number as the index of a dimension whose rows differ in length.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(item, RaggedTensor) for item in keys):
        raise NotImplementedError("Advanced indexing with ragged tensors is not supported; see ragged.boolean_mask")
    return _apply_keys(rows, _expand_ellipsis(rows, keys))


def _expand_ellipsis(rows: RaggedTensor, keys: list[Any]) -> list[Any]:
    """Return the keys with full slices in place of `...`."""
    ellipses = [position for position, key in enumerate(keys) if key is Ellipsis]
    if not ellipses:
        return keys
    rank = rows.shape.rank
    if rank is None:
        raise ValueError("the rank of a ragged tensor has to be known for an index with ...")
    slice_count = rank - sum(key is not None and key is not Ellipsis for key in keys)
    full_slices = [slice(None)] * slice_count
    return keys[: ellipses[0]] + full_slices + [key for key in keys[ellipses[0] + 1 :] if key is not Ellipsis]


def _apply_keys(rows: Any, keys: Sequence[Any]) -> Any:
    """Return rows[keys], for keys without `...`, from the first dimension on."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[tuple(keys)]
    first_key, later_keys = keys[0], keys[1:]
    if first_key is None:
        selected_rows = _apply_keys(rows, later_keys)
        row_length = partitions.count_rows(selected_rows)
        return RaggedTensor.from_uniform_row_length(selected_rows, row_length, nrows=1, validate=False)
    if isinstance(first_key, slice):
        return _apply_inner_keys(_slice_rows(rows, first_key), later_keys)
    row = get_row(rows, _nonnegative_position(rows, first_key))
    return _apply_keys(row, later_keys)


def _nonnegative_position(rows: RaggedTensor, row_number: Any) -> Any:
    """Return a row number as a tensor, counted from the first row; raise IndexError if no row can have it."""
    if not isinstance(row_number, (int, np.integer)) and not is_tensor(row_number):
        raise TypeError(f"a ragged tensor is indexed by integers and slices, found {row_number!r}")
    static_position, count = static_value(row_number), rows.shape[0]
    if static_position is not None and count is not None and not -count <= int(static_position) < count:
        raise IndexError(f"row {int(static_position)} is out of range for {count} rows")
    position = convert_to_tensor(row_number)
    row_count = partitions.ragged_row_count(rows, position.dtype)
    if static_position is not None:
        return position if int(static_position) >= 0 else position + row_count
    return where(position < 0, position + row_count, position)


def _slice_rows(rows: RaggedTensor, key: slice) -> RaggedTensor:
    """Return the rows that a slice of the first dimension selects."""
    if key == slice(None):
        return rows
    selected_rows: RaggedTensor = gather_rows(rows, tensor_range(partitions.ragged_row_count(rows))[key])
    if key.step in (None, 1) and rows._uniform_row_length is not None:
        return RaggedTensor(selected_rows.values, selected_rows.row_splits, rows._uniform_row_length)
    return selected_rows


def _apply_inner_keys(rows: Any, keys: Sequence[Any]) -> Any:
    """Return rows[:, *keys]: the keys belong to the dimensions after the first."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[(slice(None), *keys)]
    first_key, later_keys = keys[0], keys[1:]
    if first_key is None:
        selected_rows = _apply_inner_keys(rows, later_keys)
        return RaggedTensor.from_uniform_row_length(selected_rows, 1, validate=False)
    if isinstance(first_key, slice):
        return _apply_keys_to_values(rows if first_key == slice(None) else _slice_each_row(rows, first_key), later_keys)
    if rows._uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    if isinstance(first_key, int) and first_key < 0:
        first_key += rows._uniform_row_length
    return _apply_inner_keys(gather_rows(rows.values, partitions.starts(rows) + first_key), later_keys)


def _apply_keys_to_values(rows: RaggedTensor, keys: Sequence[Any]) -> Any:
    """Return rows[:, :, *keys]: the keys belong to the dimensions after the second."""
    return rows.with_values(_apply_inner_keys(rows.values, keys)) if keys else rows


def _slice_each_row(rows: RaggedTensor, key: slice) -> RaggedTensor:
    """Return rows[:, key]: each row is sliced as Python slices a list."""
    step = 1 if key.step is None else static_value(key.step)
    if step is None or int(step) == 0:
        raise ValueError(f"the step of a slice of rows has to be a known number other than 0, found {key.step!r}")
    step = int(step)
    starts, lengths = partitions.starts(rows), partitions.lengths(rows)
    zero = convert_to_tensor(np.array(0, lengths.dtype.numpy))
    lower_limit, upper_limit = (zero, lengths) if step > 0 else (zero - 1, lengths - 1)

    def bound_in_rows(position: Any, open_bound: Tensor) -> Tensor:
        """Return a bound of the slice as a position in each row; `open_bound` if the slice lacks this bound."""
        if position is None:
            return open_bound
        bound = cast(convert_to_tensor(position), lengths.dtype)
        from_start = where(bound < 0, bound + lengths, bound + apply("zeros_like", lengths))
        return apply("minimum", apply("maximum", from_start, lower_limit), upper_limit)

    begin = bound_in_rows(key.start, apply("zeros_like", lengths) if step > 0 else lengths - 1)
    end = bound_in_rows(key.stop, lengths if step > 0 else apply("zeros_like", lengths) - 1)
    return gather_ranges(rows.values, starts + begin, starts + end, step)


GET_ITEM.set(ragged_get_item)
