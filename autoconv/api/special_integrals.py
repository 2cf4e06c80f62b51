"""Bessel functions, the integrals of Dawson and Fresnel, the exponential integral and the dilogarithm.

Each is computed in float64 by Chebyshev series on intervals. For large arguments the forms of NIST's Digital Library of
Mathematical Functions are used: 10.17 (Bessel functions), 6.12 (exponential integral), 7.5 (Fresnel integrals) and
25.12 (dilogarithm).
Gradients are closed forms of the derivatives, in terms of these functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.api.gradients.custom import custom_gradient
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.chebyshev_series import SERIES
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.special import bessel_i0, bessel_i1
from autoconv.graph.dtypes import float64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Real = Any  # a float64 tensor or a Python number


def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 0.

    >>> autoconv.math.special.bessel_j0([0.0, 1.0]).numpy().round(4)
    array([1.    , 0.7652], dtype=float32)
    """
    return _in_float64(x, lambda real: _j(0, real), lambda real: -_j(1, real))


def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the first kind of order 1.

    >>> autoconv.math.special.bessel_j1([0.0, 1.0]).numpy().round(4)
    array([0.    , 0.4401], dtype=float32)
    """

    def derivative(real: Real) -> Real:
        is_zero = apply("equal", real, 0.0)
        quotient = _j(1, real) / where(is_zero, 1.0, real)
        return where(is_zero, 0.5, _j(0, real) - quotient)

    return _in_float64(x, lambda real: _j(1, real), derivative)


def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind of order 0; -inf for x <= 0.

    >>> autoconv.math.special.bessel_y0([0.5, 1.0]).numpy().round(4)
    array([-0.4445,  0.0883], dtype=float32)
    """
    return _in_float64(x, lambda real: _y(0, real), lambda real: -_y(1, real))


def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """The Bessel function of the second kind of order 1; -inf for x <= 0.

    >>> autoconv.math.special.bessel_y1([0.5, 1.0]).numpy().round(4)
    array([-1.4715, -0.7812], dtype=float32)
    """
    return _in_float64(x, lambda real: _y(1, real), lambda real: _y(0, real) - _y(1, real) / real)


def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 0; inf for x <= 0.

    >>> autoconv.math.special.bessel_k0([0.5, 1.0]).numpy().round(4)
    array([0.9244, 0.421 ], dtype=float32)
    """
    return _in_float64(x, lambda real: _k(0, real), lambda real: -_k(1, real))


def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_k0` times exp(x).

    >>> autoconv.math.special.bessel_k0e([0.5, 1.0]).numpy().round(4)
    array([1.5241, 1.1445], dtype=float32)
    """
    return _in_float64(x, lambda real: _ke(0, real), lambda real: _ke(0, real) - _ke(1, real))


def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the second kind of order 1; inf for x <= 0.

    >>> autoconv.math.special.bessel_k1([0.5, 1.0]).numpy().round(4)
    array([1.6564, 0.6019], dtype=float32)
    """
    return _in_float64(x, lambda real: _k(1, real), lambda real: -_k(0, real) - _k(1, real) / real)


def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """`bessel_k1` times exp(x).

    >>> autoconv.math.special.bessel_k1e([0.5, 1.0]).numpy().round(4)
    array([2.731 , 1.6362], dtype=float32)
    """
    return _in_float64(
        x, lambda real: _ke(1, real), lambda real: _ke(1, real) * (1.0 - 1.0 / real) - _ke(0, real)
    )


def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Dawson's integral: exp(-x²) times the integral of exp(t²) from 0 to x.

    >>> autoconv.math.special.dawsn([0.0, 1.0]).numpy().round(4)
    array([0.    , 0.5381], dtype=float32)
    """
    return _in_float64(x, _dawson, lambda real: 1.0 - 2.0 * real * _dawson(real))


def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential integral Ei, the integral of exp(t) / t from -inf to x, for x > 0; nan below 0.

    >>> autoconv.math.special.expint([0.5, 1.0]).numpy().round(4)
    array([0.4542, 1.8951], dtype=float32)
    """

    def evaluate(double_x: Real) -> Real:
        positive_x = _positive_or_one(double_x)
        near = _series_on_interval("EI_1", positive_x, 0, 4) + apply("log", positive_x)
        far = _evaluate_above(positive_x, 32, lambda far_x: _series("EI_5", 2.0 * 32.0 / far_x - 1.0))
        middle = where(positive_x < 16, _series_on_interval("EI_3", positive_x, 8, 16), far)
        middle = where(positive_x < 8, _series_on_interval("EI_2", positive_x, 4, 8), middle)
        series = where((positive_x >= 16) & (positive_x < 32), _series_on_interval("EI_4", positive_x, 16, 32), middle)
        integral = where(positive_x < 4, near, series * apply("exp", positive_x) / positive_x)
        return where(apply("equal", double_x, 0.0), -math.inf, where(double_x > 0, integral, math.nan))

    return _in_float64(x, evaluate, lambda double_x: apply("exp", double_x) / double_x)


def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The integral of cos(πt²/2) from 0 to x.

    >>> autoconv.math.special.fresnel_cos([0.0, 1.0]).numpy().round(4)
    array([0.    , 0.7799], dtype=float32)
    """
    return _fresnel_integral(x, "cosine", "cos")


