"""Checks and conversions of the arguments of arrays' methods; the parameter `name` is the method, for errors."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, as_dtype, bool_, float64, int64
from autoconv.ops.program_errors import errors_of_program
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.recording.numpy_protocol import with_named_out
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def refuse_method(name: str, reason: str) -> NoReturn:
    """Raise StagingError for a method that a graph does not support."""
    raise StagingError(f"the method {name!r} of an array {reason}", current_place())


def refuse_options(name: str, **options: Any) -> None:
    """Refuse the method if an option is given, that is, not None."""
    for option, value in options.items():
        if value is not None:
            refuse_method(name, f"is given {option}")


def name_method_out(
    x: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of NumPy's function `name` for a call of the method, with `out` among the keywords."""
    if name in ("all", "any") and len(args) > 1:
        refuse_method(name, "is given a second argument by position, which NumPy takes as a dtype")
    return with_named_out(getattr(np, name, None), (x, *args), kwargs)


def require_known_shape(x: SymbolicTensor, name: str) -> tuple[int, ...]:
    """Return the static shape; refuse the method where a size is symbolic."""
    shape = x.type.shape
    if shape is None or not all(isinstance(size, int) for size in shape):
        refuse_method(name, "depends on a shape known only at run time")
    return shape  # type: ignore[return-value]


def new_shape(x: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape for a reshape. A single negative size becomes -1, as NumPy infers the size for any of these.

    A shape that does not fit the known sizes of `x` raises NumPy's error, as the program's.
    """
    sizes = [size for size in x.type.shape or (None,) if isinstance(size, int)]
    if len(sizes) == x.type.rank:
        with errors_of_program(ValueError):
            np.empty(sizes, "V0").reshape(shape)
    has_inferred_size = sum(size < 0 for size in shape) == 1
    return tuple(-1 if size < 0 else size for size in shape) if has_inferred_size else shape


def axis_argument(name: str, axis: Any) -> Any:
    """Return the argument `axis` as None, an int or a tuple of ints."""
    if axis is None:
        return None
    if isinstance(axis, bool):
        refuse_method(name, "is given a bool for an axis")
    return tuple(map(operator.index, axis)) if isinstance(axis, tuple) else operator.index(axis)


def dtype_argument(name: str, dtype: DTypeLike) -> DType | None:
    """Return the argument `dtype`, None if it is not given."""
    if dtype is None or isinstance(dtype, DType):
        return dtype
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype.kind not in "biufc" or not numpy_dtype.isnative:
        refuse_method(name, f"is given the dtype {numpy_dtype}")
    return as_dtype(numpy_dtype)


def keepdims_argument(name: str, keepdims: object) -> bool:
    """Return whether the reduced axes stay; refuse an argument `keepdims` whose value is not known yet."""
    if isinstance(keepdims, (bool, np.bool_, int)):
        return bool(keepdims)
    refuse_method(name, "is given keepdims known only at run time")


def python_number_dtype(name: str, x: SymbolicTensor) -> DType:
    """Return the dtype of the Python number that an element becomes; refuse uint64 and complex elements."""
    if x.dtype.is_bool:
        return bool_
    if x.dtype.is_integer and (x.dtype is int64 or x.dtype.size < 8):
        return int64
    return float64 if x.dtype.is_floating else refuse_method(name, f"is called on {x.dtype.name} elements")


def as_number(name: str, element: Any) -> Any:
    """Return an element as a symbolic Python number."""
    return dispatch.apply("python_cast", element, dtype=python_number_dtype(name, element), weak=True)
