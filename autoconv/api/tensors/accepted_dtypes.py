"""Dtypes that public functions accept.

The ops behind them accept more dtypes, which NumPy's functions and Python's operators use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtype_sets import LARGE_INTEGERS
from autoconv.graph.dtypes import DType, as_dtype, int32
from autoconv.process_state import without_warnings
from autoconv.runtime.recording import parameter_checks


def check_dtype(
    function: str, accepted: frozenset[DType], *values: object, kernel_dtypes: frozenset[DType] | None = None
) -> None:
    """Raise DtypeError for a tensor or array of a dtype that is not accepted; `function` is its name in errors.

    `kernel_dtypes` are the dtypes for which TensorFlow has a kernel, if it accepts more than it computes: another dtype
    raises MissingKernelError.

    Python's numbers are not checked, since they take a dtype that fits. Arrays beside a tensor are not checked either:
    they are cast to the dtype of the tensor.
    """
    has_tensor = any(isinstance(getattr(value, "dtype", None), DType) for value in values)
    for value in values:
        dtype = getattr(value, "dtype", None)
        if has_tensor and isinstance(value, (np.ndarray, np.generic)):
            continue
        if isinstance(dtype, np.dtype):
            dtype = as_dtype(dtype)
        if isinstance(dtype, DType) and not getattr(value, "weak", False):
            parameter_checks.check_dtype(function, dtype, accepted, kernel_dtypes)


def with_default_dtype(value: Any, default: DType, unchanged: frozenset[DType] = frozenset()) -> Any:
    """Return a NumPy array cast to the default dtype of a parameter, unless its dtype is one of `unchanged`.

    A list without numbers becomes an array of the default dtype. Other values are returned as they are: TensorFlow
    casts arrays to the default dtype, but not tensors.
    """
    if _has_no_numbers(value):
        return np.asarray(value, default.numpy)
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "biufc":
        return value
    if as_dtype(value.dtype) in unchanged:
        return value
    with without_warnings():  # imaginary parts are dropped, as TensorFlow does
        return value.astype(default.numpy)


def _has_no_numbers(value: Any) -> bool:
    """Return whether the value is an empty list, or a list whose first item is one."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (list, tuple))


def as_indices(function: str, value: Any, accepted: frozenset[DType] = LARGE_INTEGERS, default: DType = int32) -> Any:
    """Return sizes, axes or ids, with arrays cast to the default dtype; raises DtypeError for a dtype not accepted."""
    value = with_default_dtype(value, default, accepted)
    check_dtype(function, accepted, value)
    return value


def check_flags(function: str, **flags: object) -> None:
    """Raise TypeError for a flag that is no bool of Python or NumPy, ValueError for an operand that has two flags."""
    for name, flag in flags.items():
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(f"Expected bool for argument '{name}' not {flag!r} [{function}]")
    for operand in "ab":
        if flags.get(f"transpose_{operand}") and flags.get(f"adjoint_{operand}"):
            raise ValueError(f"Only one of 'transpose_{operand}' and 'adjoint_{operand}' can be True.")


def check_result_dtype(dtype: object, accepted: frozenset[DType]) -> DType:
    """Return the dtype of a result; raises ValueError for one that is not accepted."""
    dtype_ = as_dtype(dtype)
    if dtype_ not in accepted:
        names = ", ".join(sorted(accepted_dtype.name for accepted_dtype in accepted))
        raise ValueError(f"Argument `dtype` got invalid value {dtype_!r}. Accepted dtypes are {names}.")
    return dtype_
