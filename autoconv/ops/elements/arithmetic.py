"""Element rules of arithmetic, comparisons, bits, choices and casts on typed numbers, with NumPy's meaning.

A rule returns None for operands of dtypes that it does not serve; the op's kernel computes these.
"""

from __future__ import annotations

import math
from typing import Any

from autoconv.graph.dtypes import DType, as_dtype, bool_, int16, int32, int64
from autoconv.ops.elements.registry import Elements, element


@element("add")
def add(b: Elements, x: Any, y: Any) -> Any:
    return x | y if x.dtype.is_bool else x + y


@element("subtract")
def subtract(b: Elements, x: Any, y: Any) -> Any:
    return None if x.dtype.is_bool else x - y


@element("multiply")
def multiply(b: Elements, x: Any, y: Any) -> Any:
    return x & y if x.dtype.is_bool else x * y


@element("multiply_add")
def multiply_add(b: Elements, x: Any, y: Any, z: Any) -> Any:
    return b.fma(x, y, z) if x.dtype.is_floating else None


@element("copysign")
def copysign(b: Elements, x: Any, y: Any) -> Any:
    return b.intrinsic("copysign", x, y) if x.dtype.is_floating else None


@element("nextafter")
def nextafter(b: Elements, x: Any, y: Any) -> Any:
    result = neighbour(b, x, y)
    b.warn("over", b.intrinsic("fabs", result).same(math.inf) & (b.intrinsic("fabs", x) < math.inf))
    return result


def neighbour(b: Elements, x: Any, y: Any) -> Any:
    """Return the next float after `x` in the direction of `y`.

    The bits are incremented or decremented as an integer with the order of the floats: arithmetic on floats may flush
    subnormal numbers to 0. The bits of negative floats, read as integers, have the reverse order.
    """
    dtype = {2: int16, 4: int32, 8: int64}[x.dtype.size]
    bits, y_bits = b.bitcast(x, dtype), b.bitcast(y, dtype)
    order_of_x, order_of_y = (b.select(number < 0, dtype.min - number, number) for number in (bits, y_bits))
    next_order = b.select(order_of_x < order_of_y, order_of_x + 1, order_of_x - 1)
    is_negative = (next_order < 0) | (next_order.same(0) & (bits < 0))
    next_number = b.bitcast(b.select(is_negative, dtype.min - next_order, next_order), x.dtype)
    result = b.select(order_of_x.same(order_of_y), y, next_number)
    return b.select(b.is_nan(x) | b.is_nan(y), math.nan, result)


@element("complex")
def complex_(b: Any, real: Any, imag: Any) -> Any:
    return b.pair(real, imag)


@element("divide")
def divide(b: Elements, x: Any, y: Any) -> Any:
    return x / y


@element("negative")
def negative(b: Elements, x: Any) -> Any:
    return None if x.dtype.is_bool else -x


@element("square")
def square(b: Elements, x: Any) -> Any:
    return x * x


@element("squared_difference")
def squared_difference(b: Elements, x: Any, y: Any) -> Any:
    difference = x - y
    return difference * difference


@element("reciprocal")
def reciprocal(b: Elements, x: Any) -> Any:
    return 1 / x if x.dtype.is_floating else None


@element("identity", "stop_gradient")
def identity(b: Elements, x: Any) -> Any:
    return x


def safe_divisor(b: Elements, x: Any, y: Any) -> tuple[Any, Any]:
    """Return a divisor to use in place of `y`, by which the processor's division does not trap, and whether `y` is 0.

    The divisor is 1 if `y` is 0. It is also 1 if x is the lowest integer and `y` is -1, since that quotient wraps
    around to x itself.
    """
    is_zero = y.same(0)
    divisor = b.select(is_zero, 1, y)
    if not x.dtype.is_unsigned:
        wraps = divisor.same(-1) & x.same(x.dtype.min)
        divisor = b.select(wraps, 1, divisor)
    return divisor, is_zero


def is_rounded_up(remainder: Any, divisor: Any) -> Any:
    """Return whether truncation rounded an integer quotient up: the signs of remainder and divisor differ."""
    return remainder.differs(0) & ((remainder ^ divisor) < 0)  # xor sets the sign bit where the signs differ


@element("floor_divide")
def floor_divide(b: Elements, x: Any, y: Any) -> Any:
    """Divide, rounded down; an integer divided by 0 gives 0, as in NumPy."""
    if x.dtype.is_bool:
        return None
    if x.dtype.is_floating:
        return _float_floor_divide(b, x, y)
    divisor, is_zero = safe_divisor(b, x, y)
    b.warn("divide", is_zero)
    if not x.dtype.is_unsigned:
        b.warn("over", y.same(-1) & x.same(x.dtype.min))
    quotient = b.divide(x, divisor)
    if not x.dtype.is_unsigned:
        remainder = x - quotient * divisor
        quotient = b.select(is_rounded_up(remainder, divisor), quotient - 1, quotient)
    return b.select(is_zero, 0, quotient)


