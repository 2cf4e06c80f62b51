"""Magnitude, sign, and the parts of complex numbers.

The cotangent of a complex x is dL/d(real x) + i·dL/d(imag x): a holomorphic f multiplies it by conj(f').
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, complex64, complex128
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import as_dtype_of, dtype_of, unbroadcast
from autoconv.ops.record import Builder, Gradient, Op, define, sample
from autoconv.ops.rules import broadcast

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_COMPLEX = np.array([0.5 + 0.25j, -0.75 - 1.5j])
_INTEGERS = np.array([7, -7, 0], np.int64)


def _define_unary(
    name: str, graphdef: str, kernel: Callable[..., Any], gradient: Gradient, *inputs: Any, has_real_result: bool,
    **facts: Any,
) -> Op:  # fmt: skip
    """Define an elementwise op; with `has_real_result` a complex operand gives a real result."""

    def result(x: TensorType, **_: Any) -> TensorType:
        if not x.dtype.is_numeric:
            raise TypeError(f"{name} takes numeric tensors, found {x.dtype.name}")
        return x.with_dtype(x.dtype.real_dtype, x.weak) if has_real_result else x

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(kernel), gradient=gradient,
        elementwise=True, samples=tuple(map(sample, inputs)), **facts,
    )  # fmt: skip


def _abs_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,) = cotangents, inputs
    return (b.multiply(as_dtype_of(b, cotangent, x), b.sign(x)),)


def _sign(x: Any) -> Any:
    if x.dtype.kind != "c":
        return np.sign(x)
    return np.where(np.equal(x, 0), np.zeros((), x.dtype), np.divide(x, np.abs(x)).astype(x.dtype))


def _sign_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return zero for a real x; for a complex one, the component of the cotangent orthogonal to the result."""
    (cotangent,), (x,), (y,) = cotangents, inputs, results
    if not dtype_of(x).is_complex:
        return (b.zeros_like(x),)
    parallel = b.real(b.multiply(b.conjugate(y), cotangent))
    orthogonal = b.subtract(cotangent, b.multiply(as_dtype_of(b, parallel, x), y))
    return (b.divide(orthogonal, as_dtype_of(b, b.abs(x), x)),)


def _conjugate_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.conjugate(cotangents[0]),)


def _real_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (as_dtype_of(b, cotangents[0], inputs[0]),)


def _imag_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,) = cotangents, inputs
    if not dtype_of(x).is_complex:
        return (None,)
    return (b.complex(b.zeros_like(cotangent), cotangent),)


def _angle(x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real)
    angle = np.where(np.less(x, 0), np.asarray(np.pi, x.dtype), np.zeros((), x.dtype))
    return np.where(np.isnan(x), x, angle)


def _angle_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return i·x·cotangent / |x|²; None for real operands, whose angle is constant."""
    (cotangent,), (x,) = cotangents, inputs
    if not dtype_of(x).is_complex:
        return (None,)
    real, imag = b.real(x), b.imag(x)
    scaled_cotangent = b.divide(cotangent, b.add(b.square(real), b.square(imag)))
    return (b.complex(b.negative(b.multiply(scaled_cotangent, imag)), b.multiply(scaled_cotangent, real)),)


def _complex_dtype(real: DType) -> DType:
    """Return the complex dtype with parts of this dtype; raise TypeError if there is none."""
    result = {"float32": complex64, "float64": complex128}.get(real.name)
    if result is None:
        raise TypeError(f"complex takes float32 or float64 parts, found {real.name}")
    return result


def _complex_type(real: TensorType, imag: TensorType, **_: Any) -> TensorType:
    dtype = _complex_dtype(real.dtype)
    return broadcast(real, imag).with_dtype(dtype, real.weak and imag.weak)


def _complex(real: Any, imag: Any) -> Any:
    real, imag = np.broadcast_arrays(real, imag)
    result = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    result.real, result.imag = real, imag  # real + 1j·imag would lose signed zeros and infinities
    return result


def _complex_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (real, imag) = cotangents, inputs
    return unbroadcast(b, b.real(cotangent), real), unbroadcast(b, b.imag(cotangent), imag)


_define_unary("abs", "Abs", np.abs, _abs_gradient, _X, _COMPLEX, _INTEGERS, has_real_result=True)
sign = _define_unary("sign", "Sign", _sign, _sign_gradient, _X, _COMPLEX, _INTEGERS, has_real_result=False)
conjugate = _define_unary("conjugate", "Conj", np.conjugate, _conjugate_gradient, _X, _COMPLEX, has_real_result=False)
real = _define_unary("real", "Real", np.real, _real_gradient, _X, _COMPLEX, has_real_result=True, may_alias=True)
imag = _define_unary("imag", "Imag", lambda x: np.imag(x).copy(), _imag_gradient, _X, _COMPLEX, has_real_result=True)
angle = _define_unary("angle", "Angle", _angle, _angle_gradient, _X, _COMPLEX, has_real_result=True)
complex_ = define(
    name="complex", graphdef="Complex", result=_complex_type, kernel=quiet(_complex),
    gradient=_complex_gradient, unify="all", elementwise=True,
    samples=(sample(_X, _X[0]), sample(np.array([1.5], np.float32), np.array([-0.5], np.float32))),
)  # fmt: skip