def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The integral of sin(πt²/2) from 0 to x.

    >>> autoconv.math.special.fresnel_sin([0.0, 1.0]).numpy().round(4)
    array([0.    , 0.4383], dtype=float32)
    """
    return _fresnel_integral(x, "sine", "sin")


def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Spence's function: the integral of log(t) / (1 - t) from 1 to x, the dilogarithm of 1 - x; nan below 0.

    >>> autoconv.math.special.spence([0.0, 1.0, 2.0]).numpy().round(4)
    array([ 1.6449,  0.    , -0.8225], dtype=float32)
    """

    def evaluate(double_x: Real) -> Real:
        positive_x = _positive_or_one(double_x)
        is_large, logarithm = positive_x > 1.5, apply("log", positive_x)
        reduced_x = where(is_large, 1.0 / positive_x, positive_x)  # at most 1.5
        is_small = reduced_x < 0.5
        reflected_x = where(is_small, 1.0 - reduced_x, reduced_x)
        middle = _series_on_interval("SPENCE", reflected_x, 0.5, 1.5)
        product = apply("log", reduced_x) * apply("log", where(is_small, 1.0 - reduced_x, 1.0))
        reduced_dilogarithm = where(is_small, math.pi**2 / 6.0 - product - middle, middle)
        dilogarithm = where(is_large, -0.5 * logarithm * logarithm - reduced_dilogarithm, reduced_dilogarithm)
        return where(apply("equal", double_x, 0.0), math.pi**2 / 6.0, where(double_x > 0, dilogarithm, math.nan))

    def derivative(double_x: Real) -> Real:
        is_one = apply("equal", double_x, 1.0)
        return where(is_one, -1.0, apply("log", double_x) / where(is_one, 1.0, 1.0 - double_x))

    return _in_float64(x, evaluate, derivative)


def _in_float64(x: TensorLike, function: Callable[[Real], Real], derivative: Callable[[Real], Real]) -> Tensor:
    """Return `function(x)` computed in float64 and cast to the dtype of `x`; `derivative` is that of the function."""

    @custom_gradient
    def evaluate(double_x: Real) -> Any:
        return function(double_x), lambda upstream: upstream * derivative(double_x)

    tensor = convert_to_tensor(x)
    return cast(evaluate(cast(tensor, float64)), tensor.dtype)


def _odd(x: Real, function: Callable[[Real], Real]) -> Real:
    """Return the value at x of an odd function, given as the function of the magnitude of x."""
    return apply("sign", x) * function(apply("abs", x))


def _j(order: int, x: Real) -> Real:
    """Return the Bessel function J of an order, which is an even function for 0 and an odd one for 1."""
    return _odd(x, lambda magnitude: _j_from_zero(1, magnitude)) if order else _j_from_zero(0, apply("abs", x))


def _y(order: int, x: Real) -> Real:
    """Return the Bessel function Y of an order; -inf for x <= 0."""
    return where(x > 0, _y_above_zero(order, _positive_or_one(x)), -math.inf)


def _k(order: int, x: Real) -> Real:
    """Return the modified Bessel function K of an order; inf for x <= 0."""
    return where(x > 0, _k_above_zero(order, _positive_or_one(x)), math.inf)


def _ke(order: int, x: Real) -> Real:
    """Return the modified Bessel function K of an order times exp(x); inf for x <= 0."""
    return where(x > 0, _ke_above_zero(order, _positive_or_one(x)), math.inf)


def _dawson(x: Real) -> Real:
    """Return Dawson's integral."""
    return _odd(x, _dawson_from_zero)


def _dawson_from_zero(magnitude: Real) -> Real:
    """Return Dawson's integral from 0 on."""
    near = magnitude * _series_on_interval("DAWSON_1", magnitude, 0, 2)
    far = _evaluate_above(magnitude, 8, lambda far_x: _series("DAWSON_4", 2.0 * (8.0 / far_x) ** 2 - 1.0))
    middle = where(magnitude < 8, _series_on_interval("DAWSON_3", magnitude, 4, 8), far)
    outer_value = where(magnitude < 4, _series_on_interval("DAWSON_2", magnitude, 2, 4), middle)
    return where(magnitude < 2, near, outer_value / apply("maximum", magnitude, 2.0))


def _fresnel_integral(x: TensorLike, field: str, integrand: str) -> Tensor:
    """Return the integral from 0 to x of `integrand`, an op, of πt²/2: the field `field` of `_FresnelIntegrals`."""
    return _in_float64(
        x, lambda double_x: _odd(double_x, lambda magnitude: getattr(_fresnel(magnitude), field)),
        lambda double_x: apply(integrand, math.pi / 2.0 * double_x * double_x),
    )  # fmt: skip


def _positive_or_one(numbers: Real) -> Real:
    """Return the numbers with 1 in place of 0 and negative ones, for which the caller selects another result."""
    return where(numbers > 0, numbers, 1.0)


