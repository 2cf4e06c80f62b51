"""The incomplete gamma and beta functions, and Hurwitz' zeta function.

The formulas are from the NIST Digital Library of Mathematical Functions. 8.11.4 is the series of the gamma function,
8.9.2 its continued fraction, 8.17.22 that of the beta function, and 25.11.5 zeta by the Euler-Maclaurin formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.types import TensorType
from autoconv.ops.elements import special
from autoconv.ops.elements.arrays import BLOCK, kernel_of
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.elementwise.maths import floating_rule
from autoconv.ops.gradients import unbroadcast
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import broadcast

MAX_TERMS = 20_000
TINY = 1e-300  # in the place of a denominator that is 0
LARGE = 2.0**64  # numerators and denominators of continued fractions are scaled below it
ZETA_FROM, ZETA_LAST = 10.0, 30.0
EULER_MACLAURIN = (  # (2j)! / B(2j) for j = 1 …
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1307674368000 / 691, 74724249600.0, -10670622842880000 / 3617,
)  # fmt: skip

_log_gamma, _digamma = kernel_of(special.lgamma), kernel_of(special.digamma)


def _blockwise_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel: broadcast the operands, and compute in float64, some thousand elements at a time."""

    def run(*operands: Any) -> Any:
        arrays = np.broadcast_arrays(*map(np.asarray, operands))
        precision = 2.0**-52 if arrays[0].dtype == np.float64 else 2.0**-30
        flat = [x.reshape(-1) for x in arrays]
        result = np.empty(arrays[0].size, arrays[0].dtype)
        for start in range(0, result.size, BLOCK):
            result[start : start + BLOCK] = function(
                *(x[start : start + BLOCK].astype(np.float64) for x in flat), precision
            )
        return result.reshape(arrays[0].shape)

    return quiet(run)


# ---- gamma


def _gamma_parts(a: Any, x: Any, precision: float, with_slope: bool = False) -> tuple[Any, Any, Any]:
    """Return P and Q, the lower and the upper part of the gamma function of `a` at x, and dP/da if that is requested.

    For x below a + 1 the series gives P, else the continued fraction Q.
    """
    lower, upper, slope = (np.full_like(x, np.nan) for _ in range(3))
    valid = (x >= 0) & (a >= 0) & ~((a == 0) & (x == 0))
    is_limit = valid & ((x == 0) | (a == 0) | np.isinf(x))
    is_one = is_limit & (x != 0)
    lower[is_limit], slope[is_limit] = 0.0, 0.0
    lower[is_one] = 1.0
    inner = valid & ~is_limit & np.isfinite(a)
    lower[valid & np.isinf(a) & np.isfinite(x)] = 0.0
    upper = 1.0 - lower
    series = np.flatnonzero(inner & (x <= a + 1.0))
    if series.size:
        lower[series], slope[series] = _gamma_series(a[series], x[series], precision, with_slope)
        upper[series] = 1.0 - lower[series]
    fraction = np.flatnonzero(inner & (x > a + 1.0))
    if fraction.size:
        upper[fraction], slope[fraction] = _gamma_fraction(a[fraction], x[fraction], precision, with_slope)
        lower[fraction] = 1.0 - upper[fraction]
    return lower, upper, slope


def _gamma_series(a: Any, x: Any, precision: float, with_slope: bool) -> tuple[Any, Any]:
    """Return P and dP/da."""
    total, slope = np.ones_like(x), np.zeros_like(x)
    term, log_slope, active = np.ones_like(x), np.zeros_like(x), np.arange(x.size)
    active_a, active_x = a, x
    for n in range(1, MAX_TERMS):
        term = term * (active_x / (active_a + n))
        total[active] += term
        remainder = term
        if with_slope:
            log_slope = log_slope - 1.0 / (active_a + n)
            slope[active] += term * log_slope
            remainder = term * np.maximum(1.0, -log_slope)
        is_unfinished = remainder > precision * total[active]
        if not is_unfinished.any():
            break
        if np.count_nonzero(is_unfinished) < 0.75 * is_unfinished.size:
            active, term, log_slope = active[is_unfinished], term[is_unfinished], log_slope[is_unfinished]
            active_a, active_x = active_a[is_unfinished], active_x[is_unfinished]
    scale = np.exp(a * np.log(x) - x - _log_gamma(a + 1.0))
    return scale * total, scale * (slope + total * (np.log(x) - _digamma(a + 1.0))) if with_slope else slope


