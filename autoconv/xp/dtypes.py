"""The standard's functions on dtypes, and the result of `__array_namespace_info__`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DTYPES, DType, as_dtype
from autoconv.numpy.operands import cast, numpy_dtype, numpy_dtype_of, tensor
from autoconv.numpy.standard import DEVICE, check_device, numpy_implementation
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.tensor import Tensor

_NUMBER_CLASSES = (bool, int, float, complex)
_NONSTANDARD_DTYPES = frozenset({"string", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"})


def astype(x: object, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The elements cast to another dtype; raises TypeError for a cast of a complex array to a real dtype.

    >>> autoconv.xp.astype(autoconv.constant([1.5, 2.5]), autoconv.xp.int64).numpy()
    array([1, 2])
    """
    check_device(device)
    target_dtype = as_dtype(numpy_dtype(dtype))
    if tensor(x).dtype.is_complex and not (target_dtype.is_complex or target_dtype.is_bool):
        raise TypeError("a complex array is not converted to a real one: take its real part")
    return cast(tensor(x), target_dtype)


def broadcast_arrays(*arrays: Any) -> tuple[Tensor, ...]:
    """The arrays, each broadcast to their common shape.

    >>> [part.numpy().tolist() for part in autoconv.xp.broadcast_arrays([1, 2], [[3], [4]])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    return numpy_implementation("broadcast_arrays")(*arrays)


def broadcast_to(x: TensorLike, /, shape: ShapeLike) -> Tensor:
    """The array broadcast to the shape.

    >>> autoconv.xp.broadcast_to([1, 2], (2, 2)).numpy()
    array([[1, 2],
           [1, 2]])
    """
    return numpy_implementation("broadcast_to")(x, shape)


def can_cast(from_: TensorLike, to: TensorLike, /) -> bool:
    """Return whether promotion allows a cast from a dtype, or the dtype of an array, to the dtype `to`.

    >>> autoconv.xp.can_cast(autoconv.xp.float64, autoconv.xp.float32)
    False
    """
    source_dtype = from_.numpy if isinstance(from_, DType) else numpy_dtype_of(from_)
    return bool(np.can_cast(source_dtype, as_dtype(to).numpy))


@dataclass(frozen=True)
class FloatLimits:
    """Limits of a real dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerLimits:
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> FloatLimits:
    """The limits of a floating dtype, or of an array's dtype.

    >>> autoconv.xp.finfo(autoconv.xp.float32).eps
    1.1920928955078125e-07
    """
    limits = np.finfo(_dtype_of(type))
    eps, largest, smallest, smallest_normal = map(float, (limits.eps, limits.max, limits.min, limits.smallest_normal))
    return FloatLimits(limits.bits, eps, largest, smallest, smallest_normal, as_dtype(limits.dtype))


def iinfo(type: Any, /) -> IntegerLimits:
    """The limits of an integer dtype, or of an array's dtype.

    >>> autoconv.xp.iinfo(autoconv.xp.int8).max
    127
    """
    limits = np.iinfo(_dtype_of(type))
    return IntegerLimits(limits.bits, int(limits.max), int(limits.min), as_dtype(limits.dtype))


def isdtype(dtype: DTypeLike, kind: str) -> bool:
    """Return whether a dtype is of a kind: a name such as "real floating", a dtype, or a tuple of these.

    >>> autoconv.xp.isdtype(autoconv.xp.float32, "real floating")
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, alternative) for alternative in kind)
    numpy_kind: Any = kind.numpy if isinstance(kind, DType) else kind
    return bool(np.isdtype(as_dtype(dtype).numpy, numpy_kind))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype to which the arrays, dtypes and Python numbers are promoted.

    >>> autoconv.xp.result_type(autoconv.xp.int32, autoconv.xp.float32)
    autoconv.float64
    """
    if all(type(x) in _NUMBER_CLASSES for x in arrays_and_dtypes):
        raise ValueError("result_type needs an array or a dtype among its arguments")
    operands = [x.numpy if isinstance(x, DType) else x for x in arrays_and_dtypes]
    dtypes_and_numbers = [
        x if isinstance(x, np.dtype) or type(x) in _NUMBER_CLASSES else numpy_dtype_of(x) for x in operands
    ]
    return as_dtype(np.result_type(*dtypes_and_numbers))


def _dtype_of(x: TensorLike) -> Any:
    """Return NumPy's dtype of a dtype or of an array."""
    return as_dtype(x).numpy if isinstance(x, (DType, np.dtype, type)) else numpy_dtype_of(x)


class Info:
    """The result of `__array_namespace_info__`: devices, dtypes, and capabilities of this namespace."""

    def capabilities(self) -> dict[str, Any]:
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        return DEVICE

    def devices(self) -> list[str]:
        return [DEVICE]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        check_device(device)
        name_by_kind = {
            "real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64",
        }  # fmt: skip
        return {kind: DTYPES[name] for kind, name in name_by_kind.items()}

    def dtypes(self, *, device: Any = None, kind: str | None = None) -> dict[str, DType]:
        check_device(device)
        named_dtypes = {name: dtype for name, dtype in DTYPES.items() if name not in _NONSTANDARD_DTYPES}
        return {name: dtype for name, dtype in named_dtypes.items() if kind is None or isdtype(dtype, kind)}


__all__ = [
    "astype", "broadcast_arrays", "broadcast_to", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
]  # fmt: skip
