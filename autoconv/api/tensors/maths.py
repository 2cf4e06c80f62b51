"""Elementary and special functions, element by element, and cumulative sums and products.

Results have the dtype of the input where the docstring of a function does not name another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype, check_flags
from autoconv.api.tensors.arguments import convert_pair, static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.errors import DtypeError
from autoconv.graph.dtype_sets import COMPLEX, FLOATING, SIGNED, SINGLE_OR_DOUBLE
from autoconv.runtime.annotations import AxisLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """|x|; for complex x the magnitude, a real number.

    >>> autoconv.abs([2, -3]).numpy()
    array([2, 3], dtype=int32)
    """
    check_dtype("abs", FLOATING | SIGNED | COMPLEX, x)
    return apply("abs", x, name=name)


def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1; x / |x| for a complex x.

    >>> autoconv.sign([2.0, -3.0, 0.0]).numpy()
    array([ 1., -1.,  0.], dtype=float32)
    """
    check_dtype("sign", FLOATING | SIGNED | COMPLEX, x)
    return apply("sign", x, name=name)


def square(x: TensorLike, name: str | None = None) -> Tensor:
    """x².

    >>> autoconv.square([2, -3]).numpy()
    array([4, 9], dtype=int32)
    """
    return apply("square", x, name=name)


def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root of a floating x; nan below zero.

    >>> autoconv.sqrt([4.0, 9.0]).numpy()
    array([2., 3.], dtype=float32)
    """
    return apply("sqrt", x, name=name)


def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / sqrt(x).

    >>> autoconv.math.rsqrt([4.0, 16.0]).numpy().round(3)
    array([0.5 , 0.25], dtype=float32)
    """
    return apply("rsqrt", x, name=name)


def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x.

    >>> autoconv.math.reciprocal([2.0, 4.0]).numpy()
    array([0.5 , 0.25], dtype=float32)
    """
    return apply("reciprocal", x, name=name)


def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """e raised to the power x.

    >>> autoconv.exp([0.0, 1.0]).numpy().round(3)
    array([1.   , 2.718], dtype=float32)
    """
    return apply("exp", x, name=name)


def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """exp(x) - 1, accurate near zero.

    >>> autoconv.math.expm1([0.0, 1.0]).numpy().round(3)
    array([0.   , 1.718], dtype=float32)
    """
    return apply("expm1", x, name=name)


def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm; -inf at zero, nan below.

    >>> autoconv.log([1.0, 10.0]).numpy().round(3)
    array([0.   , 2.303], dtype=float32)
    """
    return apply("log", x, name=name)


def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """log(1 + x), accurate near zero.

    >>> autoconv.math.log1p([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.693], dtype=float32)
    """
    return apply("log1p", x, name=name)


def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)).

    >>> autoconv.sigmoid([0.0, 1.0]).numpy().round(3)
    array([0.5  , 0.731], dtype=float32)
    """
    return apply("sigmoid", x, name=name)


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """log(1 + exp(x)), for each element x of `features`.

    >>> autoconv.math.softplus([0.0, 1.0]).numpy().round(3)
    array([0.693, 1.313], dtype=float32)
    """
    return apply("softplus", features, name=name)


def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """The error function.

    >>> autoconv.math.erf([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.843], dtype=float32)
    """
    return apply("erf", x, name=name)


def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """1 - erf(x), accurate for large x.

    >>> autoconv.math.erfc([0.0, 1.0]).numpy().round(3)
    array([1.   , 0.157], dtype=float32)
    """
    return apply("erfc", x, name=name)


def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function.

    >>> autoconv.math.lgamma([1.0, 5.0]).numpy().round(3)
    array([0.   , 3.178], dtype=float32)
    """
    return apply("lgamma", x, name=name)


def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of lgamma.

    >>> autoconv.math.digamma([1.0, 2.0]).numpy().round(3)
    array([-0.577,  0.423], dtype=float32)
    """
    return apply("digamma", x, name=name)


def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest integer not greater than x.

    >>> autoconv.floor([1.5, -1.5]).numpy()
    array([ 1., -2.], dtype=float32)
    """
    check_dtype("floor", FLOATING, x)
    return apply("floor", x, name=name)


def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The smallest integer not less than x.

    >>> autoconv.ceil([1.5, -1.5]).numpy()
    array([ 2., -1.], dtype=float32)
    """
    check_dtype("ceil", FLOATING, x)
    return apply("ceil", x, name=name)


def round(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; ties go to the even one.

    >>> autoconv.round([0.5, 1.5, 2.6]).numpy()
    array([0., 2., 3.], dtype=float32)
    """
    return apply("round", x, name=name)


def rint(x: TensorLike, name: str | None = None) -> Tensor:
    """The nearest integer; ties go to the even one.

    >>> autoconv.math.rint([0.5, 1.5, 2.4]).numpy()
    array([0., 2., 2.], dtype=float32)
    """
    return apply("rint", x, name=name)


def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """True for each element that is nan; bool.

    >>> autoconv.math.is_nan([1.0, float("nan")]).numpy()
    array([False,  True])
    """
    check_dtype("is_nan", FLOATING, x)
    return apply("is_nan", x, name=name)


def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """True for each element that is infinite; bool.

    >>> autoconv.math.is_inf([1.0, float("inf")]).numpy()
    array([False,  True])
    """
    check_dtype("is_inf", FLOATING, x)
    return apply("is_inf", x, name=name)


