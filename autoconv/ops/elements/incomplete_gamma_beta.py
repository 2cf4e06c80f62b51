"""Element rules of the regularised incomplete gamma and beta functions, computed in float64 for operands of any dtype.

The formulas are from the NIST Digital Library of Mathematical Functions: 8.11.4 is the series of the gamma function,
8.9.2 its continued fraction, 8.17.22 that of the beta function. The rules evaluate each series and fraction for all
elements. For the elements that do not use it, they replace the operands by others, so that the iteration ends soon.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autoconv.graph.dtypes import float64
from autoconv.ops.elements.maths import apply, horner
from autoconv.ops.elements.registry import Elements, Rule, element
from autoconv.ops.elements.special import STIRLING, digamma, lgamma

MAX_TERMS = 20_000
_TINY = 1e-300  # replaces numbers near 0, so that no quotient by them is infinite
_LARGE = 2.0**64  # numerators and denominators of continued fractions are scaled below it
_STIRLING_FROM = 12.0  # the least parameter for which Stirling's series is exact


def in_float64(b: Elements, name: str, rule: Rule, *operands: Any) -> Any:
    """Return the result of `rule(b, *numbers, precision)`, computed in float64 and rounded to the operands' dtype.

    Generated code computes the rule by a separate function called `name`. `precision` is the relative size below which
    further terms make no difference in the dtype.
    """
    dtype = operands[0].dtype
    precision = 2.0**-52 if dtype is float64 else 2.0**-30
    wide_operands = [b.cast(x, float64) for x in operands]
    return b.cast(b.routine(name, lambda b, *numbers: rule(b, *numbers, precision), *wide_operands), dtype)


# ---- gamma


class _GammaParts(NamedTuple):
    """The regularised incomplete gamma functions P(a, x) (`lower`) and Q = 1 - P (`upper`), and dP/da.

    The slope dP/da is 0 unless it is requested.
    """

    lower: Any
    upper: Any
    slope: Any


@element("igamma")
def igamma(b: Elements, a: Any, x: Any) -> Any:
    return in_float64(b, "igamma", lambda *operands: _gamma_parts(*operands).lower, a, x)


@element("igammac")
def igammac(b: Elements, a: Any, x: Any) -> Any:
    return in_float64(b, "igammac", lambda *operands: _gamma_parts(*operands).upper, a, x)


@element("igamma_slope")
def igamma_slope(b: Elements, a: Any, x: Any) -> Any:
    def slope(b: Elements, a: Any, x: Any, precision: float) -> Any:
        return _gamma_parts(b, a, x, precision, with_slope=True).slope

    return in_float64(b, "igamma_slope", slope, a, x)


def _gamma_parts(b: Elements, a: Any, x: Any, precision: float, with_slope: bool = False) -> _GammaParts:
    """Return P(a, x), Q(a, x) and the slope: for x up to a + 1 the series gives P, else the fraction gives Q."""
    zero, undefined = b.constant(0.0, float64), b.constant(math.nan, float64)
    is_valid = (x >= 0.0) & (a >= 0.0) & ~(a.same(0.0) & x.same(0.0))
    is_limit = is_valid & (x.same(0.0) | a.same(0.0) | x.same(math.inf))
    is_inner = is_valid & ~is_limit & (a < math.inf)
    in_series, in_fraction = is_inner & (x <= a + 1.0), is_inner & (x > a + 1.0)
    lower = b.select(is_limit, b.select(x.differs(0.0), 1.0, zero), undefined)
    lower = b.select(is_valid & a.same(math.inf) & (x < math.inf), 0.0, lower)
    lower_by_series, series_slope = _gamma_series(b, in_series, a, x, precision, with_slope)
    upper_by_fraction, fraction_slope = _gamma_fraction(b, in_fraction, a, x, precision, with_slope)
    upper = b.select(in_series, 1.0 - lower_by_series, b.select(in_fraction, upper_by_fraction, 1.0 - lower))
    lower = b.select(in_series, lower_by_series, b.select(in_fraction, 1.0 - upper_by_fraction, lower))
    other_slope = b.select(is_limit, zero, undefined)
    slope = b.select(in_series, series_slope, b.select(in_fraction, fraction_slope, other_slope))
    return _GammaParts(lower, upper, slope)


def _gamma_series(
    b: Elements, active: Any, a: Any, x: Any, precision: float, with_slope: bool
) -> tuple[Any, Any]:
    """Return P and dP/da by the series; `active` is true for the elements that use it."""
    a, x = b.select(active, a, 1.0), b.select(active, x, 1.0)

    def step(n: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        """Add the next term of the series, and with `with_slope` that of the slope's series."""
        total, slope, term, log_slope = state
        term = term * (x / (a + n))
        total, remainder = total + term, term
        if with_slope:
            log_slope = log_slope - 1.0 / (a + n)
            slope = slope + term * log_slope
            remainder = b.select(log_slope < -1.0, -(term * log_slope), term)
        return remainder > total * precision, [total, slope, term, log_slope]

    zero, one = b.constant(0.0, float64), b.constant(1.0, float64)
    total, slope, *_ = b.iterate(active, [one, zero, one, zero], step, MAX_TERMS)
    scale = _gamma_density(b, a, x)
    if with_slope:
        slope = scale * (slope + total * (apply(b, "log", x) - digamma(b, a + 1.0)))
    return scale * total, slope


