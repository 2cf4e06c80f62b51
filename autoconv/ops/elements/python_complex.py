"""Element rules of Python's complex numbers, which follow CPython step by step.

Sources: Objects/complexobject.c and Modules/cmathmodule.c. Exceptional operands, and those for which Python raises, go
to the kernel, which calls Python: `b.fail_if(condition)` sends them there. An operand is passed as two numbers: xr and
xi are the real and imaginary part of an operand x. In functions of one operand the parts are called x and y.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from autoconv.graph.dtypes import float64, int64
from autoconv.ops.elements.registry import Elements, element

Pair = tuple[Any, Any]  # real and imaginary part
_INFINITY = float("inf")
_MAX_EXPONENT = math.log(sys.float_info.max / 4)  # above it, CPython computes exponentials in two steps
_MAX_UNSCALED = sys.float_info.max / 4  # above it, CPython scales magnitudes


def _follows_textbook_formulas() -> bool:
    """Return whether Python's products and quotients follow the textbook formulas, with each step rounded.

    They do not if Python's compiler contracted multiply and add, nor from Python 3.14 on, which handles infinities.
    """
    x = 1.0 + 2.0**-30
    python_product = complex(x, x) * complex(x, -x)
    stepwise_product = complex(x * x - x * -x, x * -x + x * x)
    product_with_infinity = complex(_INFINITY, 1.0) * complex(1.0, 0.0)
    return python_product == stepwise_product and math.isnan(product_with_infinity.imag) and sys.version_info < (3, 14)


PYTHON_USES_TEXTBOOK_FORMULAS = _follows_textbook_formulas()


@element("python_complex_part")
def complex_part(b: Elements, *parts: Any, function: str, part_name: str) -> Any:
    """Return the real or imaginary part ("real", "imag") of the function's result, or a result that is a float."""
    rule = RULES.get(function)
    if rule is None or not PYTHON_USES_TEXTBOOK_FORMULAS:
        return None
    result = rule(b, *parts)
    if not isinstance(result, tuple):
        return result
    real, imag = result
    return imag if part_name == "imag" else real


def _is_finite(b: Elements, x: Any) -> Any:
    """Return whether a number is neither infinite nor nan."""
    return b.compare("lt", b.intrinsic("fabs", x), _INFINITY)


def fail_unless_finite(b: Elements, *numbers: Any) -> None:
    """Send non-finite operands to the kernel."""
    for x in numbers:
        b.fail_if(~_is_finite(b, x))


def multiply(b: Elements, xr: Any, xi: Any, yr: Any, yi: Any) -> Pair:
    return xr * yr - xi * yi, xr * yi + xi * yr


def divide(b: Elements, xr: Any, xi: Any, yr: Any, yi: Any) -> Pair:
    """Return the quotient by Smith's algorithm (1962), which divides first by the divisor's larger part.

    The quotient is nan if a part of the divisor is. A divisor of 0 goes to the kernel.
    """
    b.fail_if(yr.same(0.0) & yi.same(0.0))
    return _quotient(b, xr, xi, yr, yi)


def _quotient(b: Elements, xr: Any, xi: Any, yr: Any, yi: Any) -> Pair:
    """Return the quotient as `divide` does, without its test for a divisor of 0."""
    width, height = b.intrinsic("fabs", yr), b.intrinsic("fabs", yi)
    is_wide, is_high = b.compare("ge", width, height), b.compare("ge", height, width)
    ratio = b.select(is_wide, yi, yr) / b.select(is_wide, yr, yi)
    scale = b.select(is_wide, yr + yi * ratio, yr * ratio + yi)
    first, second = b.select(is_wide, xr, xi), b.select(is_wide, xi, xr)
    scaled_first = first * ratio
    # The sum for the real part is the same in both cases; the difference for the imaginary part has its terms swapped.
    real = (first + second * ratio) / scale
    imag = b.select(is_wide, second - scaled_first, scaled_first - second) / scale
    is_ordered = is_wide | is_high
    return b.select(is_ordered, real, float("nan")), b.select(is_ordered, imag, float("nan"))