def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """True for each element that is neither infinite nor nan; bool.

    >>> autoconv.math.is_finite([1.0, float("inf")]).numpy()
    array([ True, False])
    """
    check_dtype("is_finite", FLOATING, x)
    return apply("is_finite", x, name=name)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The complex conjugate; a real x is returned unchanged.

    >>> autoconv.math.conj([1 + 2j]).numpy()
    array([1.-2.j])
    """
    return apply("conjugate", x, name=name)


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """The real part.

    >>> autoconv.real([1 + 2j]).numpy()
    array([1.])
    """
    return apply("real", input, name=name)


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real input.

    >>> autoconv.imag([1 + 2j]).numpy()
    array([2.])
    """
    return apply("imag", input, name=name)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """The argument of a complex number in radians; 0 or pi for a real input.

    >>> autoconv.math.angle([1 + 1j, 1j]).numpy()
    array([0.78539816, 1.57079633])
    """
    check_dtype("angle", FLOATING | COMPLEX, input)
    return apply("angle", input, name=name)


def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x·log(y), and 0 where x is 0.

    >>> autoconv.math.xlogy([0.0, 2.0], [0.0, 2.0]).numpy().round(3)
    array([0.   , 1.386], dtype=float32)
    """
    return apply("xlogy", x, y, name=name)


def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y, and 0 where x is 0.

    >>> autoconv.math.xdivy([0.0, 1.0], [0.0, 2.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
    return apply("xdivy", x, y, name=name)


def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Tensor:
    """The next representable number after x1 in the direction of x2.

    >>> autoconv.math.nextafter(1.0, 2.0).numpy() > 1.0
    np.True_
    """
    check_dtype("nextafter", SINGLE_OR_DOUBLE, x1, x2)
    return apply("nextafter", x1, x2, name=name)


def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x·log(1 + y), and 0 where x is 0.

    >>> autoconv.math.xlog1py([0.0, 2.0], [-1.0, 1.0]).numpy().round(3)
    array([0.   , 1.386], dtype=float32)
    """
    x, y = convert_pair(x, y)
    return apply("xlogy", x, apply("add", y, 1.0), name=name)


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i·imag of float32 (complex64) or float64 (complex128) parts.

    >>> autoconv.complex([1.0], [2.0]).numpy()
    array([1.+2.j], dtype=complex64)
    """
    parts = convert_to_tensor(real), convert_to_tensor(imag)
    are_typed = not any(part.weak for part in parts)
    if are_typed and (parts[0].dtype is not parts[1].dtype or parts[0].dtype not in SINGLE_OR_DOUBLE):
        names = " ".join(part.dtype.name for part in parts)
        raise DtypeError(f"The parts of complex() have the dtypes {names}: both have to be float32, or float64")
    return apply("complex", *parts, name=name)


def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of order `a` of digamma at x; `a` is a whole number from 0 on, or a tensor of such numbers.

    >>> autoconv.math.polygamma(1, 1.0).numpy().round(3)
    np.float32(1.645)
    """
    check_dtype("polygamma", SINGLE_OR_DOUBLE, a, x)
    if as_tensor(a) is not None:
        a, x = convert_pair(a, x)
    known_order = static_value(a)
    if known_order is not None and np.ndim(known_order) == 0 and known_order == int(known_order) and known_order >= 0:
        return apply("polygamma", x, order=int(known_order), name=name) if known_order else digamma(x, name)
    x = convert_to_tensor(x)
    order_plus_one = apply("add", apply("cast", convert_to_tensor(a), dtype=x.dtype), 1.0)
    sign = apply("cos", apply("multiply", order_plus_one, np.pi))  # (-1)^(order + 1)
    magnitude = apply("multiply", apply("exp", apply("lgamma", order_plus_one)), apply("zeta", order_plus_one, x))
    derivative = apply("multiply", apply("round", sign), magnitude)  # cos of a multiple of pi is not exactly 1 or -1
    is_order = apply("logical_and", apply("greater_equal", order_plus_one, 1.0),
                     apply("equal", apply("floor", order_plus_one), order_plus_one))
    derivative = apply("select", is_order, derivative, np.nan)
    return apply("select", apply("equal", order_plus_one, 1.0), digamma(x), derivative, name=name)


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), accurate for large negative x.

    >>> autoconv.math.log_sigmoid([0.0, 1.0]).numpy().round(3)
    array([-0.693, -0.313], dtype=float32)
    """
    return apply("negative", apply("softplus", apply("negative", x)), name=name)


@accepts_run_time_axes()
def cumsum(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Cumulative sums along `axis`; with `exclusive`, without the element itself; with `reverse`, from the end.

    >>> autoconv.cumsum([1, 2, 3]).numpy()
    array([1, 3, 6], dtype=int32)
    """
    return _apply_cumulative("cumsum", x, axis, exclusive, reverse, name)


@accepts_run_time_axes()
def cumprod(
    x: TensorLike, axis: AxisLike = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Cumulative products along `axis`; `exclusive` and `reverse` are as in `cumsum`.

    >>> autoconv.math.cumprod([1, 2, 3]).numpy()
    array([1, 2, 6], dtype=int32)
    """
    return _apply_cumulative("cumprod", x, axis, exclusive, reverse, name)


def _apply_cumulative(
    op: str, x: TensorLike, axis: AxisLike, exclusive: bool, reverse: bool, name: str | None
) -> Tensor:
    """Return the result of `op`, "cumsum" or "cumprod", for an axis that is known while tracing."""
    check_flags(op, exclusive=exclusive, reverse=reverse)
    return apply(op, x, axis=static_int(axis, "axis"), exclusive=exclusive, reverse=reverse, name=name)