def _gamma_fraction(
    b: Elements, active: Any, a: Any, x: Any, precision: float, with_slope: bool
) -> tuple[Any, Any]:
    """Return Q and dP/da by the continued fraction; `active` is true for the elements that use it.

    `parts` in the state of the iteration are four numbers: the numerator and the denominator of the convergent before
    the last one, and those of the last one. With the slope, their derivatives by a follow.
    """
    a, x = b.select(active, a, 1.0), b.select(active, x, 3.0)

    def step(n: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        """Compute the next convergent of the continued fraction, and with `with_slope` the slope's."""
        value, slope, *parts = state
        offset = 1.0 - a + n
        denominator, factor = x + offset + 1.0 + n, offset * n
        before_last, last = parts[:2], parts[2:4]
        new_terms = [q * denominator - p * factor for p, q in zip(before_last, last, strict=True)]
        convergent = new_terms[0] / new_terms[1]
        continues = b.intrinsic("fabs", convergent - value) > convergent * precision
        next_parts = [*last, *new_terms]
        if with_slope:
            slope_before_last, last_slope = parts[4:6], parts[6:]
            new_slope = [
                q * denominator - last[i] - p * factor + before_last[i] * n
                for i, (p, q) in enumerate(zip(slope_before_last, last_slope, strict=True))
            ]
            convergent_slope = (new_slope[0] - convergent * new_slope[1]) / new_terms[1]
            slope_change = b.intrinsic("fabs", convergent_slope - slope)
            slope_size = b.intrinsic("fabs", convergent_slope)
            # The slope is a difference of larger numbers, whose rounding errors keep it from settling further.
            continues = continues | (slope_change > slope_size * (64 * precision))
            slope, next_parts = convergent_slope, [*next_parts, *last_slope, *new_slope]
        scale = b.select(b.intrinsic("fabs", new_terms[1]) > _LARGE, 1.0 / _LARGE, b.constant(1.0, float64))
        return continues, [convergent, slope, *(part * scale for part in next_parts)]

    zero, one = b.constant(0.0, float64), b.constant(1.0, float64)
    initial_parts = [one, x, x + 1.0, (x + 2.0 - a) * x, *([zero, zero, zero, -x] if with_slope else [])]
    value, slope, *_ = b.iterate(active, [zero, zero, *initial_parts], step, MAX_TERMS)
    scale = _gamma_density(b, a, x) * a
    if with_slope:
        slope = -(scale * (slope + value * (apply(b, "log", x) - digamma(b, a))))
    return scale * value, slope


def _gamma_density(b: Elements, a: Any, x: Any) -> Any:
    """Return x^a · e^-x / Γ(a + 1).

    The logarithms of the factors nearly cancel for a large `a`. There the result is computed as the product of
    the density at x = a and the ratio of the densities at x and at a.
    """
    is_large = a >= _STIRLING_FROM
    log_density = a * apply(b, "log", x) - x - lgamma(b, b.select(is_large, 1.0, a) + 1.0)
    large_a = b.select(is_large, a, _STIRLING_FROM)
    distance = (x - large_a) / large_a
    inverse = 1.0 / large_a
    stirling_correction = horner(b, inverse * inverse, STIRLING) * inverse
    log_ratio = large_a * (apply(b, "log1p", distance) - distance) - stirling_correction
    factor = 1.0 / b.intrinsic("sqrt", large_a * (2.0 * math.pi))
    return b.select(is_large, apply(b, "exp", log_ratio) * factor, apply(b, "exp", log_density))


# ---- beta


@element("betainc")
def betainc(b: Elements, first: Any, second: Any, x: Any) -> Any:
    return in_float64(b, "betainc", _beta, first, second, x)


def _beta(b: Elements, first: Any, second: Any, x: Any, precision: float) -> Any:
    """Return the regularised incomplete beta function of the parameters `first` and `second` at x.

    The continued fraction converges fast for small x. For large x it is evaluated at 1 - x, with exchanged parameters.
    """
    is_valid = (first > 0.0) & (second > 0.0) & (x >= 0.0) & (x <= 1.0)
    is_inner = is_valid & (x > 0.0) & (x < 1.0)
    at_boundary = b.select(x.same(1.0), 1.0, b.constant(0.0, float64))
    at_boundary = b.select(is_valid, at_boundary, b.constant(math.nan, float64))
    first, second, x = b.select(is_inner, first, 1.0), b.select(is_inner, second, 1.0), b.select(is_inner, x, 0.5)
    is_reflected = x > (first + 1.0) / (first + second + 2.0)
    p, q = b.select(is_reflected, second, first), b.select(is_reflected, first, second)
    fraction = _beta_fraction(b, is_inner, (p, q, b.select(is_reflected, 1.0 - x, x)), precision)
    tail = _beta_density(b, first, second, x) * fraction / p
    return b.select(is_inner, b.select(is_reflected, 1.0 - tail, tail), at_boundary)


def _beta_density(b: Elements, first: Any, second: Any, x: Any) -> Any:
    """Return x^first · (1-x)^second / B(first, second), by densities of the gamma function."""
    total = first + second
    product = _gamma_density(b, first, total * x) * _gamma_density(b, second, total * (1.0 - x))
    return product / _gamma_density(b, total, total) * (first * (second / total))


def _beta_fraction(b: Elements, active: Any, operands: tuple[Any, Any, Any], precision: float) -> Any:
    """Return the value of the continued fraction with the parameters p and q at x; `operands` are (p, q, x).

    In Lentz' method, `c` is the ratio of the last two numerators, `d` the inverse ratio of the last two denominators.
    """
    p, q, x = operands

    def nonzero(value: Any) -> Any:
        return b.select(b.intrinsic("fabs", value) < _TINY, _TINY, value)

    def step(m: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        """Multiply the value by the even and the odd factor of the next terms of the continued fraction."""
        value, d, c = state
        twice_m, change = m + m, value
        for factor in (
            m * (q - m) * x / ((p + twice_m - 1.0) * (p + twice_m)),
            -((p + m) * (p + q + m) * x / ((p + twice_m) * (p + twice_m + 1.0))),
        ):
            d, c = 1.0 / nonzero(factor * d + 1.0), nonzero(factor / c + 1.0)
            change = d * c
            value = value * change
        return b.intrinsic("fabs", change - 1.0) > precision, [value, d, c]

    start = 1.0 / nonzero(1.0 - (p + q) * x / (p + 1.0))
    return b.iterate(active, [start, start, b.constant(1.0, float64)], step, MAX_TERMS)[0]
