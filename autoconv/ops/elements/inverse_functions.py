"""Vectorisable rules of inverse trigonometric functions, sinh, cosh and inverse hyperbolic functions, for loops.

The polynomials are Chebyshev fits to (atan(x)/x - 1)/x² up to tan(π/8) and (asin(x)/x - 1)/x² up to 1/2, in x²; in
exact arithmetic they are within 2e-9 (float32) and 4e-18 (float64) of the functions, relatively.
"""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import float32, float64
from autoconv.ops.elements.maths import VECTORISED, apply, horner
from autoconv.ops.elements.registry import Elements

_ATAN = {  # the highest power first
    float32: (
        0.05047937432040091, -0.08624598215196127, 0.11071354571201352, -0.1428415062973029, 0.19999977248233530,
        -0.33333333279224540),
    float64: (
        0.0162843750500433944, -0.0345693150633260898, 0.0455154473402216165, -0.0523044364068694771,
        0.0587892755447380676, -0.0666642476020052014, 0.0769229636804229712, -0.0909090875325911294,
        0.111111111051505879, -0.142857142856597778, 0.199999999999998043, -0.333333333333333332),
}  # fmt: skip
_ASIN = {  # the highest power first
    float32: (
        0.03370072632136513, 0.01714371681925357, 0.03110172782906717, 0.04459931916287114, 0.07500094761172901,
        0.16666666336540490),
    float64: (
        0.0287784426125930408, -0.0148814093928180666, 0.0174193579648848572, 0.00545087818772054995,
        0.010324318288744112, 0.0114789526902573867, 0.0139712353011245391, 0.0173523912659092279,
        0.0223721730020055974, 0.0303819441370852143, 0.0446428571463733809, 0.0749999999999842426,
        0.166666666666666678),
}  # fmt: skip
# π/2 as the sum of two numbers; twice and half of them are exact.
_HALF_PI = {float32: (1.57079637050628662109375, -4.37113900018624283e-8), float64: (
    1.5707963267948966, 6.123233995736766e-17)}  # fmt: skip
_TAN_EIGHTH_PI = 0.41421356237309503  # tan(π/8)
_EXP_END = {float32: 88.0, float64: 709.0}  # above it, e^x may be infinite where sinh and cosh are not
_SQUARE_END = {float32: 1e18, float64: 1e150}  # above it, squares may be infinite


def _atan_of_ratio(b: Elements, ratio: Any) -> Any:
    """Return atan of a number in [0, 1]: near 1 as π/4 + atan((r - 1) / (r + 1))."""
    high, low = (part / 2 for part in _HALF_PI[ratio.dtype])
    is_far = ratio > _TAN_EIGHTH_PI
    x = b.select(is_far, (ratio - 1.0) / (ratio + 1.0), ratio)
    square = x * x
    angle = b.fma(x * square, horner(b, square, _ATAN[x.dtype]), x)
    return b.select(is_far, (angle + low) + high, angle)


def _atan(b: Elements, x: Any) -> Any:
    magnitude = b.intrinsic("fabs", x)
    is_steep = magnitude > 1.0
    angle = _atan_of_ratio(b, b.select(is_steep, 1.0 / magnitude, magnitude))
    high, low = _HALF_PI[x.dtype]
    return b.intrinsic("copysign", b.select(is_steep, high - (angle - low), angle), x)


