"""NumPy's form of an index with known operands, and the errors of invalid ones, for tensors and as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError, OpError
from autoconv.graph.types import Dimension
from autoconv.ops.index_spec import INPUT, Spec, with_operands

Entry = tuple[str, tuple[Any, ...], tuple[Any, ...]]


def numpy_index(shape: tuple[int, ...], operands: tuple[Any, ...], spec: Spec) -> tuple[Any, ...]:
    """Return NumPy's index into an array of the shape.

    Raises IndexOutOfRangeError with the index that is out of range, and the size.
    """
    entries: list[Entry] = list(with_operands(spec, operands))
    index = tuple(_part(*entry) for entry in entries)
    try:
        _check(shape, entries, index)
    except OpError as error:
        error.plain = _said_by_numpy(shape, index)
        raise
    return index


def check_in_range(index: int, size: Dimension, axis: int) -> None:
    """Raise IndexOutOfRangeError for a position outside of a dimension of static size."""
    if isinstance(size, int) and not -size <= index < size:
        raise IndexOutOfRangeError(f"slice index {index} of dimension {axis} out of bounds: its size is {size}")


def _part(kind: str, static: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    if kind == "slice":
        values = iter(given)
        return slice(*(int(next(values)) if bound == INPUT else bound for bound in static))
    if kind == "int":
        return int(given[0]) if static[0] == INPUT else static[0]
    if kind in ("array", "mask"):
        return np.asarray(given[0])
    return Ellipsis if kind == "ellipsis" else None


def _check(shape: tuple[int, ...], entries: list[Entry], index: tuple[Any, ...]) -> None:
    sizes = [
        part.ndim if kind == "mask" else int(kind in ("int", "slice", "array"))
        for (kind, _, _), part in zip(entries, index, strict=True)
    ]
    covered = sum(sizes)
    if covered > len(shape):
        raise IndexOutOfRangeError(
            f"too many indices: the tensor has {len(shape)} dimensions, but {covered} were indexed"
        )
    axis = 0
    for (kind, _, _), part, count in zip(entries, index, sizes, strict=True):
        if kind == "slice" and part.step == 0:
            raise InvalidArgumentError("slice step cannot be zero")
        if kind == "int":
            check_in_range(part, shape[axis], axis)
        elif kind == "array":
            _check_array(part, shape[axis], axis)
        elif kind == "mask" and any(own not in (0, size) for own, size in zip(part.shape, shape[axis:], strict=False)):
            raise IndexOutOfRangeError(
                f"the boolean index of shape {list(part.shape)} does not match the indexed dimensions "
                f"{list(shape[axis : axis + count])}"
            )
        axis += len(shape) - covered if kind == "ellipsis" else count


def _check_array(array: np.ndarray, size: int, axis: int) -> None:
    outside = (array < -size) | (array >= size)
    if np.any(outside):
        worst = array[outside].flat[0]
        raise IndexOutOfRangeError(f"index {worst} is out of bounds for dimension {axis} of size {size}")


def _said_by_numpy(shape: tuple[int, ...], index: tuple[Any, ...]) -> Exception | None:
    """Return NumPy's error for the index, found on an array of the shape that takes no memory."""
    try:
        np.ndarray(shape, np.bool_, b"\0", 0, (0,) * len(shape))[index]
    except (IndexError, ValueError) as error:
        return error.with_traceback(None)
    return None


__all__ = ["check_in_range", "numpy_index"]
