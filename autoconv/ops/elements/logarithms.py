"""Vectorisable rules of logarithms, for loops.

Coefficients in float64 are those published with fdlibm (Sun Microsystems, 1993), and parts of ln 2 and log10(2) those
of FreeBSD. Logarithms of powers of two to base 2, and of powers of ten to base 10, are exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.graph.dtypes import float32, float64, int32, int64
from autoconv.ops.elements.maths import VECTORISED, horner
from autoconv.ops.elements.registry import Elements

# (log(1 + f) - f + f²/2) / f³ for 1 + f in [√2/2, √2), fitted by iteratively reweighted least squares: within 5.9e-9
# of log(1 + f).
_LOG_32 = (
    -0.0763449351, 0.12761576, -0.13160183, 0.142017582, -0.166233573, 0.200012269, -0.25000821, 0.333333317,
)  # fmt: skip
_LOG_64 = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
    2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01,
)  # fmt: skip
# Numbers as sums of two; products of the first ones of ln 2 and of log10(2) with exponents are exact.
_LN2 = {
    float32: (6.9313812256e-01, 9.0580006145e-06),
    float64: (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}
_LOG10_OF_2 = {
    float32: (3.0102920532e-01, 7.9034151668e-07),
    float64: (3.01029995663611771306e-01, 3.69423907715893078616e-13),
}
_LOG2_OF_E = {
    float32: (1.4426950216293335, 1.9259629911266175e-08),
    float64: (1.4426950408889634, 2.0355273740931033e-17),
}
_LOG10_OF_E = {
    float32: (0.4342944920063019, -1.0103050118726031e-08),
    float64: (0.4342944819032518, 1.098319650216765e-17),
}


def _integer_dtype(x: Any) -> Any:
    return int32 if x.dtype is float32 else int64


def reduce_to_mantissa(b: Elements, x: Any) -> tuple[Any, Any]:
    """Return the exponent, as a float, and f, such that x = (1 + f)·2^exponent and 1 + f is in [0.707, 1.414)."""
    mantissa_bits, smallest_normal, lift_bits = (23, 2.0**-126, 25) if x.dtype is float32 else (52, 2.0**-1022, 54)
    is_subnormal = x < smallest_normal
    bits = b.bitcast(x * b.select(is_subnormal, b.constant(2.0**lift_bits, x.dtype), 1.0), _integer_dtype(x))
    offset = bits - b.bitcast(b.constant(0.5**0.5, x.dtype), _integer_dtype(x))
    exponent = b.bits("ashr", offset, mantissa_bits)
    f = b.bitcast(bits - b.bits("shl", exponent, mantissa_bits), x.dtype) - 1.0
    return b.cast(exponent, x.dtype) - b.select(is_subnormal, b.constant(lift_bits, x.dtype), 0.0), f


class _LogTerms(NamedTuple):
    """f²/2, and two factors, such that log(1 + f) = f - f²/2 + the product of the factors."""

    half_square: Any
    factor: Any
    other_factor: Any


def _terms(b: Elements, f: Any) -> _LogTerms:
    """Return the terms of log(1 + f), by a polynomial of the dtype."""
    if f.dtype is float32:
        square = f * f
        return _LogTerms(square * 0.5, horner(b, f, _LOG_32) * f, square)
    s = f / (f + 2.0)  # the letters are those of fdlibm
    z = s * s
    half_square = f * f * 0.5
    return _LogTerms(half_square, s, half_square + horner(b, z, _LOG_64) * z)


def _complete(b: Elements, x: Any, f: Any, logarithm: Any) -> Any:
    """Return the logarithm of positive numbers, inf for inf, -inf for zero, nan for negative numbers."""
    logarithm = b.select(x < float("inf"), logarithm, x)
    # Computed infinities, rather than constants, raise the processor's flags of errors. The square of f is below 1. The
    # square is compared, as LLVM would fold it to a constant under `x == 0` where it proves that x is not negative.
    factor = b.select(x <= 0.0, x.dtype.max, f)
    minus_infinity = -(factor * factor)
    logarithm = b.select(minus_infinity < -2.0, minus_infinity, logarithm)
    return b.select(x < 0.0, minus_infinity - minus_infinity, logarithm)


def _log(b: Elements, x: Any) -> Any:
    exponent, f = reduce_to_mantissa(b, x)
    half_square, factor, other_factor = _terms(b, f)
    upper, lower = _LN2[x.dtype]
    small_terms = b.fma(factor, other_factor, exponent * lower)
    return _complete(b, x, f, b.fma(exponent, b.constant(upper, x.dtype), f - (half_square - small_terms)))


def _log1p(b: Elements, x: Any) -> Any:
    """Return log(1 + x), corrected for the rounding error of 1 + x."""
    total = x + 1.0
    correction = (x - (total - 1.0)) / total
    logarithm = _log(b, total) + b.select(b.intrinsic("fabs", correction) < 1.0, correction, 0.0)
    return b.select(total.same(1.0), x, logarithm)


def _log_to_base(b: Elements, x: Any, scale: tuple[float, float], unit: tuple[float, float]) -> Any:
    """Return `scale`·log(1 + f) + `unit`·exponent; the rounding errors of the two largest terms are added."""
    exponent, f = reduce_to_mantissa(b, x)
    half_square, factor, other_factor = _terms(b, f)
    upper, lower = (b.constant(part, x.dtype) for part in scale)
    product = f * upper
    error = b.fma(f, lower, b.fma(f, upper, -product))
    small_terms = b.fma(b.fma(factor, other_factor, -half_square), upper, error)
    if unit[1]:
        small_terms = b.fma(exponent, b.constant(unit[1], x.dtype), small_terms)
    unit_product = exponent * unit[0] if unit[1] else exponent
    total = unit_product + product
    return _complete(b, x, f, (small_terms + ((unit_product - total) + product)) + total)


def _log2(b: Elements, x: Any) -> Any:
    return _log_to_base(b, x, _LOG2_OF_E[x.dtype], (1.0, 0.0))


def _log10(b: Elements, x: Any) -> Any:
    return _log_to_base(b, x, _LOG10_OF_E[x.dtype], _LOG10_OF_2[x.dtype])


VECTORISED.update({"log": _log, "log1p": _log1p, "log2": _log2, "log10": _log10})