def _atan2(b: Elements, y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y): from the ratio of the shorter side to the longer, by the octant."""
    abs_x, abs_y = b.intrinsic("fabs", x), b.intrinsic("fabs", y)
    is_steep = abs_y > abs_x
    longer, shorter = b.select(is_steep, abs_y, abs_x), b.select(is_steep, abs_x, abs_y)
    ratio = b.select(longer.same(0.0), shorter, shorter / longer)  # for two zeros 0, not nan
    are_infinite = longer.same(float("inf")) & shorter.same(float("inf"))
    angle = _atan_of_ratio(b, b.select(are_infinite, 1.0, ratio))
    high, low = _HALF_PI[x.dtype]
    angle = b.select(is_steep, high - (angle - low), angle)
    is_obtuse = b.intrinsic("copysign", b.constant(1.0, x.dtype), x) < 0.0
    return b.intrinsic("copysign", b.select(is_obtuse, 2.0 * high - (angle - 2.0 * low), angle), y)


def _asin_correction(b: Elements, x: Any, square: Any) -> Any:
    """Return asin(x) - x for magnitudes up to 1/2; `square` is x²."""
    return x * square * horner(b, square, _ASIN[x.dtype])


def _asin(b: Elements, x: Any) -> Any:
    """Return asin(x); beyond 1/2 as π/2 - 2·asin(√((1 - x) / 2))."""
    magnitude = b.intrinsic("fabs", x)
    is_far = magnitude > 0.5
    square = b.select(is_far, (1.0 - magnitude) * 0.5, magnitude * magnitude)
    reduced_x = b.select(is_far, b.intrinsic("sqrt", square), magnitude)
    correction = _asin_correction(b, reduced_x, square)
    high, low = _HALF_PI[x.dtype]
    result = b.select(is_far, (high - 2.0 * reduced_x) - (2.0 * correction - low), reduced_x + correction)
    return b.intrinsic("copysign", result, x)


def _acos(b: Elements, x: Any) -> Any:
    """Return the arc cosine, by half angles for magnitudes above 0.5."""
    magnitude = b.intrinsic("fabs", x)
    is_far = magnitude > 0.5
    square = b.select(is_far, (1.0 - magnitude) * 0.5, x * x)
    reduced_x = b.select(is_far, b.intrinsic("sqrt", square), x)
    correction = _asin_correction(b, reduced_x, square)
    high, low = _HALF_PI[x.dtype]
    double_angle = 2.0 * (reduced_x + correction)
    far_angle = b.select(x < 0.0, 2.0 * high - (double_angle - 2.0 * low), double_angle)
    return b.select(is_far, far_angle, high - (reduced_x - (low - correction)))


def _sinh(b: Any, x: Any) -> Any:
    magnitude = b.intrinsic("fabs", x)
    b.mark_rare(magnitude > _EXP_END[x.dtype])
    exponential = apply(b, "expm1", magnitude)
    return b.intrinsic("copysign", 0.5 * (exponential + exponential / (exponential + 1.0)), x)


def _cosh(b: Any, x: Any) -> Any:
    magnitude = b.intrinsic("fabs", x)
    b.mark_rare(magnitude > _EXP_END[x.dtype])
    exponential = apply(b, "exp", magnitude)
    return 0.5 * exponential + 0.5 / exponential


def _asinh(b: Any, x: Any) -> Any:
    magnitude = b.intrinsic("fabs", x)
    b.mark_rare(magnitude > _SQUARE_END[x.dtype])
    square = magnitude * magnitude
    result = apply(b, "log1p", magnitude + square / (1.0 + b.intrinsic("sqrt", 1.0 + square)))
    return b.intrinsic("copysign", result, x)


def _acosh(b: Any, x: Any) -> Any:
    b.mark_rare(x > _SQUARE_END[x.dtype])
    excess = x - 1.0
    return apply(b, "log1p", excess + b.intrinsic("sqrt", excess * (excess + 2.0)))


def _atanh(b: Elements, x: Any) -> Any:
    magnitude = b.intrinsic("fabs", x)
    return b.intrinsic("copysign", 0.5 * apply(b, "log1p", 2.0 * magnitude / (1.0 - magnitude)), x)


VECTORISED.update({
    "atan": _atan, "atan2": _atan2, "asin": _asin, "acos": _acos, "sinh": _sinh, "cosh": _cosh, "asinh": _asinh,
    "acosh": _acosh, "atanh": _atanh,
})  # fmt: skip