@element("modulo")
def modulo(b: Elements, x: Any, y: Any) -> Any:
    """Return the remainder with the sign of the divisor; an integer modulo 0 is 0, as in NumPy."""
    if x.dtype.is_bool:
        return None
    if x.dtype.is_floating:
        return float_modulo(b, x, y)
    divisor, is_zero = safe_divisor(b, x, y)
    b.warn("divide", is_zero)
    remainder = b.remainder(x, divisor)
    if not x.dtype.is_unsigned:
        remainder = b.select(is_rounded_up(remainder, divisor), remainder + divisor, remainder)
    return b.select(is_zero, 0, remainder)


_MAX_EUCLIDEAN_STEPS = 94  # for integers of 64 bits; consecutive Fibonacci numbers take the most steps


@element("gcd")
def gcd(b: Elements, x: Any, y: Any) -> Any:
    """Return the greatest common divisor of the magnitudes, by one routine for all operands of the dtype."""
    return b.routine(f"gcd_{x.dtype.name}", _gcd, x, y)


def _gcd(b: Elements, x: Any, y: Any) -> Any:
    """Return the greatest common divisor by Euclid's algorithm on the magnitudes."""
    unsigned = as_dtype(f"uint{8 * x.dtype.size}")

    def step(_: Any, state: list[Any]) -> tuple[Any, list[Any]]:
        divisor, remainder = state
        next_remainder = b.remainder(divisor, b.select(remainder.same(0), 1, remainder))
        return next_remainder.differs(0), [remainder, next_remainder]

    divisor, remainder = (b.bitcast(_magnitude(b, number), unsigned) for number in (x, y))
    return b.bitcast(b.iterate(remainder.differs(0), [divisor, remainder], step, _MAX_EUCLIDEAN_STEPS)[0], x.dtype)


@element("lcm")
def lcm(b: Elements, x: Any, y: Any) -> Any:
    """Return the least common multiple of the magnitudes; an overflow wraps around."""
    divisor = gcd(b, x, y)
    return b.divide(_magnitude(b, x), b.select(divisor.same(0), 1, divisor)) * _magnitude(b, y)


def _magnitude(b: Elements, x: Any) -> Any:
    """Return the magnitude of an integer; that of the lowest one wraps around to itself."""
    return x if x.dtype.is_unsigned else b.select(x < 0, -x, x)


def float_modulo(b: Elements, x: Any, y: Any) -> Any:
    """Return the remainder of floats with the sign of the divisor, nan for a divisor of 0."""
    remainder = b.remainder(x, y)
    signs_differ = b.compare("lt", y, 0.0) ^ b.compare("lt", remainder, 0.0)
    result = b.select(
        remainder.differs(0.0), b.select(signs_differ, remainder + y, remainder), b.intrinsic("copysign", remainder, y)
    )
    return b.select(y.same(0.0), remainder, result)


def _float_floor_divide(b: Elements, x: Any, y: Any) -> Any:
    """Return the quotient of floats, rounded down; x / y, which is infinite or nan, for a divisor of 0."""
    return b.select(y.same(0.0), x / y, floor_quotient(b, x, y))


def floor_quotient(b: Elements, x: Any, y: Any) -> Any:
    """Return (x - remainder) / y, rounded to the nearest integer, as NumPy and Python do; y is not 0."""
    remainder = b.remainder(x, y)
    quotient = (x - remainder) / y
    signs_differ = b.compare("lt", y, 0.0) ^ b.compare("lt", remainder, 0.0)
    quotient = b.select(remainder.differs(0.0) & signs_differ, quotient - 1.0, quotient)
    nearest = b.intrinsic("floor", quotient)
    nearest = b.select(b.compare("gt", quotient - nearest, 0.5), nearest + 1.0, nearest)
    return b.select(quotient.differs(0.0), nearest, b.intrinsic("copysign", b.constant(0.0, x.dtype), x / y))


for _name, _test in (
    ("equal", "eq"), ("not_equal", "ne"), ("less", "lt"), ("less_equal", "le"), ("greater", "gt"),
    ("greater_equal", "ge"),
):  # fmt: skip
    element(_name)(lambda b, x, y, test=_test: b.compare(test, x, y))


@element("maximum")
def maximum(b: Elements, x: Any, y: Any) -> Any:
    """Return the larger operand: nan if either is nan, the second operand if both are zeros."""
    return b.select((x > y) | b.is_nan(x), x, y) if x.dtype.is_floating else b.select(x > y, x, y)


