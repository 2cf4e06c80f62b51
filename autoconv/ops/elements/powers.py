"""Vectorisable rule of powers, for loops: x^y = e^(y·log x), with the logarithm as a sum of two numbers.

The exponential turns the absolute error of y·log x, which may be as large as 709, into a relative one. The logarithm
therefore needs 11 bits more than a number has. Powers in float32 are computed in float64, which has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autoconv.graph.dtypes import float32, float64, int64
from autoconv.ops.elements.logarithms import reduce_to_mantissa
from autoconv.ops.elements.maths import EXPM1, VECTORISED, power_of_two, reduce_by_ln2
from autoconv.ops.elements.registry import Elements

# Polynomials, the highest power first, interpolated in Chebyshev's points for |s| up to 0.1716, |r| up to ln(2)/2:
# (2·atanh(s) - 2·s - 2/3·s³) / s⁵ in powers of s²; for float32 2·atanh(s) / s, and (e^r - 1 - r) / r².
_TAIL = (
    0.11723689023649227, 0.11706187519978793, 0.133348065173055, 0.1538459492898411,
    0.1818181833570672, 0.222222222216545, 0.2857142857142937, 0.4,
)  # fmt: skip
_LOGARITHM_32 = (
    0.23617085214032668, 0.2853501365631014, 0.40000385261318194, 0.6666666524460217, 2.000000000008381,
)  # fmt: skip
_EXPM1_32 = (
    0.00019891080463998843, 0.0013933730715792083, 0.008333310844647862, 0.04166646419740569, 0.16666666681704215,
    0.500000001353873,
)  # fmt: skip
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)  # products of the first one with exponents are exact
_LARGEST_EXPONENT = 708.0  # e^x and 1 / e^x are normal numbers up to here
_LARGEST_EXPONENT_32 = 200.0  # e^x is inf in float32, and 1 / e^x is 0, beyond half of it


def _polynomial(b: Elements, x: Any, coefficients: Sequence[float]) -> Any:
    """Return the value of a polynomial at x by Estrin's scheme, whose chain of operations is shorter than Horner's."""
    terms = [b.constant(coefficient, x.dtype) for coefficient in reversed(coefficients)]
    while len(terms) > 1:
        pairs = [b.fma(x, terms[i + 1], terms[i]) for i in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[2 * len(pairs) :]]
        x = x * x
    return terms[0]


class _Sum(NamedTuple):
    """An unevaluated sum of two numbers; the second one is a rounding error of the first."""

    upper: Any
    lower: Any


def _product(b: Elements, x: _Sum, y: _Sum) -> _Sum:
    upper = x.upper * y.upper
    error = b.fma(x.upper, y.upper, -upper)
    return _Sum(upper, b.fma(x.upper, y.lower, b.fma(x.lower, y.upper, error)))


def _add_smaller(larger: Any, smaller: Any, lower: Any) -> _Sum:
    """Return the sum of a number, a smaller one, and a still smaller one."""
    upper = larger + smaller
    return _Sum(upper, ((larger - upper) + smaller) + lower)


def _logarithm(b: Elements, x: Any) -> _Sum:
    """Return the natural logarithm of a positive finite float64, by the series of 2·atanh(s) for s = f / (2 + f)."""
    exponent, f = reduce_to_mantissa(b, x)
    divisor = f + 2.0
    inverse = 1.0 / divisor
    quotient = f * inverse
    remainder = b.fma(-quotient, divisor, f) - quotient * (f - (divisor - 2.0))
    s = _Sum(quotient, remainder * inverse)
    square = _product(b, s, s)
    two_thirds = _Sum(b.constant(2 / 3, float64), b.constant(3.700743415417188e-17, float64))
    cubic = _product(b, _product(b, square, s), two_thirds)
    tail = quotient * (square.upper * square.upper) * _polynomial(b, square.upper, _TAIL)
    series = _add_smaller(quotient * 2.0, cubic.upper, b.fma(s.lower, b.constant(2.0, float64), cubic.lower) + tail)
    lower = b.fma(exponent, b.constant(_LN2[1], float64), series.lower)
    logarithm = _add_smaller(exponent * _LN2[0], series.upper, lower)
    return _add_smaller(logarithm.upper, logarithm.lower, 0.0)


def _power_of_regular(b: Any, x: Any, y: Any) -> Any:
    """Return x^y for a positive finite x and a finite y; mark powers as rare that are no normal numbers."""
    exponent = _product(b, _logarithm(b, x), _Sum(y, b.constant(0.0, float64)))
    is_in_range = b.intrinsic("fabs", exponent.upper) < _LARGEST_EXPONENT
    b.mark_rare(~is_in_range)
    n, reduced_exponent = reduce_by_ln2(b, b.select(is_in_range, exponent.upper, 0.0))
    r = reduced_exponent + b.select(is_in_range, exponent.lower, 0.0)
    return (b.fma(_polynomial(b, r, EXPM1[float64]), r * r, r) + 1.0) * power_of_two(b, n)


def _power_of_regular_32(b: Elements, x: Any, y: Any) -> Any:
    """Return x^y in float64, for numbers that are in float32, to the digits of float32."""
    exponent, f = reduce_to_mantissa(b, x)
    s = f / (f + 2.0)
    logarithm = b.fma(exponent, b.constant(_LN2[0], float64), s * _polynomial(b, s * s, _LOGARITHM_32))
    limit = b.constant(_LARGEST_EXPONENT_32, float64)
    product = y * logarithm
    product = b.select(product > limit, limit, b.select(product < -limit, -limit, product))
    n, r = reduce_by_ln2(b, product)
    return (b.fma(_polynomial(b, r, _EXPM1_32), r * r, r) + 1.0) * power_of_two(b, n)


class _Classes(NamedTuple):
    """Bools of a base and an exponent."""

    is_regular: Any  # finite numbers, a base other than zero, and a real power
    is_zero: Any  # a zero with a positive exponent
    is_nan: Any
    is_negative: Any  # a base with a sign, and an odd exponent


def _classify(b: Any, x: Any, y: Any) -> _Classes:
    """Classify a base and an exponent; mark pairs as rare whose power is infinite, invalid, or 1 in spite of a nan.

    Numbers are compared by their bits, because comparisons of floats raise the flag of invalid values for nans.
    """
    infinity = b.bitcast(b.constant(float("inf"), float64), int64)
    magnitude_bits = b.constant(0x7FFFFFFFFFFFFFFF, int64)
    x_bits, y_bits = b.bitcast(x, int64), b.bitcast(y, int64)
    x_magnitude, y_magnitude = b.bits("and", x_bits, magnitude_bits), b.bits("and", y_bits, magnitude_bits)
    are_finite = (x_magnitude < infinity) & (y_magnitude < infinity)
    is_nan = (x_magnitude > infinity) | (y_magnitude > infinity)
    half = y * 0.5
    is_integer = b.intrinsic("floor", y).same(y)
    is_odd = is_integer & b.intrinsic("floor", half).differs(half)
    is_zero = are_finite & x_magnitude.same(0) & (y_bits > 0)
    is_regular = are_finite & (x_magnitude > 0) & (is_integer | (x_bits > 0))
    is_one = y_magnitude.same(0) | x.same(1.0)
    b.mark_rare((is_nan & is_one) | ~(is_nan | is_zero | is_regular))
    return _Classes(is_regular, is_zero, is_nan, is_odd & (x_bits < 0))


def _power(b: Any, x: Any, y: Any) -> Any:
    """Return x^y, within a unit in the last place."""
    wide_x, wide_y = b.cast(x, float64), b.cast(y, float64)
    classes = _classify(b, wide_x, wide_y)
    base = b.select(classes.is_regular, b.intrinsic("fabs", wide_x), 1.0)
    exponent = b.select(classes.is_regular, wide_y, 1.0)
    power = (_power_of_regular_32 if x.dtype is float32 else _power_of_regular)(b, base, exponent)
    power = b.select(classes.is_zero, 0.0, power)
    power = b.select(classes.is_negative, -power, power)
    return b.cast(b.select(classes.is_nan, wide_x + wide_y, power), x.dtype)


VECTORISED["power"] = _power