def magnitude(b: Elements, x: Any, y: Any) -> Any:
    """Return C's hypot; a magnitude that overflows goes to the kernel, which raises."""
    result = b.libm("hypot", x, y)
    b.fail_if(result.same(_INFINITY) & _is_finite(b, x) & _is_finite(b, y))
    return result


def power_by_int(b: Elements, xr: Any, xi: Any, n: Any, imaginary_part: Any) -> Pair:
    """Return x^n by squaring, for an integer n (a float) of at most ±100; a negative power is an inverse.

    `imaginary_part` is the exponent's imaginary part, which is 0 here.
    """
    absolute_n = b.intrinsic("fabs", n)
    b.fail_if(b.compare("gt", absolute_n, 100.0))
    exponent = b.cast(absolute_n, int64)
    one, zero = b.constant(1.0, float64), b.constant(0.0, float64)
    result: Pair = (one, zero)
    square: Pair = (xr, xi)
    for bit in (1, 2, 4, 8, 16, 32, 64):
        is_set = b.bits("and", exponent, bit).differs(0)
        product = multiply(b, *result, *square)
        result = select_pair(b, is_set, product, result)
        square = multiply(b, *square, *square)
    is_positive = b.compare("gt", n, 0.0)
    is_zero = result[0].same(0.0) & result[1].same(0.0)
    b.fail_if(is_zero & ~is_positive)
    result = select_pair(b, is_positive, result, _quotient(b, one, zero, *result))
    for part in result:
        b.fail_if(b.intrinsic("fabs", part).same(_INFINITY))
    return result


def select_pair(b: Elements, condition: Any, x: Pair, y: Pair) -> Pair:
    """Return `x` where the condition holds, else `y`."""
    (xr, xi), (yr, yi) = x, y
    return b.select(condition, xr, yr), b.select(condition, xi, yi)


def power(b: Elements, xr: Any, xi: Any, yr: Any, yi: Any) -> Pair:
    """Return a power, computed in polar form. Integer exponents up to ±100 and bases of 0 go to the kernel."""
    is_small = b.compare("le", b.intrinsic("fabs", yr), 100.0)
    is_small_integer = is_small & yr.same(b.intrinsic("floor", yr)) & yi.same(0.0)
    b.fail_if(is_small_integer | (xr.same(0.0) & xi.same(0.0)))
    magnitude, angle_of_base = b.libm("hypot", xr, xi), b.libm("atan2", xi, xr)
    modulus, angle = b.libm("pow", magnitude, yr), angle_of_base * yr
    has_imaginary_exponent = yi.differs(0.0)
    modulus = b.select(has_imaginary_exponent, modulus / b.libm("exp", angle_of_base * yi), modulus)
    angle = b.select(has_imaginary_exponent, angle + yi * b.libm("log", magnitude), angle)
    real, imag = modulus * b.libm("cos", angle), modulus * b.libm("sin", angle)
    fail_unless_finite(b, real, imag)
    return real, imag


# ---- cmath, for finite operands with finite results


def exp(b: Elements, x: Any, y: Any) -> Pair:
    fail_unless_finite(b, x, y)
    b.fail_if(b.compare("gt", x, _MAX_EXPONENT))
    length = b.libm("exp", x)
    return length * b.libm("cos", y), length * b.libm("sin", y)


def log(b: Elements, x: Any, y: Any) -> Pair:
    """Return the logarithm; near the unit circle it is computed from the excess of the squared magnitude over 1."""
    width, height = b.intrinsic("fabs", x), b.intrinsic("fabs", y)
    b.fail_if(~(b.compare("le", width, _MAX_UNSCALED) & b.compare("le", height, _MAX_UNSCALED)))
    b.fail_if(b.compare("lt", width, sys.float_info.min) & b.compare("lt", height, sys.float_info.min))
    magnitude = b.libm("hypot", width, height)
    is_wide = b.compare("gt", width, height)
    large, small = b.select(is_wide, width, height), b.select(is_wide, height, width)
    excess = (large - 1.0) * (large + 1.0) + small * small
    log_near_one = b.select(excess.same(0.0), excess, b.libm("log1p", excess)) / 2.0
    is_near_one = b.compare("ge", magnitude, 0.71) & b.compare("le", magnitude, 1.73)
    return b.select(is_near_one, log_near_one, b.libm("log", magnitude)), b.libm("atan2", y, x)


