"""Elementary functions of complex numbers in terms of real ones.

Infinities, nans and signed zeros are as in C's Annex G. Each rule is `(b, x, y) -> (real, imag)` for x + iy. Formulas
are Kahan's (Branch cuts for complex elementary functions, 1987). Factors that are powers of two, or of e, keep squares
and exponentials in range until the product is small again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.backends.llvm.legalize.complex.parts import Parts
from autoconv.graph.dtypes import float32, float64
from autoconv.graph.graph import Value
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.elementwise.complex_inverses import INVERSES, rotated_rule

_INFINITY = float("inf")
# (upper bound, exponent of two for numbers above it, lower bound, exponent for numbers below it): numbers beyond the
# bounds are scaled before they are squared. Exponents are even.
_SCALES = {float32: (2.0**40, -80, 2.0**-40, 80), float64: (2.0**400, -600, 2.0**-400, 600)}


def _is_single(x: Value) -> bool:
    """Return whether a number is a float32."""
    return x.dtype is float32


def _sort_magnitudes(b: GraphBuilder, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the larger and the smaller of two magnitudes."""
    is_ordered = b.greater(x, y)
    return b.select(is_ordered, x, y), b.select(is_ordered, y, x)


def _scale(b: GraphBuilder, magnitude: Any) -> tuple[Any, Callable[[Callable[[int], float]], Any]]:
    """Return a power of two that brings a magnitude near 1, and a function that computes values from its exponent.

    The second takes a function of the exponent, and selects its value at the exponent of each magnitude. The exponent
    is 0 where no scaling is needed.
    """
    upper_bound, large_exponent, lower_bound, small_exponent = _SCALES[magnitude.dtype]
    is_large, is_small, ones = b.greater(magnitude, upper_bound), b.less(magnitude, lower_bound), b.ones_like(magnitude)

    def select_by_exponent(function: Callable[[int], float]) -> Any:
        exponents = (small_exponent, large_exponent, 0)
        small_value, large_value, unscaled_value = (b.multiply(ones, function(n)) for n in exponents)
        return b.select(is_large, large_value, b.select(is_small, small_value, unscaled_value))

    return select_by_exponent(lambda n: 2.0**n), select_by_exponent


