"""Inverse trigonometric and hyperbolic functions of complex numbers in terms of real ones.

Branch cuts, signed zeros, infinities and nans are as in C's Annex G. Each rule is `(b, x, y) -> (real, imag)` for
z = x + iy. Formulas are Kahan's (Branch cuts for complex elementary functions, 1987). Let √(1-z) = p ∓ iq and
√(1+z) = u ± iv with p, q, u, v ≥ 0. The real part of the arc sine is atan(x / (pu + qv)), and the magnitude of its
imaginary part is asinh(pv + qu). The sums have no cancellation, so that each part is within 8 units in its last place.
The imaginary part of a large number is computed from the logarithm of the magnitude. That is the method of Hull,
Fairgrieve and Tang (Implementing the complex arcsine and arccosine functions using exception handling, 1997).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.graph.dtypes import float32
from autoconv.graph.graph import Value
from autoconv.ops.builder import GraphBuilder

Pair = tuple[Value, Value]  # real and imaginary part
_INFINITY = float("inf")


class _Bounds(NamedTuple):
    """Bounds for the magnitude of the real or the imaginary part of a number; squares are those of the part."""

    negligible_one: float  # above it, 1 is negligible beside the square
    overflow: float  # above it, the square overflows, so numbers are scaled by 2 to the power `exponent`
    exponent: int
    underflow: float  # below it, the square underflows


_FLOAT32_BOUNDS = _Bounds(2.0**13, 2.0**60, -80, 2.0**-40)
_FLOAT64_BOUNDS = _Bounds(2.0**28, 2.0**500, -600, 2.0**-400)


def _bounds(x: Value) -> _Bounds:
    """Return the bounds for the dtype of a part."""
    return _FLOAT32_BOUNDS if x.dtype is float32 else _FLOAT64_BOUNDS


def _root(b: GraphBuilder, x: Any, height: Any) -> tuple[Any, Any]:
    """Return both parts of the square root of x + i·height, a number of moderate size; `height` is not negative."""
    width = b.abs(x)
    length = b.sqrt(b.multiply_add(width, width, b.multiply(height, height)))
    length = b.select(b.equal(width, 0.0), height, length)
    root = b.multiply(b.sqrt(b.multiply(b.add(length, width), 2.0)), 0.5)
    other_part = b.select(b.equal(root, 0.0), root, b.divide(height, b.multiply(root, 2.0)))
    is_right_half = b.greater_equal(x, 0.0)
    return b.select(is_right_half, root, other_part), b.select(is_right_half, other_part, root)


def _log_of_double(b: GraphBuilder, x: Any, y: Any) -> Any:
    """Return the logarithm of twice the magnitude of a large number."""
    exponent = _bounds(x).exponent
    is_huge = _exceeds(b, x, y, _bounds(x).overflow)
    ones = b.ones_like(x)
    scale = b.select(is_huge, b.multiply(ones, 2.0**exponent), ones)
    first, second = b.multiply(x, scale), b.multiply(y, scale)
    length = b.sqrt(b.multiply_add(first, first, b.multiply(second, second)))
    correction = b.select(is_huge, b.multiply(ones, (1 - exponent) * math.log(2)), b.multiply(ones, math.log(2)))
    return b.add(b.log(length), correction)


def _exceeds(b: GraphBuilder, x: Any, y: Any, bound: float) -> Any:
    """Return whether the magnitude of x or of y exceeds the bound; an infinite one always does."""
    return b.logical_or(b.greater(b.abs(x), bound), b.greater(b.abs(y), bound))


def _is_infinite(b: GraphBuilder, x: Any, y: Any) -> Any:
    """Return whether x or y is infinite."""
    return b.logical_or(b.is_inf(x), b.is_inf(y))


def _arc_cosine_lengths(b: GraphBuilder, x: Value, y: Value) -> tuple[Any, Any]:
    """Return two lengths that determine the arc cosine.

    Its real part is an angle of a right triangle with the adjacent leg x; the first length is the opposite leg. The
    second is the magnitude of its imaginary part.
    """
    height, is_large = b.abs(y), _exceeds(b, x, y, _bounds(x).negligible_one)
    (p, q), (u, v) = _root(b, b.subtract(1.0, x), height), _root(b, b.add(x, 1.0), height)
    side = b.multiply_add(p, u, b.multiply(q, v))
    sinh_of_distance = b.multiply_add(p, v, b.multiply(q, u))
    square = b.multiply(sinh_of_distance, sinh_of_distance)
    excess = b.divide(square, b.add(b.sqrt(b.add(square, 1.0)), 1.0))
    distance = b.select(is_large, _log_of_double(b, x, y), b.log1p(b.add(sinh_of_distance, excess)))
    distance = b.select(_is_infinite(b, x, y), b.multiply(b.ones_like(x), _INFINITY), distance)
    return b.select(is_large, height, side), distance


def asin(b: GraphBuilder, x: Value, y: Value) -> Pair:
    side, distance = _arc_cosine_lengths(b, x, y)
    return b.select(b.equal(x, 0.0), x, b.atan2(x, side)), b.copysign(distance, y)


def acos(b: GraphBuilder, x: Value, y: Value) -> Pair:
    angle, distance = _arc_cosine(b, x, y)
    return angle, b.copysign(distance, b.negative(y))


def acosh(b: GraphBuilder, x: Value, y: Value) -> Pair:
    angle, distance = _arc_cosine(b, x, y)
    return distance, b.copysign(angle, y)


def _arc_cosine(b: GraphBuilder, x: Value, y: Value) -> Pair:
    """Return the real part of the arc cosine, and the magnitude of its imaginary part."""
    side, distance = _arc_cosine_lengths(b, x, y)
    right_angle = b.multiply(b.ones_like(x), math.pi / 2)
    return b.select(b.equal(x, 0.0), right_angle, b.atan2(side, x)), distance


def atanh(b: GraphBuilder, x: Value, y: Value) -> Pair:
    """Return a quarter of log(1 + 4x / |1 - z|²), and half of the angle of (1 + z) / (1 - z).

    For large z the real part is that of 1/z, and the imaginary part is ±π/2.
    """
    width, height, is_large = b.abs(x), b.abs(y), _exceeds(b, x, y, _bounds(x).negligible_one)
    one_minus_width, one_plus_width, square = b.subtract(1.0, width), b.add(width, 1.0), b.multiply(height, height)
    ratio = b.divide(b.multiply(width, 4.0), b.multiply_add(one_minus_width, one_minus_width, square))
    moderate_real = b.multiply(b.log1p(ratio), 0.25)
    is_near_pole = b.logical_and(b.equal(width, 1.0), b.less(height, _bounds(x).underflow))
    moderate_real = b.select(is_near_pole, b.multiply(b.subtract(math.log(2), b.log(height)), 0.5), moderate_real)
    real = b.select(is_large, _real_of_inverse(b, width, height), moderate_real)
    real = b.select(_is_infinite(b, x, y), b.zeros_like(x), real)
    adjacent = b.subtract(b.multiply(one_minus_width, one_plus_width), square)
    angle = b.multiply(b.atan2(b.multiply(height, 2.0), adjacent), 0.5)
    angle = b.select(_exceeds(b, x, y, _bounds(x).overflow), b.multiply(b.ones_like(x), math.pi / 2), angle)
    is_undefined = b.logical_or(b.is_nan(y), b.logical_and(b.is_nan(x), b.logical_not(b.is_inf(y))))
    angle = b.select(is_undefined, b.multiply(b.ones_like(x), float("nan")), angle)
    return b.select(b.equal(x, 0.0), x, b.copysign(real, x)), b.copysign(angle, y)


def _real_of_inverse(b: GraphBuilder, width: Any, height: Any) -> Any:
    """Return the real part of 1/z, width / (width² + height²), without overflow."""
    width_is_larger = b.greater(width, height)
    large, small = b.select(width_is_larger, width, height), b.select(width_is_larger, height, width)
    ratio = b.divide(small, large)
    width_ratio = b.divide(width, large)
    # Do not divide a quotient by `large`: XLA would multiply the divisors, and the product may overflow.
    quotient = b.divide(width_ratio, b.multiply_add(ratio, ratio, b.ones_like(ratio)))
    return b.multiply(quotient, b.divide(1.0, large))


def rotated_rule(rule: Callable[..., Pair]) -> Callable[..., Pair]:
    """Return the rule of -i·f(iz); `rule` is that of f, an odd function that is real on the real axis."""

    def rotated(b: GraphBuilder, x: Value, y: Value) -> Pair:
        real, imag = rule(b, y, x)
        return imag, real

    return rotated


INVERSES: dict[str, Callable[..., Pair]] = {
    "asin": asin, "acos": acos, "acosh": acosh, "atanh": atanh, "asinh": rotated_rule(asin),
    "atan": rotated_rule(atanh),
}  # fmt: skip
