"""Vectorisable rule of cube roots, for loops.

The inverse root is computed first, because its steps need no division. Its bits divided by -3 give the first digits.
Each step multiplies the root by a series of (1 - h)^(-1/3), where h is its error (Householder, 1970).
"""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import float32, int32, int64
from autoconv.ops.elements.maths import VECTORISED, horner, round_multiple
from autoconv.ops.elements.registry import Elements

_SERIES = (14 / 81, 2 / 9, 1 / 3)  # of ((1 - h)^(-1/3) - 1) / h, the highest power first


def _inverse_root(b: Elements, x: Any) -> Any:
    """Return x^(-1/3) to more than half of the digits, for a positive normal number."""
    integer_dtype, dropped_bits, start = int64, 12, 0x553EF0FF289DD796
    if x.dtype is float32:
        integer_dtype, dropped_bits, start = int32, 9, 0x54A21D2A
    _, third = round_multiple(b, b.cast(b.bits("ashr", b.bitcast(x, integer_dtype), dropped_bits), x.dtype), 1 / 3)
    root = b.bitcast(b.constant(start, integer_dtype) - b.bits("shl", third, dropped_bits), x.dtype)
    for term_count in (3,) if x.dtype is float32 else (3, 2):
        error = b.fma(x * root, -(root * root), b.constant(1.0, x.dtype))
        root = b.fma(root, error * horner(b, error, _SERIES[-term_count:]), root)
    return root


def _cbrt(b: Elements, x: Any) -> Any:
    """Return the cube root: the square of the inverse root, with one correction; subnormal numbers are scaled first."""
    magnitude = b.intrinsic("fabs", x)
    smallest_normal, lift_bits = (2.0**-126, 24) if x.dtype is float32 else (2.0**-1022, 54)
    is_subnormal, is_finite = magnitude < smallest_normal, magnitude < float("inf")
    bounded = b.select(is_finite, magnitude, 1.0) * b.select(is_subnormal, b.constant(2.0**lift_bits, x.dtype), 1.0)
    inverse_root = _inverse_root(b, bounded)
    root = bounded * inverse_root * inverse_root
    square = root * root
    error = b.fma(-root, b.fma(root, root, -square), b.fma(-root, square, bounded))  # of the cube
    root = b.fma(error * inverse_root, inverse_root * (1 / 3), root)
    root = b.select(is_subnormal, root * 2.0 ** -(lift_bits // 3), root)
    return b.select(is_finite, b.intrinsic("copysign", root, x), x)


VECTORISED["cbrt"] = _cbrt
