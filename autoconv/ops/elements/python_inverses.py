"""Element rules of cmath's inverse functions and log10, which follow CPython step by step.

Source: Modules/cmathmodule.c, after Kahan. Non-finite operands, and poles, go to the kernel. The operand z has the
parts x and y. In a rule, p and q are the square roots of 1 - z and 1 + z, or of similar numbers. Their real parts are
pr and qr, their imaginary parts pi and qi.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from autoconv.graph.dtypes import float64
from autoconv.ops.elements.python_complex import RULES, Pair, by_rotation, fail_unless_finite, log, select_pair, sqrt
from autoconv.ops.elements.registry import Elements

_LARGE = sys.float_info.max / 4  # numbers with a greater part are scaled
# Above _LARGE_ROOT squares exceed _LARGE, below _SMALL_ROOT they are no normal numbers.
_LARGE_ROOT, _SMALL_ROOT = math.sqrt(_LARGE), math.sqrt(sys.float_info.min)


def _is_beyond(b: Elements, x: Any, y: Any, bound: float) -> Any:
    """Return whether the magnitude of x or of y exceeds the bound."""
    return b.compare("gt", b.intrinsic("fabs", x), bound) | b.compare("gt", b.intrinsic("fabs", y), bound)


def _log_of_double(b: Elements, x: Any, y: Any) -> Any:
    """Return the logarithm of twice the magnitude of a large number."""
    return b.libm("log", b.libm("hypot", x / 2.0, y / 2.0)) + math.log(2) * 2.0


def acos(b: Elements, x: Any, y: Any) -> Pair:
    """Return acos(x + iy): near numbers by square roots, far ones by the logarithm of the double."""
    fail_unless_finite(b, x, y)
    one = b.constant(1.0, float64)
    (pr, pi), (qr, qi) = sqrt(b, one - x, -y), sqrt(b, x + 1.0, y)
    near = b.libm("atan2", pr, qr) * 2.0, b.libm("asinh", qr * pi - qi * pr)
    far = b.libm("atan2", b.intrinsic("fabs", y), x), b.intrinsic("copysign", _log_of_double(b, x, y), -y)
    return select_pair(b, _is_beyond(b, x, y, _LARGE), far, near)


def acosh(b: Elements, x: Any, y: Any) -> Pair:
    fail_unless_finite(b, x, y)
    (pr, pi), (qr, qi) = sqrt(b, x - 1.0, y), sqrt(b, x + 1.0, y)
    near = b.libm("asinh", pr * qr + pi * qi), b.libm("atan2", pi, qr) * 2.0
    return select_pair(b, _is_beyond(b, x, y, _LARGE), (_log_of_double(b, x, y), b.libm("atan2", y, x)), near)


def asinh(b: Elements, x: Any, y: Any) -> Pair:
    """Return asinh(x + iy): near numbers by square roots, far ones by the logarithm of the double."""
    fail_unless_finite(b, x, y)
    one = b.constant(1.0, float64)
    (pr, pi), (qr, qi) = sqrt(b, y + 1.0, -x), sqrt(b, one - y, x)
    near = b.libm("asinh", pr * qi - qr * pi), b.libm("atan2", y, pr * qr - pi * qi)
    far = b.intrinsic("copysign", _log_of_double(b, x, y), x), b.libm("atan2", y, b.intrinsic("fabs", x))
    return select_pair(b, _is_beyond(b, x, y, _LARGE), far, near)


def atanh(b: Elements, x: Any, y: Any) -> Pair:
    """Return atanh(z); it is computed as -atanh(-z) if the sign bit of the real part is set."""
    fail_unless_finite(b, x, y)
    one = b.constant(1.0, float64)
    is_negative = b.compare("lt", b.intrinsic("copysign", one, x), 0.0)
    x, y = select_pair(b, is_negative, (-x, -y), (x, y))
    height = b.intrinsic("fabs", y)
    b.fail_if(x.same(1.0) & b.compare("lt", height, _SMALL_ROOT))
    distance, square = one - x, height * height
    near = (
        b.libm("log1p", (x * 4.0) / (distance * distance + square)) / 4.0,
        -b.libm("atan2", y * -2.0, distance * (x + 1.0) - square) / 2.0,
    )
    half_magnitude = b.libm("hypot", x / 2.0, y / 2.0)
    far = x / 4.0 / half_magnitude / half_magnitude, -b.intrinsic("copysign", b.constant(math.pi / 2, float64), -y)
    real, imag = select_pair(b, _is_beyond(b, x, y, _LARGE_ROOT), far, near)
    return select_pair(b, is_negative, (-real, -imag), (real, imag))


def log10(b: Elements, x: Any, y: Any) -> Pair:
    real, imag = log(b, x, y)
    return real / math.log(10), imag / math.log(10)


RULES |= {
    "acos": acos, "acosh": acosh, "asinh": asinh, "atanh": atanh,
    "asin": by_rotation(asinh), "atan": by_rotation(atanh),
    "log10": log10,
}  # fmt: skip
