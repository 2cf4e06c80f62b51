"""Cache keys of arrays traced as memory: their layout."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.types import ArrayType, join
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.support.shape import TensorSpec

NUMERIC_KINDS = "biufc"  # kinds of NumPy's dtypes of bools, integers, floats and complex numbers
_TEXT_KINDS = "SU"


@dataclass(frozen=True, slots=True)
class ArrayKey:
    """The layout of an array traced as memory.

    `is_behaved` is true for an aligned, writeable ndarray of numbers or bools in native byte order whose elements do
    not overlap.
    """

    type: ArrayType
    is_behaved: bool

    def join(self, other: ArrayKey) -> ArrayKey | None:
        """Return the least general key that accepts both arrays, or None if there is none."""
        own_type, other_type = self.type, other.type
        if (own_type.dtype, own_type.rank, self.is_behaved) != (other_type.dtype, other_type.rank, other.is_behaved):
            return None
        return ArrayKey(cast(ArrayType, join(own_type, other_type)), self.is_behaved)

    def __str__(self) -> str:
        return f"{TensorSpec(self.type.shape, self.type.dtype)!r} in place"


def make_array_key(array: np.ndarray) -> ArrayKey:
    """Return the layout of an array; raises TypeError for an element type that tensors lack."""
    dtype = as_dtype(array.dtype)
    is_behaved = type(array) is np.ndarray and array.flags.aligned and array.flags.writeable and array.dtype.isnative
    is_behaved = is_behaved and (array.flags.forc or _has_disjoint_elements(array))
    return ArrayKey(ArrayType(dtype, array.shape, array.strides), is_behaved and array.dtype.kind in NUMERIC_KINDS)


def _has_disjoint_elements(array: np.ndarray) -> bool:
    """Return whether the strides prove that no two elements overlap.

    Where they may overlap, NumPy buffers the operands of an in-place operation.
    """
    extent = array.itemsize  # bytes that the elements along the dimensions visited so far span
    for stride, size in sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape, strict=True)):
        if size > 1 and stride < extent:
            return False
        extent += stride * max(size - 1, 0)
    return True


def needs_numpy(value: Any) -> bool:
    """Return whether an array has to be handled by NumPy itself.

    These are arrays of classes with their own operators, such as matrices and masked arrays; text; arrays in
    non-native byte order, which some results keep; and large arrays with repeated elements, whose copy would take much
    more memory.
    """
    cls = type(value)  # NumPy's scalars, whose classes are in the module numpy, are handled as arrays
    if cls is not np.ndarray and (isinstance(value, np.ndarray) or cls.__module__ != "numpy"):
        return True
    if value.dtype.kind in _TEXT_KINDS or not value.dtype.isnative:
        return True
    return value.nbytes > _MAX_COPIED_BYTES and _has_repeated_memory(value)


def _has_repeated_memory(array: Any) -> bool:
    """Return whether the elements take more bytes than the memory that they span, so that some share it."""
    gaps = (abs(stride) * (size - 1) for stride, size in zip(array.strides, array.shape, strict=True))
    return not array.flags.forc and array.nbytes > sum(gaps) + array.itemsize


_MAX_COPIED_BYTES = 1 << 20  # bytes of the largest array with repeated elements that is copied


def describe_array(array: Any) -> str:
    """Return the name, for messages, of an array that NumPy itself handles."""
    cls = type(array)
    if cls is np.ndarray and not array.dtype.isnative:
        return "ndarray of the other byte order"
    if cls is np.ndarray and array.dtype.kind not in _TEXT_KINDS:
        return "ndarray whose elements overlap in memory"
    return cls.__name__ if cls is not np.ndarray else f"{cls.__name__} of {array.dtype}"


def may_overlap(arrays: Sequence[np.ndarray]) -> bool:
    """Return whether two of the arrays may overlap."""
    return any(np.may_share_memory(first, second) for first, second in itertools.combinations(arrays, 2))
