"""Comparison of arrays: element by element within tolerances, and of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.operands import (
    cast,
    computes,
    have_equal_shapes,
    is_weak,
    known_shape,
    promotion_operand,
    tensor,
)
from autoconv.numpy.statistics import weak_or_tensor
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


@computes("isclose")
def isclose(
    a: TensorLike, b: TensorLike, rtol: TensorLike = 1e-05, atol: TensorLike = 1e-08, equal_nan: bool = False
) -> Any:
    x, y = weak_or_tensor(a), weak_or_tensor(b)
    if not is_weak(y) and not (y.dtype.is_floating or y.dtype.is_complex):
        y = cast(y, np.result_type(y.dtype.numpy, 1.0))
    elif is_weak(y) and promotion_operand(y) in (bool, int):
        y = float(y) if as_tensor(y) is None else apply("python_float", y)
    tolerance = call_ufunc(np.add, atol, call_ufunc(np.multiply, rtol, call_ufunc(np.absolute, y)))
    is_near = call_ufunc(np.less_equal, call_ufunc(np.absolute, call_ufunc(np.subtract, x, y)), tolerance)
    result = call_ufunc(np.logical_and, is_near, call_ufunc(np.isfinite, y))
    result = call_ufunc(np.logical_or, result, call_ufunc(np.equal, x, y))
    if equal_nan:
        result = call_ufunc(np.logical_or, result, _are_both_nan(x, y))
    return result


@computes("allclose")
def allclose(
    a: TensorLike, b: TensorLike, rtol: TensorLike = 1e-05, atol: TensorLike = 1e-08, equal_nan: bool = False
) -> Any:
    return _as_python_bool(apply("numpy_all", isclose(a, b, rtol, atol, equal_nan), axis=None))


@computes("array_equal")
def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Any:
    x, y = tensor(a1), tensor(a2)
    if not have_equal_shapes(x, y):
        return False
    are_equal = call_ufunc(np.equal, x, y)
    if equal_nan and x.dtype.is_differentiable and y.dtype.is_differentiable:
        are_equal = call_ufunc(np.logical_or, are_equal, _are_both_nan(x, y))
    return _as_python_bool(apply("numpy_all", are_equal, axis=None))


@computes("array_equiv")
def array_equiv(a1: TensorLike, a2: TensorLike) -> Any:
    x, y = tensor(a1), tensor(a2)
    try:
        np.broadcast_shapes(known_shape(x), known_shape(y))
    except ValueError:
        return False
    return _as_python_bool(apply("numpy_all", call_ufunc(np.equal, x, y), axis=None))


def _are_both_nan(x: TensorLike, y: TensorLike) -> Any:
    return call_ufunc(np.logical_and, call_ufunc(np.isnan, x), call_ufunc(np.isnan, y))


def _as_python_bool(x: Tensor) -> Any:
    """Convert a scalar to a Python bool, which NumPy's comparisons of whole arrays return."""
    if hasattr(x, "value_in_graph"):
        return apply("python_cast", x, dtype=as_dtype(bool), weak=True)
    return bool(x)  # type: ignore[call-overload]