def _gamma_fraction(a: Any, x: Any, precision: float, with_slope: bool) -> tuple[Any, Any]:
    """Return Q and dP/da: numerators and denominators of the continued fraction, and their derivatives by a."""
    values, slopes = np.zeros_like(x), np.zeros_like(x)
    active, operands = np.arange(x.size), (a, x)
    # [numerator, denominator] of the convergent before the last one and of the last one; then their derivatives.
    parts = [np.stack([np.ones_like(x), x]), np.stack([x + 1.0, (x + 2.0 - a) * x])]
    if with_slope:
        parts += [np.zeros_like(parts[0]), np.stack([np.zeros_like(x), -x])]
    for n in range(1, MAX_TERMS):
        y = 1.0 - operands[0] + n
        z, factor = operands[1] + y + 1.0 + n, y * n
        second_last, last = parts[:2]
        following = [last, last * z - second_last * factor]
        value = following[1][0] / following[1][1]
        is_unfinished = np.abs(value - values[active]) > precision * value
        values[active] = value
        if with_slope:
            before_slope, last_slope = parts[2:]
            following += [last_slope, last_slope * z - last - before_slope * factor + second_last * n]
            slope = (following[3][0] - value * following[3][1]) / following[1][1]
            is_unfinished |= np.abs(slope - slopes[active]) > 64 * precision * np.abs(slope)
            slopes[active] = slope
        if not is_unfinished.any():
            break
        if np.count_nonzero(is_unfinished) < 0.75 * is_unfinished.size:
            active, operands = active[is_unfinished], (operands[0][is_unfinished], operands[1][is_unfinished])
            following = [part[:, is_unfinished] for part in following]
        scale = np.where(np.abs(following[1][1]) > LARGE, 1.0 / LARGE, 1.0)
        parts = [part * scale for part in following]
    scale = np.exp(a * np.log(x) - x - _log_gamma(a))
    return scale * values, -scale * (
        slopes + values * (np.log(x) - _digamma(a))
    ) if with_slope else slopes


# ---- beta


def _beta(a: Any, b: Any, x: Any, precision: float) -> Any:
    """Return the regularised incomplete beta function, by the continued fraction on the side where it converges."""
    result = np.full_like(x, np.nan)
    valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
    result[valid & (x == 0)], result[valid & (x == 1)] = 0.0, 1.0
    inner = np.flatnonzero(valid & (x > 0) & (x < 1))
    if inner.size:
        a, b, x = a[inner], b[inner], x[inner]
        is_reflected = x > (a + 1.0) / (a + b + 2.0)
        first, second = np.where(is_reflected, b, a), np.where(is_reflected, a, b)
        argument = np.where(is_reflected, 1.0 - x, x)
        log_scale = _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b) + a * np.log(x) + b * np.log1p(-x)
        value = np.exp(log_scale) * _beta_fraction(first, second, argument, precision) / first
        result[inner] = np.where(is_reflected, 1.0 - value, value)
    return result