@element("minimum")
def minimum(b: Elements, x: Any, y: Any) -> Any:
    return b.select((x < y) | b.is_nan(x), x, y) if x.dtype.is_floating else b.select(x < y, x, y)


@element("abs")
def absolute(b: Elements, x: Any) -> Any:
    if x.dtype.is_floating:
        return b.intrinsic("fabs", x)
    return x if x.dtype.is_unsigned or x.dtype.is_bool else b.select(x < 0, -x, x)


@element("sign")
def sign(b: Elements, x: Any) -> Any:
    """Return -1, 0 or 1, and NaN for NaN; None for bools, which have no sign."""
    if x.dtype.is_bool:
        return None
    one_or_zero = b.select(x > 0, b.constant(1, x.dtype), 0)
    if x.dtype.is_unsigned:
        return one_or_zero
    result = b.select(x < 0, b.constant(-1, x.dtype), one_or_zero)
    return b.select(b.is_nan(x), x, result) if x.dtype.is_floating else result


@element("select")
def select(b: Elements, condition: Any, x: Any, y: Any) -> Any:
    return b.select(condition, x, y)


@element("cast")
def cast(b: Elements, x: Any, *, dtype: DType) -> Any:
    return b.cast(x, dtype)


@element("zeros_like")
def zeros_like(b: Elements, x: Any, *, dtype: DType | None = None) -> Any:
    return b.constant(0, dtype or x.dtype)


@element("ones_like")
def ones_like(b: Elements, x: Any, *, dtype: DType | None = None) -> Any:
    return b.constant(1, dtype or x.dtype)


@element("relu")
def relu(b: Elements, x: Any) -> Any:
    return maximum(b, x, b.constant(0, x.dtype))


for _name, _symbol in (("logical_and", "and"), ("logical_or", "or"), ("logical_xor", "xor")):
    element(_name)(lambda b, x, y, symbol=_symbol: b.bits(symbol, b.cast(x, bool_), b.cast(y, bool_)))
for _name, _symbol in (("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor")):
    element(_name)(lambda b, x, y, symbol=_symbol: b.bits(symbol, x, y))


@element("logical_not")
def logical_not(b: Elements, x: Any) -> Any:
    return ~b.cast(x, bool_)


@element("invert")
def invert(b: Elements, x: Any) -> Any:
    return ~x


@element("left_shift")
def left_shift(b: Elements, x: Any, y: Any) -> Any:
    """Shift left; by a number out of range the result is 0, as in NumPy."""
    bits = x.dtype.size * 8
    is_in_range = b.compare("ge", y, 0) & b.compare("lt", y, bits)
    return b.select(is_in_range, b.bits("shl", x, b.select(is_in_range, y, 0)), 0)


@element("right_shift")
def right_shift(b: Elements, x: Any, y: Any) -> Any:
    """Shift right; by a number out of range the result is the sign, 0 or -1, as in NumPy."""
    bits = x.dtype.size * 8
    is_in_range = b.compare("ge", y, 0) & b.compare("lt", y, bits)
    shift_op = "lshr" if x.dtype.is_unsigned else "ashr"
    # An arithmetic shift by all bits but one gives the sign.
    shifted_x = b.select(is_in_range, x, x if shift_op == "ashr" else 0)
    return b.bits(shift_op, shifted_x, b.select(is_in_range, y, bits - 1))


@element("bitcast")
def bitcast(b: Elements, x: Any, dtype: DType) -> Any:
    return None if x.dtype.is_complex or dtype.is_complex else b.bitcast(x, dtype)


@element("sign_bit")
def sign_bit(b: Elements, x: Any) -> Any:
    """Return whether the sign is negative, also of zeros and nans."""
    if not x.dtype.is_floating:
        return x < 0
    return b.bitcast(x, {2: int16, 4: int32, 8: int64}[x.dtype.size]) < 0


@element("is_nan")
def is_nan(b: Elements, x: Any) -> Any:
    return b.is_nan(x) if x.dtype.is_floating else b.constant(False, bool_)


@element("is_inf")
def is_inf(b: Elements, x: Any) -> Any:
    return b.intrinsic("fabs", x).same(float("inf")) if x.dtype.is_floating else b.constant(False, bool_)


@element("is_finite")
def is_finite(b: Elements, x: Any) -> Any:
    return b.compare("lt", b.intrinsic("fabs", x), float("inf")) if x.dtype.is_floating else b.constant(True, bool_)


for _name, _intrinsic in (
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("trunc", "trunc"),
    ("rint", "rint"),
    ("round", "rint"),
):
    element(_name)(lambda b, x, name=_intrinsic: b.intrinsic(name, x) if x.dtype.is_floating else x)