def exp(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Multiply exp(x) by the sine and cosine of y."""
    # Beyond the limit, exp(x - limit) is multiplied by exp(limit) last: exp(x) alone would overflow.
    limit = 80.0 if _is_single(x) else 700.0
    is_large = b.greater(x, limit)
    magnitude = b.exp(b.select(is_large, b.subtract(x, limit), x))
    scale = b.select(is_large, b.multiply(b.ones_like(x), math.exp(limit)), b.ones_like(x))
    real = b.multiply(b.multiply(magnitude, b.cos(y)), scale)
    imag = b.multiply(b.multiply(magnitude, b.sin(y)), scale)
    is_not_finite = b.logical_not(b.is_finite(y))
    is_exact = b.logical_and(is_not_finite, b.is_inf(x))  # infinite or zero at any angle
    real = b.select(is_exact, magnitude, real)
    imag = b.select(b.logical_and(is_exact, b.less(x, 0.0)), b.copysign(magnitude, y), imag)
    return real, b.select(b.equal(y, 0.0), y, imag)


def log(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Return the logarithm of the magnitude, computed as half the logarithm of its square, and the angle.

    Near the unit circle, the squared magnitude minus 1 is computed to twice the digits, for log1p.
    """
    large, small = _sort_magnitudes(b, b.abs(x), b.abs(y))
    scale, select_by_exponent = _scale(b, large)
    first, second = b.multiply(large, scale), b.multiply(small, scale)
    square = b.multiply_add(first, first, b.multiply(second, second))
    scaled_log = b.add(b.multiply(b.log(square), 0.5), select_by_exponent(lambda n: -n * math.log(2)))
    large_minus_one = b.subtract(large, 1.0)
    squares = [(b.multiply(z, z), z) for z in (small, large_minus_one)]
    (main_square, _), (other_square, _) = squares
    errors = [b.multiply_add(z, z, b.negative(product)) for product, z in squares]
    total = b.add(main_square, other_square)
    rounded_other = b.subtract(total, main_square)
    rounded_main = b.subtract(total, rounded_other)
    rounding_error = b.add(b.subtract(main_square, rounded_main), b.subtract(other_square, rounded_other))
    square_minus_one = b.add(b.add(b.multiply(large_minus_one, 2.0), total), b.add(rounding_error, b.add(*errors)))
    is_near_one = b.logical_and(b.greater(square, 0.5), b.less(square, 2.0))
    is_near_one = b.logical_and(is_near_one, b.equal(scale, 1.0))
    log_square = b.log1p(b.select(is_near_one, square_minus_one, b.zeros_like(square_minus_one)))
    real = b.select(is_near_one, b.multiply(log_square, 0.5), scaled_log)
    is_infinite = b.logical_or(b.is_inf(x), b.is_inf(y))
    return b.select(is_infinite, b.multiply(b.ones_like(x), _INFINITY), real), b.atan2(y, x)


def expm1(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Follow NumPy: the cosine's distance from 1 is computed from the sine of half the angle."""
    sine_of_half = b.sin(b.multiply(y, 0.5))
    real = b.subtract(b.multiply(b.expm1(x), b.cos(y)), b.multiply(b.multiply(sine_of_half, sine_of_half), 2.0))
    return real, b.multiply(b.exp(x), b.sin(y))


def log1p(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Follow NumPy's formula."""
    x_plus_one = b.add(x, 1.0)
    return b.log(b.hypot(x_plus_one, y)), b.atan2(y, x_plus_one)


def sqrt(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Compute the larger part, √((|x + iy| + |x|) / 2), and the smaller one, |y| / 2 over the larger."""
    abs_x, abs_y = b.abs(x), b.abs(y)
    scale, select_by_exponent = _scale(b, _sort_magnitudes(b, abs_x, abs_y)[0])
    first, second = b.multiply(abs_x, scale), b.multiply(abs_y, scale)
    length = b.sqrt(b.multiply_add(first, first, b.multiply(second, second)))
    root = b.multiply(b.sqrt(b.multiply(b.add(length, first), 0.5)), select_by_exponent(lambda n: 2.0 ** (-n // 2)))
    other_part = b.select(b.equal(root, 0.0), root, b.divide(abs_y, b.multiply(root, 2.0)))
    is_right_half = b.greater_equal(x, 0.0)
    real, imag = b.select(is_right_half, root, other_part), b.select(is_right_half, other_part, root)
    infinity = b.multiply(b.ones_like(x), _INFINITY)
    is_y_infinite = b.is_inf(y)
    real = b.select(b.logical_or(is_y_infinite, b.equal(x, _INFINITY)), infinity, real)
    imag = b.select(b.logical_or(is_y_infinite, b.equal(x, -_INFINITY)), infinity, imag)
    return real, b.copysign(imag, y)


class _ScaledHyperbolics(NamedTuple):
    """The hyperbolic sine and cosine of real numbers, both divided by a scale, and the scale."""

    sine: Any
    cosine: Any
    scale: Any


def _hyperbolic(b: GraphBuilder, x: Value) -> _ScaledHyperbolics:
    """Return sine and cosine; the scale is exp(limit) beyond the limit, where these might overflow, else 1."""
    limit = 80.0 if _is_single(x) else 700.0
    magnitude = b.abs(x)
    is_large = b.greater(magnitude, limit)
    expm1 = b.expm1(b.select(is_large, b.subtract(magnitude, limit), magnitude))
    exponential = b.add(expm1, 1.0)
    ratio = b.divide(expm1, exponential)
    half_exponential = b.multiply(exponential, 0.5)
    sine = b.select(is_large, half_exponential, b.multiply(b.add(expm1, ratio), 0.5))
    cosine = b.select(is_large, half_exponential, b.add(b.multiply(b.multiply(expm1, ratio), 0.5), 1.0))
    scale = b.select(is_large, b.multiply(b.ones_like(x), math.exp(limit)), b.ones_like(x))
    return _ScaledHyperbolics(b.copysign(sine, x), cosine, scale)


def sinh(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Compute sinh(x)·cos(y) + i·cosh(x)·sin(y)."""
    sine, cosine, scale = _hyperbolic(b, x)
    is_not_finite = b.logical_not(b.is_finite(y))
    real = b.multiply(b.multiply(sine, b.cos(y)), scale)
    imag = b.multiply(b.multiply(cosine, b.sin(y)), scale)
    is_exact = b.logical_and(is_not_finite, b.logical_or(b.is_inf(x), b.equal(x, 0.0)))
    return b.select(is_exact, b.select(b.is_inf(x), b.abs(x), x), real), b.select(b.equal(y, 0.0), y, imag)


def cosh(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Compute cosh(x)·cos(y) + i·sinh(x)·sin(y)."""
    sine, cosine, scale = _hyperbolic(b, x)
    is_not_finite = b.logical_not(b.is_finite(y))
    real = b.multiply(b.multiply(cosine, b.cos(y)), scale)
    imag = b.multiply(b.multiply(sine, b.sin(y)), scale)
    real = b.select(b.logical_and(is_not_finite, b.is_inf(x)), b.abs(x), real)
    is_real = b.equal(y, 0.0)
    sign = b.copysign(b.ones_like(x), b.select(b.is_nan(x), b.ones_like(x), x))
    signed_zero = b.select(is_real, b.multiply(y, sign), b.zeros_like(y))
    return real, b.select(b.logical_or(is_real, b.logical_and(is_not_finite, b.equal(x, 0.0))), signed_zero, imag)


def tanh(b: GraphBuilder, x: Value, y: Value) -> Parts:
    """Compute (sinh(x)·cosh(x) + i·sin(y)·cos(y)) / (sinh²(x) + cos²(y))."""
    magnitude = b.abs(x)
    # Beyond this limit the real part is 1 to the last digit, and the imaginary part is 4 sin(y) cos(y) exp(-2 |x|).
    is_large = b.greater(magnitude, 10.0 if _is_single(x) else 22.0)
    sine, cosine, _ = _hyperbolic(b, b.select(is_large, b.zeros_like(x), x))
    sine_y, cosine_y = b.sin(y), b.cos(y)
    denominator = b.multiply_add(sine, sine, b.multiply(cosine_y, cosine_y))
    product = b.multiply(sine_y, cosine_y)
    asymptotic_imag = b.multiply(b.multiply(product, 4.0), b.exp(b.multiply(magnitude, -2.0)))
    real = b.select(is_large, b.copysign(b.ones_like(x), x), b.divide(b.multiply(sine, cosine), denominator))
    imag = b.select(is_large, asymptotic_imag, b.divide(product, denominator))
    is_not_finite = b.logical_not(b.is_finite(y))
    imag = b.select(b.logical_and(is_not_finite, b.is_inf(x)), b.copysign(b.zeros_like(y), y), imag)
    is_undefined = b.logical_and(is_not_finite, b.logical_not(b.is_inf(x)))
    nan = b.multiply(b.ones_like(x), float("nan"))
    real = b.select(is_undefined, b.select(b.equal(x, 0.0), x, nan), real)
    return real, b.select(b.equal(y, 0.0), y, imag)


FUNCTION_BY_OP: dict[str, Callable[..., Parts]] = {
    "exp": exp, "log": log, "expm1": expm1, "log1p": log1p, "sqrt": sqrt, "sinh": sinh, "cosh": cosh,
    "tanh": tanh, "sin": rotated_rule(sinh), "tan": rotated_rule(tanh),
    "cos": lambda b, x, y: cosh(b, b.negative(y), x),
    **INVERSES,
}  # fmt: skip
