"""NumPy's form of an index whose operands are known, and the errors of this package and of NumPy for invalid ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError, OpError
from autoconv.graph.types import Dimension
from autoconv.ops.index_spec import AlignedEntry, At, Entry, Gather, Mask, Rest, Slice, Spec, align, indexed_rank


def numpy_index(shape: tuple[int, ...], operands: tuple[Any, ...], spec: Spec) -> tuple[Any, ...]:
    """Return NumPy's index into an array of the shape.

    `spec` has the entries of the index; `operands` are the values of its dynamic entries, in order. Raises
    IndexOutOfRangeError, or InvalidArgumentError for a step of 0. The error's `plain` is the exception that NumPy
    raises for the index; None if NumPy raises none.
    """
    entries = align(spec, len(shape), operands)
    index = unchecked_numpy_index(spec, operands)
    try:
        _check_index(shape, entries, index)
    except OpError as error:
        error.plain = _numpy_error(shape, index)
        if error.plain is not None:
            error.plain.__context__ = None  # hide the error of this package that is being handled
        raise
    return index


def unchecked_numpy_index(spec: Spec, operands: Iterable[Any]) -> tuple[Any, ...]:
    """Return NumPy's form of an index, as `numpy_index` does, without checks."""
    remaining_operands = iter(operands)
    return tuple(_numpy_entry(entry, [next(remaining_operands) for _ in range(entry.operand_count)]) for entry in spec)


def check_in_range(index: int, size: Dimension, axis: int) -> None:
    """Raise IndexOutOfRangeError for a position outside of a dimension of static size."""
    if isinstance(size, int) and not -size <= index < size:
        raise IndexOutOfRangeError(f"slice index {index} of dimension {axis} out of bounds: its size is {size}")


def _numpy_entry(entry: Entry, operands: Iterable[Any]) -> Any:
    """Return NumPy's form of an entry."""
    match entry:
        case Slice():
            return slice(*entry.with_operands(map(int, operands)))
        case At():
            return entry.with_operands(map(int, operands))[0]
        case Gather() | Mask():
            return np.asarray(next(iter(operands)))
    return Ellipsis if isinstance(entry, Rest) else None


def _check_index(shape: tuple[int, ...], aligned_entries: list[AlignedEntry], index: tuple[Any, ...]) -> None:
    """Raise IndexOutOfRangeError or InvalidArgumentError for an index that NumPy refuses."""
    covered_count = indexed_rank(aligned_entries)
    if covered_count > len(shape):
        raise IndexOutOfRangeError(
            f"too many indices: the tensor has {len(shape)} dimensions, but {covered_count} were indexed"
        )
    for (entry, _, axis, count), item in zip(aligned_entries, index, strict=False):
        if isinstance(entry, Slice) and item.step == 0:
            raise InvalidArgumentError("slice step cannot be zero")
        if isinstance(entry, At):
            check_in_range(item, shape[axis], axis)
        elif isinstance(entry, Gather):
            _check_array(item, shape[axis], axis)
        elif isinstance(entry, Mask) and any(  # a dimension of size 0 in a mask fits any size
            mask_size not in (0, size) for mask_size, size in zip(item.shape, shape[axis:], strict=False)
        ):
            raise IndexOutOfRangeError(
                f"the boolean index of shape {list(item.shape)} does not match the indexed dimensions "
                f"{list(shape[axis : axis + count])}"
            )


def _check_array(array: np.ndarray, size: int, axis: int) -> None:
    """Raise IndexOutOfRangeError for an array with a position outside of a dimension."""
    is_outside = (array < -size) | (array >= size)
    if np.any(is_outside):
        invalid_index = array[is_outside].flat[0]
        raise IndexOutOfRangeError(f"index {invalid_index} is out of bounds for dimension {axis} of size {size}")


def _numpy_error(shape: tuple[int, ...], index: tuple[Any, ...]) -> Exception | None:
    """Return NumPy's error for the index, or None; the array on which it is tried has one byte for all elements."""
    try:
        np.ndarray(shape, np.bool_, b"\0", 0, (0,) * len(shape))[index]
    except (IndexError, ValueError) as error:
        return error.with_traceback(None)
    return None
