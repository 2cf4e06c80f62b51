"""Arrays that are traced as memory, in the cache key: by how they lie there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import ArrayType, join
from autoconv.runtime.shape import TensorSpec


@dataclass(frozen=True, slots=True)
class ArrayKey:
    """An array that is traced as memory: how it lies there. `plain`: it is just that, and can be written to."""

    type: ArrayType
    plain: bool

    def joined(self, other: ArrayKey) -> ArrayKey | None:
        """A key that arrays of both fit; None where there is none."""
        mine, its = self.type, other.type
        if (mine.dtype, mine.rank, self.plain) != (its.dtype, its.rank, other.plain):
            return None
        return ArrayKey(cast(ArrayType, join(mine, its)), self.plain)

    def __str__(self) -> str:
        return f"{TensorSpec(self.type.shape, self.type.dtype)!r} in place"


def array_key(array: np.ndarray) -> ArrayKey:
    """How an array lies in memory; raises TypeError for elements that no tensor has."""
    dtype = as_dtype(array.dtype)
    plain = type(array) is np.ndarray and array.flags.aligned and array.flags.writeable and array.dtype.isnative
    plain = plain and (array.flags.forc or _lies_apart(array))
    return ArrayKey(ArrayType(dtype, array.shape, array.strides), plain and array.dtype.kind in "biufc")


def _lies_apart(array: np.ndarray) -> bool:
    """Whether no two elements share memory, as far as the strides say: where some do, NumPy reads what an operation in
    place needs before it writes."""
    room = array.itemsize
    for step, size in sorted((abs(step), size) for step, size in zip(array.strides, array.shape, strict=True)):
        if size > 1 and step < room:
            return False
        room += step * max(size - 1, 0)
    return True


def is_of_its_own(value: Any) -> bool:
    """Whether an array is of a class that says itself what operators and NumPy's functions do with it, as matrices
    and masked arrays do, or it or a scalar is a text of NumPy's, which no graph computes with; whether its bytes are in
    the other order, which some results keep; or whether it has its elements several times, so that a copy of it takes
    much more memory than it does."""
    kind = type(value)
    if kind is not np.ndarray and (isinstance(value, np.ndarray) or kind.__module__ != "numpy"):
        return True
    return value.dtype.kind in "SU" or not value.dtype.isnative or (value.nbytes > _MOST_COPIED and _repeats(value))


def _repeats(array: Any) -> bool:
    """Whether there are more elements than the memory that they span has room for."""
    return not array.flags.forc and array.nbytes > sum(
        abs(step) * (size - 1) for step, size in zip(array.strides, array.shape, strict=True)
    ) + array.itemsize


_MOST_COPIED = 1 << 20  # bytes of an array whose elements repeat


def kind_of(array: Any) -> str:
    """What an array of its own is called."""
    kind = type(array)
    if kind is np.ndarray and not array.dtype.isnative:
        return "ndarray whose bytes are in the other order"
    if kind is np.ndarray and array.dtype.kind not in "SU":
        return "ndarray whose elements repeat in memory"
    return kind.__name__ if kind is not np.ndarray else f"{kind.__name__} of {array.dtype}"


def overlap(arrays: Sequence[np.ndarray]) -> bool:
    """Whether some of the arrays may have elements in common."""
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