def _series(name: str, position: Real) -> Real:
    """Return the sum of a Chebyshev series at a position from -1 to 1, by Clenshaw's recurrence."""
    constant_term, *coefficients = SERIES[name]
    previous_term: Real = 0.0
    current_term: Real = 0.0
    for coefficient in reversed(coefficients):
        current_term, previous_term = coefficient + 2.0 * position * current_term - previous_term, current_term
    return constant_term + position * current_term - previous_term


def _series_on_interval(name: str, x: Real, low: float, high: float) -> Real:
    """Return the sum of a Chebyshev series over the interval [low, high] at x, which is clipped to it."""
    return _series(name, (2.0 * clip_by_value(x, low, high) - (low + high)) / (high - low))


def _evaluate_above(x: Real, low: float, function: Callable[[Real], Real]) -> Real:
    """Return function(max(x, low)), for a function that is defined from `low` on."""
    return function(apply("maximum", x, low))


def _square_argument(x: Real, high: float) -> Real:
    """Return the argument, in [-1, 1], of a Chebyshev series in x² over the interval [0, high]."""
    return 2.0 * (apply("minimum", x, high) / high) ** 2 - 1.0


class _BesselFunctions(NamedTuple):
    """Values of the Bessel functions of one order."""

    j: Real
    y: Real


def _j_and_y_from_8(order: int, x: Real) -> _BesselFunctions:
    """Return the Bessel functions of an order for x from 8 on, by amplitude and phase."""
    position, phase = 2.0 * (8.0 / x) ** 2 - 1.0, x - (2 * order + 1) * math.pi / 4.0
    even, odd = _series(f"P{order}", position), _series(f"Q{order}", position) / x
    amplitude = apply("sqrt", 2.0 / (math.pi * x))
    sine, cosine = apply("sin", phase), apply("cos", phase)
    return _BesselFunctions(amplitude * (even * cosine - odd * sine), amplitude * (even * sine + odd * cosine))


def _j_from_zero(order: int, x: Real) -> Real:
    """Return the Bessel function J of an order for x from 0 on."""
    near = _series(f"J{order}", _square_argument(x, 8.0)) * (x if order else 1.0)
    return where(x < 8, near, _evaluate_above(x, 8.0, lambda far_x: _j_and_y_from_8(order, far_x).j))


def _y_above_zero(order: int, x: Real) -> Real:
    """Return the Bessel function Y of an order for positive x."""
    low = apply("minimum", x, 8.0)
    logarithm = 2.0 / math.pi * apply("log", low) * _j_from_zero(order, low)
    regular = _series(f"Y{order}", _square_argument(x, 8.0))
    near = logarithm + regular if order == 0 else logarithm + low * regular - 2.0 / math.pi / low
    return where(x < 8, near, _evaluate_above(x, 8.0, lambda far_x: _j_and_y_from_8(order, far_x).y))


def _k_above_zero(order: int, x: Real) -> Real:
    """Return the modified Bessel function K of an order for positive x."""
    return _ke_above_zero(order, x) * apply("exp", -x)


def _ke_above_zero(order: int, x: Real) -> Real:
    """Return the modified Bessel function K of an order times exp(x), for positive x."""
    low = apply("minimum", x, 2.0)
    position, logarithm = _square_argument(x, 2.0), apply("log", low * 0.5)
    if order == 0:
        near = _series("K0", position) - logarithm * bessel_i0(low)
    else:
        near = _series("K1", position) / low + logarithm * bessel_i1(low)
    far = _evaluate_above(x, 2.0, lambda far_x: _series(f"K{order}_FAR", 4.0 / far_x - 1.0) / apply("sqrt", far_x))
    return where(x < 2, near * apply("exp", low), far)


class _FresnelIntegrals(NamedTuple):
    """The integrals from 0 to x of cos(πt²/2) and sin(πt²/2)."""

    cosine: Real
    sine: Real


def _fresnel(x: Real) -> _FresnelIntegrals:
    """Return Fresnel's integrals for x from 0 on."""
    low, high = apply("minimum", x, 1.6), apply("maximum", x, 1.6)
    low_position, high_position = 2.0 * (low / 1.6) ** 4 - 1.0, 2.0 * (1.6 / high) ** 2 - 1.0
    near_cosine = low * _series("FRESNEL_C", low_position)
    near_sine = low**3 * _series("FRESNEL_S", low_position)
    # The auxiliary functions f and g of 7.5 in NIST's library
    auxiliary_f = _series("FRESNEL_F", high_position) / (math.pi * high)
    auxiliary_g = _series("FRESNEL_G", high_position) / (math.pi**2 * high**3)
    phase = where(high < math.inf, math.pi / 2.0 * high * high, 0.0)  # an infinity has the limit of the integral
    sine, cosine = apply("sin", phase), apply("cos", phase)
    far_cosine = 0.5 + auxiliary_f * sine - auxiliary_g * cosine
    far_sine = 0.5 - auxiliary_f * cosine - auxiliary_g * sine
    return _FresnelIntegrals(where(x < 1.6, near_cosine, far_cosine), where(x < 1.6, near_sine, far_sine))