def sqrt(b: Elements, x: Any, y: Any) -> Pair:
    """Return the square root as cmath does; operands that are not finite, or tiny, go to the kernel."""
    fail_unless_finite(b, x, y)
    width, height = b.intrinsic("fabs", x), b.intrinsic("fabs", y)
    is_tiny = b.compare("lt", width, sys.float_info.min) & b.compare("lt", height, sys.float_info.min)
    b.fail_if(is_tiny & (width.differs(0.0) | height.differs(0.0)))
    eighth = width / 8.0
    root = b.intrinsic("sqrt", eighth + b.libm("hypot", eighth, height / 8.0)) * 2.0
    quotient = height / (root * 2.0)
    is_right_half = b.compare("ge", x, 0.0)
    real = b.select(is_right_half, root, quotient)
    imag = b.intrinsic("copysign", b.select(is_right_half, quotient, root), y)
    is_zero = x.same(0.0) & y.same(0.0)
    return b.select(is_zero, 0.0, real), b.select(is_zero, y, imag)


def sinh(b: Elements, x: Any, y: Any) -> Pair:
    _fail_if_large(b, x, y)
    return b.libm("cos", y) * b.libm("sinh", x), b.libm("sin", y) * b.libm("cosh", x)


def cosh(b: Elements, x: Any, y: Any) -> Pair:
    _fail_if_large(b, x, y)
    return b.libm("cos", y) * b.libm("cosh", x), b.libm("sin", y) * b.libm("sinh", x)


def tanh(b: Elements, x: Any, y: Any) -> Pair:
    """Return tanh(x + iy); operands that are large or not finite go to the kernel."""
    _fail_if_large(b, x, y)
    tanh_x, tan_y = b.libm("tanh", x), b.libm("tan", y)
    inverse_cosh = 1.0 / b.libm("cosh", x)
    product = tanh_x * tan_y
    denominator = product * product + 1.0
    return tanh_x * (tan_y * tan_y + 1.0) / denominator, tan_y / denominator * inverse_cosh * inverse_cosh


def _fail_if_large(b: Elements, x: Any, y: Any) -> None:
    """Send operands whose exponential may overflow, and those that are not finite, to the kernel."""
    fail_unless_finite(b, x, y)
    b.fail_if(b.compare("gt", b.intrinsic("fabs", x), _MAX_EXPONENT))


def by_rotation(rule: Callable[..., Pair]) -> Callable[..., Pair]:
    """Return the rule of the function -i·f(iz) of z = x + iy; `rule` is that of f."""

    def rotated(b: Elements, x: Any, y: Any) -> Pair:
        real, imag = rule(b, -y, x)
        return imag, -real

    return rotated


def phase(b: Elements, x: Any, y: Any) -> Any:
    """Return the angle for cmath.phase, which raises for a subnormal angle; that of cmath.polar is `angle`."""
    result = angle(b, x, y)
    b.fail_if(b.compare("lt", b.intrinsic("fabs", result), sys.float_info.min) & y.differs(0.0))
    return result


def angle(b: Elements, x: Any, y: Any) -> Any:
    fail_unless_finite(b, x, y)
    return b.libm("atan2", y, x)


def rect(b: Elements, length: Any, polar_angle: Any) -> Pair:
    fail_unless_finite(b, length, polar_angle)
    is_real = polar_angle.same(0.0)
    real = b.select(is_real, length, length * b.libm("cos", polar_angle))
    return real, b.select(is_real, length * polar_angle, length * b.libm("sin", polar_angle))


RULES: dict[str, Callable[..., Any]] = {
    "multiply": multiply, "divide": divide, "abs": magnitude, "modulus": magnitude, "power": power,
    "power_by_int": power_by_int, "exp": exp, "log": log, "sqrt": sqrt, "sinh": sinh, "cosh": cosh, "tanh": tanh,
    "sin": by_rotation(sinh), "tan": by_rotation(tanh), "cos": lambda b, x, y: cosh(b, -y, x),
    "phase": phase, "angle": angle,
    "rect": rect,
}  # fmt: skip
