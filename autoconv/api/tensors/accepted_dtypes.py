"""Dtypes that public functions accept.

The ops behind them accept more dtypes, which NumPy's functions and Python's operators use.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from autoconv.errors import DtypeError
from autoconv.graph.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

SINGLE_OR_DOUBLE = frozenset({float32, float64})
FLOATING = SINGLE_OR_DOUBLE | {float16, bfloat16}
COMPLEX = frozenset({complex64, complex128})
LARGE_INTEGERS = frozenset({int32, int64})
INDICES = LARGE_INTEGERS | {int16}
SIGNED = LARGE_INTEGERS | {int8, int16}
INTEGERS = SIGNED | {uint8, uint16, uint32, uint64}
REAL = FLOATING | INTEGERS
NUMERIC = REAL | COMPLEX


def check_dtype(function: str, accepted: frozenset[DType], *values: object) -> None:
    """Raise DtypeError for a tensor or array of a dtype that is not accepted; `function` is its name in errors.

    Python's numbers are not checked, since they take a dtype that fits; nor are arrays beside a tensor, whose dtype
    they are cast to.
    """
    has_tensor = any(isinstance(getattr(value, "dtype", None), DType) for value in values)
    for value in values:
        dtype = getattr(value, "dtype", None)
        if has_tensor and isinstance(value, (np.ndarray, np.generic)):
            continue
        if isinstance(dtype, np.dtype):
            dtype = as_dtype(dtype)
        if isinstance(dtype, DType) and dtype not in accepted and not getattr(value, "weak", False):
            names = ", ".join(sorted(accepted_dtype.name for accepted_dtype in accepted))
            raise DtypeError(
                f"Value for attr 'T' of {dtype.name} is not in the list of allowed values: {names} [{function}]"
            )


def with_default_dtype(value: Any, default: DType, unchanged: frozenset[DType] = frozenset()) -> Any:
    """Return a NumPy array cast to the default dtype of a parameter, unless its dtype is one of `unchanged`.

    Other values are returned as they are: TensorFlow casts arrays to the default dtype, but not tensors.
    """
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biufc":
        return value
    if as_dtype(value.dtype) in unchanged:
        return value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)  # imaginary parts are dropped, as TensorFlow does
        return value.astype(default.numpy)


def as_indices(function: str, value: Any, accepted: frozenset[DType] = LARGE_INTEGERS, default: DType = int32) -> Any:
    """Return sizes, axes or ids, with arrays cast to the default dtype; raises DtypeError for a dtype not accepted."""
    value = with_default_dtype(value, default, accepted)
    check_dtype(function, accepted, value)
    return value


def check_flags(function: str, **flags: object) -> None:
    """Raise TypeError for a flag that is not a bool of Python or NumPy."""
    for name, flag in flags.items():
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(f"Expected bool for argument '{name}' not {flag!r} [{function}]")


def check_result_dtype(dtype: object, accepted: frozenset[DType]) -> DType:
    """Return the dtype of a result; raises ValueError for one that is not accepted."""
    dtype_ = as_dtype(dtype)
    if dtype_ not in accepted:
        names = ", ".join(sorted(accepted_dtype.name for accepted_dtype in accepted))
        raise ValueError(f"Argument `dtype` got invalid value {dtype_!r}. Accepted dtypes are {names}.")
    return dtype_


__all__ = [
    "COMPLEX", "FLOATING", "INDICES", "INTEGERS", "LARGE_INTEGERS", "NUMERIC", "REAL", "SIGNED",
    "SINGLE_OR_DOUBLE", "as_indices", "check_dtype", "check_flags", "check_result_dtype",
    "with_default_dtype",
]