def _beta_fraction(a: Any, b: Any, x: Any, precision: float) -> Any:
    """Evaluate the continued fraction by Lentz' method."""
    result, active = np.ones_like(x), np.arange(x.size)
    upper = np.ones_like(x)
    lower = 1.0 / _replace_zeros(1.0 - (a + b) * x / (a + 1.0))
    value = lower.copy()
    for m in range(1, MAX_TERMS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            lower = 1.0 / _replace_zeros(1.0 + factor * lower)
            upper = _replace_zeros(1.0 + factor / upper)
            change = lower * upper
            value = value * change
        result[active] = value
        is_unfinished = np.abs(change - 1.0) > precision
        if not is_unfinished.any():
            break
        if not is_unfinished.all():
            active, value = active[is_unfinished], value[is_unfinished]
            lower, upper = lower[is_unfinished], upper[is_unfinished]
            a, b, x = a[is_unfinished], b[is_unfinished], x[is_unfinished]
    return result


def _replace_zeros(x: Any) -> Any:
    return np.where(np.abs(x) < TINY, TINY, x)


# ---- zeta


def _zeta(x: Any, q: Any, precision: float) -> Any:
    """Return the sum of (q + k)^-x over all k from 0, for x > 1."""
    is_integer = q == np.floor(q)
    undefined = np.isnan(x) | np.isnan(q) | (x < 1) | ((q <= 0) & ~is_integer & (x != np.floor(x)))
    infinite = (x == 1) | ((q <= 0) & is_integer)
    argument = np.where(undefined | infinite, 1.0, q)
    power = np.where(undefined | infinite, 2.0, x)
    total = np.zeros_like(argument)
    start = np.clip(power, ZETA_FROM, ZETA_LAST)  # the formula's terms fall where it exceeds the power
    while True:
        small = argument < start
        if not small.any():
            break
        term = argument**-power
        total = np.where(small, total + term, total)
        start = np.where(np.abs(term) < 0.125 * precision * np.abs(total), 0.0, start)  # the rest does not count
        argument = np.where(small, argument + 1.0, argument)
    term = argument**-power
    total = total + term * argument / (power - 1.0) + 0.5 * term
    factor, term, square = power, term / argument, 1.0 / (argument * argument)
    for j, divisor in enumerate(EULER_MACLAURIN):
        total = total + factor * term / divisor
        factor = factor * (power + 2 * j + 1) * (power + 2 * j + 2)
        term = term * square
    return np.where(undefined, np.nan, np.where(infinite, np.inf, total))


# ---- the ops


def _density(b: Builder, a: Any, x: Any) -> Any:
    """Return x^(a-1)·e^-x / Γ(a), the slope of the lower part."""
    return b.exp(b.subtract(b.subtract(b.xlogy(b.subtract(a, b.ones_like(a)), x), x), b.lgamma(a)))


def _gamma_gradient(sign: int) -> Any:
    def gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        a, x = inputs
        cotangent = cotangents[0] if sign > 0 else b.negative(cotangents[0])
        by_a = b.multiply(cotangent, b.igamma_slope(a, x))
        return unbroadcast(b, by_a, a), unbroadcast(b, b.multiply(cotangent, _density(b, a, x)), x)

    return gradient


def _beta_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    first, second, x = inputs
    ones = b.ones_like(x)
    logarithm = b.add(b.xlogy(b.subtract(first, b.ones_like(first)), x),
                      b.xlogy(b.subtract(second, b.ones_like(second)), b.subtract(ones, x)))  # fmt: skip
    scale = b.subtract(b.lgamma(b.add(first, second)), b.add(b.lgamma(first), b.lgamma(second)))
    return None, None, unbroadcast(b, b.multiply(cotangents[0], b.exp(b.add(logarithm, scale))), x)


def _zeta_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    x, q = inputs
    slope = b.negative(b.multiply(x, b.zeta(b.add(x, b.ones_like(x)), q)))
    return None, unbroadcast(b, b.multiply(cotangents[0], slope), q)


def _define(name: str, graphdef: str, function: Callable[..., Any], gradient: Any, *samples: Any) -> None:
    def result(*inputs: TensorType, **_: Any) -> TensorType:
        floating = floating_rule(name, complex_too=False)
        return broadcast(*map(floating, inputs))

    define(
        name=name, graphdef=graphdef, result=result, kernel=_blockwise_kernel(function), gradient=gradient, unify="all",
        elementwise=True, costly=True, samples=samples,
    )  # fmt: skip


_A, _X = np.array([0.5, 2.0, 9.5]), np.array([0.75, 3.5, 8.0])
_FRACTIONS = np.array([0.25, 0.5, 0.875])
_GAMMA_SAMPLE = sample(_A, _X, differentiable=(1,))  # second derivatives by the parameter are refused
_define("igamma", "Igamma", lambda *given: _gamma_parts(*given)[0], _gamma_gradient(1), _GAMMA_SAMPLE)
_define("igammac", "Igammac", lambda *given: _gamma_parts(*given)[1], _gamma_gradient(-1), _GAMMA_SAMPLE)
_define(
    "igamma_slope", "IgammaGradA", lambda a, x, precision: _gamma_parts(a, x, precision, True)[2],
    no_gradient("the second derivative of igamma by its first operand is not written"), sample(_A, _X),
)  # fmt: skip
_define(
    "betainc", "Betainc", _beta, _beta_gradient,
    sample(np.array([0.5, 2.0, 9.5]), np.array([3.0, 0.75, 4.0]), _FRACTIONS, differentiable=(2,)),
)  # fmt: skip
_define("zeta", "Zeta", _zeta, _zeta_gradient, sample(np.array([1.5, 2.0, 6.0]), _X, differentiable=(1,)))
