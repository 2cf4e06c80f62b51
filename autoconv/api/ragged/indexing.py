"""`x[…]` of ragged tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.ragged import partitions
from autoconv.api.ragged.rows import gather_rows, ranges, row
from autoconv.api.ragged.tensor import GET_ITEM, RaggedTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as counted
from autoconv.api.tensors.gather import where
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def ragged_get_item(rows: RaggedTensor, key: Any) -> Any:
    """Return rows[key]: numbers and slices of rows; only slices along inner ragged dimensions.

    Raises ValueError for a number in the place of a dimension whose rows differ in length.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(one, RaggedTensor) for one in keys):
        raise NotImplementedError("Advanced indexing with ragged tensors is not supported; see ragged.boolean_mask")
    return _item(rows, _without_ellipsis(rows, keys))


def _without_ellipsis(rows: RaggedTensor, keys: list[Any]) -> list[Any]:
    places = [place for place, one in enumerate(keys) if one is Ellipsis]
    if not places:
        return keys
    rank = rows.shape.rank
    if rank is None:
        raise ValueError("the rank of a ragged tensor has to be known for an index with ...")
    count = rank - sum(one is not None and one is not Ellipsis for one in keys)
    filled = [slice(None)] * count
    return keys[: places[0]] + filled + [one for one in keys[places[0] + 1 :] if one is not Ellipsis]


def _item(rows: Any, keys: Sequence[Any]) -> Any:
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _item(rows, rest)
        return RaggedTensor.from_uniform_row_length(inner, partitions.count_of(inner), nrows=1, validate=False)
    if isinstance(first, slice):
        return _inner(_slice(rows, first), rest)
    item = row(rows, _position(rows, first))
    return _item(item, rest)


def _position(rows: RaggedTensor, number: Any) -> Any:
    if not isinstance(number, (int, np.integer)) and not is_tensor(number):
        raise TypeError(f"a ragged tensor is indexed by integers and slices, found {number!r}")
    static_position, count = static_value(number), rows.shape[0]
    if static_position is not None and count is not None and not -count <= int(static_position) < count:
        raise IndexError(f"row {int(static_position)} is out of range for {count} rows")
    at = convert_to_tensor(number)
    total = partitions.row_count(rows, at.dtype)
    if static_position is not None:
        return at if int(static_position) >= 0 else at + total
    return where(at < 0, at + total, at)


def _slice(rows: RaggedTensor, key: slice) -> RaggedTensor:
    if key == slice(None):
        return rows
    if key.step in (None, 1):
        numbers = counted(partitions.row_count(rows))[key]
        ragged = gather_rows(rows, numbers)
        return ragged if rows._uniform is None else RaggedTensor(ragged.values, ragged.row_splits, rows._uniform)  # type: ignore[no-any-return]
    return gather_rows(rows, counted(partitions.row_count(rows))[key])  # type: ignore[no-any-return]


def _inner(rows: Any, keys: Sequence[Any]) -> Any:
    """Apply keys to the dimensions behind the first."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        return rows[(slice(None), *keys)]
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _inner(rows, rest)
        return RaggedTensor.from_uniform_row_length(inner, 1, validate=False)
    if isinstance(first, slice):
        return _with_inner(rows if first == slice(None) else _sliced_inside(rows, first), rest)
    if rows._uniform is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    at = partitions.starts(rows) + (first if not isinstance(first, int) or first >= 0 else first + rows._uniform)
    return _inner(gather_rows(rows.values, at), rest)


def _with_inner(rows: RaggedTensor, keys: Sequence[Any]) -> Any:
    return rows.with_values(_inner(rows.values, keys)) if keys else rows


def _sliced_inside(rows: RaggedTensor, key: slice) -> RaggedTensor:
    """Slice each row, as Python slices a list of its length."""
    step = 1 if key.step is None else static_value(key.step)
    if step is None or int(step) == 0:
        raise ValueError(f"the step of a slice of rows has to be a known number other than 0, found {key.step!r}")
    step = int(step)
    starts, lengths = partitions.starts(rows), partitions.lengths(rows)
    zero = convert_to_tensor(np.array(0, lengths.dtype.numpy))
    lowest, highest = (zero, lengths) if step > 0 else (zero - 1, lengths - 1)

    def bound(position: Any, default: Tensor) -> Tensor:
        if position is None:
            return default
        at = cast(convert_to_tensor(position), lengths.dtype)
        placed = where(at < 0, at + lengths, at + apply("zeros_like", lengths))
        return apply("minimum", apply("maximum", placed, lowest), highest)

    begin = bound(key.start, apply("zeros_like", lengths) if step > 0 else lengths - 1)
    end = bound(key.stop, lengths if step > 0 else apply("zeros_like", lengths) - 1)
    return ranges(rows.values, starts + begin, starts + end, step)


GET_ITEM.set(ragged_get_item)
