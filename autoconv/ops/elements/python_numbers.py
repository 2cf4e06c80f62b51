"""Element rules of Python's numbers.

Ints are exact. `b.raise_if` calls the op's kernel where Python raises, and where a result exceeds 64 bits, so that the
kernel raises the error. `b.fail_if` calls the kernel where the rule cannot compute the result.
"""

from __future__ import annotations

import functools
from typing import Any

from autoconv.graph.dtypes import DType, bool_, float64, int64, uint64
from autoconv.ops.elements.arithmetic import floor_quotient, is_rounded_up, safe_divisor
from autoconv.ops.elements.registry import Elements, element

_MAX_EXACT = 2**53  # float64 represents every integer up to it


def _to_common_kind(b: Elements, *operands: Any) -> tuple[Any, ...]:
    """Return the operands, converted as Python does: to float if one is a float, else to int.

    An int that is not exact as a float goes to the kernel.
    """
    if not any(x.dtype.is_floating for x in operands):
        return tuple(b.cast(x, int64) for x in operands)
    return tuple(_exact_float(b, x) for x in operands)


def _exact_float(b: Elements, x: Any) -> Any:
    """Return a number as a float; an int that is not exact as a float goes to the kernel."""
    if x.dtype.is_integer:
        b.fail_if(b.compare("gt", x, _MAX_EXACT) | b.compare("lt", x, -_MAX_EXACT))
    return b.cast(x, float64)


def _have_python_dtypes(*operands: Any) -> bool:
    """Return whether the operands have the dtypes of Python's bools, ints and floats."""
    return all(x.dtype in (bool_, int64, float64) for x in operands)


for _name, _overflow_op in (("add", "add"), ("subtract", "sub"), ("multiply", "mul")):

    def _rule(b: Elements, x: Any, y: Any, *, name: str = _name, overflow_op: str = _overflow_op) -> Any:
        """Add, subtract or multiply; an integer beyond 64 bits raises."""
        if not _have_python_dtypes(x, y):
            return None
        x, y = _to_common_kind(b, x, y)
        if x.dtype.is_floating:
            return {"add": x.__add__, "subtract": x.__sub__, "multiply": x.__mul__}[name](y)
        result, overflows = b.with_overflow(overflow_op, x, y)
        b.raise_if(overflows)
        return result

    element(f"python_{_name}")(_rule)


@element("python_negative")
def negative(b: Elements, x: Any) -> Any:
    """Return the negative; that of the least int64 raises."""
    if not _have_python_dtypes(x):
        return None
    (x,) = _to_common_kind(b, x)
    if not x.dtype.is_floating:
        b.raise_if(x.same(-(2**63)))
    return -x


@element("python_abs")
def absolute(b: Elements, x: Any) -> Any:
    """Return the magnitude; that of the least int64 raises."""
    if not _have_python_dtypes(x):
        return None
    (x,) = _to_common_kind(b, x)
    if x.dtype.is_floating:
        return b.intrinsic("fabs", x)
    b.raise_if(x.same(-(2**63)))
    return b.select(x < 0, -x, x)


@element("python_divide")
def divide(b: Elements, x: Any, y: Any) -> Any:
    if not _have_python_dtypes(x, y):
        return None
    x, y = _exact_float(b, x), _exact_float(b, y)
    b.raise_if(y.same(0.0))
    return x / y


@element("python_floor_divide")
def floor_divide(b: Elements, x: Any, y: Any) -> Any:
    """Return Python's quotient, rounded down; None for other dtypes. A divisor of zero fails."""
    if not _have_python_dtypes(x, y):
        return None
    x, y = _to_common_kind(b, x, y)
    if x.dtype.is_floating:
        b.raise_if(y.same(0.0))
        return floor_quotient(b, x, y)
    b.raise_if(y.same(0) | (y.same(-1) & x.same(-(2**63))))
    divisor, _ = safe_divisor(b, x, y)
    quotient = b.divide(x, divisor)
    remainder = x - quotient * divisor
    return b.select(is_rounded_up(remainder, divisor), quotient - 1, quotient)


@element("python_modulo")
def modulo(b: Elements, x: Any, y: Any) -> Any:
    """Return Python's remainder, with the sign of the divisor; None for other dtypes. A divisor of zero fails."""
    if not _have_python_dtypes(x, y):
        return None
    x, y = _to_common_kind(b, x, y)
    if x.dtype.is_floating:
        b.raise_if(y.same(0.0))
        remainder = b.remainder(x, y)
        signs_differ = b.compare("lt", y, 0.0) ^ b.compare("lt", remainder, 0.0)
        remainder_with_sign = b.select(signs_differ, remainder + y, remainder)
        return b.select(remainder.differs(0.0), remainder_with_sign, b.intrinsic("copysign", remainder, y))
    b.raise_if(y.same(0))
    divisor, _ = safe_divisor(b, x, y)
    remainder = b.remainder(x, divisor)
    return b.select(is_rounded_up(remainder, divisor), remainder + divisor, remainder)


for _name, _test in (
    ("equal", "eq"), ("not_equal", "ne"), ("less", "lt"), ("less_equal", "le"), ("greater", "gt"),
    ("greater_equal", "ge"),
):  # fmt: skip

    def _comparison(b: Elements, x: Any, y: Any, *, test: str = _test) -> Any:
        if not _have_python_dtypes(x, y):
            return None
        return b.compare(test, *_to_common_kind(b, x, y))

    element(f"python_{_name}")(_comparison)

for _name in ("and", "or", "xor"):

    def _bitwise(b: Elements, x: Any, y: Any, *, name: str = _name) -> Any:
        if not _have_python_dtypes(x, y) or x.dtype.is_floating or y.dtype.is_floating:
            return None
        if not (x.dtype.is_bool and y.dtype.is_bool):
            x, y = _to_common_kind(b, x, y)
        return b.bits(name, x, y)

    element(f"python_{_name}")(_bitwise)


@element("python_invert")
def invert(b: Elements, x: Any) -> Any:
    return ~b.cast(x, int64) if x.dtype in (bool_, int64) else None


@element("python_left_shift")
def left_shift(b: Elements, x: Any, y: Any) -> Any:
    """Shift left; a negative or large distance fails, and a result beyond 64 bits raises. None for floats."""
    if x.dtype.is_floating or y.dtype.is_floating:
        return None
    x, y = _to_common_kind(b, x, y)
    b.fail_if(b.compare("lt", y, 0) | b.compare("gt", y, 62))
    shifted_x = b.bits("shl", x, y)
    b.raise_if(b.bits("ashr", shifted_x, y).differs(x))
    return shifted_x


@element("python_right_shift")
def right_shift(b: Elements, x: Any, y: Any) -> Any:
    if x.dtype.is_floating or y.dtype.is_floating:
        return None
    x, y = _to_common_kind(b, x, y)
    b.raise_if(b.compare("lt", y, 0))
    return b.bits("ashr", x, b.select(b.compare("gt", y, 63), 63, y))


@element("python_cast")
def cast(b: Elements, x: Any, *, dtype: DType, weak: bool = False) -> Any:
    """Convert; an int64 that does not fit raises. None for integers of other dtypes that may not fit."""
    may_not_fit = (
        dtype.is_integer and x.dtype.is_integer and not dtype.min <= x.dtype.min <= x.dtype.max <= dtype.max
    )
    if may_not_fit:
        if x.dtype is not int64:
            return None
        b.raise_if(b.compare("gt", x, min(dtype.max, 2**63 - 1)) | b.compare("lt", x, dtype.min))
    return b.cast(x, dtype)


@element("range_item")
def range_item(b: Elements, position: Any, start: Any, stop: Any, step: Any) -> Any:
    """Return the item at `position`; it lies between start and stop, so nothing overflows."""
    if not all(x.dtype is int64 for x in (position, start, stop, step)):
        return None
    return start + position * step


@element("range_length")
def range_length(b: Elements, start: Any, stop: Any, step: Any) -> Any:
    """Return the number of items, or the int64 maximum if there are more; uint64 holds the distance of the bounds."""
    if not all(x.dtype is int64 for x in (start, stop, step)):
        return None
    is_ascending = step > 0
    low, high = b.select(is_ascending, start, stop), b.select(is_ascending, stop, start)
    step_size = b.cast(b.select(is_ascending, step, -step), uint64)
    step_size = b.select(step_size.same(0), 1, step_size)
    count = b.cast((b.cast(high, uint64) - b.cast(low, uint64) - 1) / step_size, int64) + 1
    return b.select(high > low, b.select(count > 0, count, int64.max), 0)


@element("common_size")
def common_size(b: Elements, first: Any, *further_sizes: Any) -> Any:
    """Return the broadcast size; incompatible sizes go to the kernel, which raises."""
    if not all(x.dtype is int64 for x in (first, *further_sizes)):
        return None
    size = first
    for further_size in further_sizes:
        b.raise_if(size.differs(further_size) & size.differs(1) & further_size.differs(1))
        size = b.select(size.same(1), further_size, size)
    return size


@element("python_int")
def to_integer(b: Elements, x: Any) -> Any:
    """Return the number without its fraction; one that int64 cannot hold goes to the kernel."""
    if not x.dtype.is_floating:
        number = b.cast(x, int64)
        if x.dtype is uint64:  # numbers from 2**63 on are negative as int64
            b.raise_if(number < 0)
        return number
    # The negated comparisons are true for nan too.
    b.raise_if(~(b.compare("gt", x, -(2.0**63)) & b.compare("lt", x, 2.0**63)))
    return b.cast(x, int64)


@element("python_round")
def round_half_to_even(b: Elements, x: Any, *, digits: int | None) -> Any:
    """Return a number rounded half to even, as an int; None with `digits`, for which the kernel calls Python."""
    if digits is not None:
        return None
    return to_integer(b, b.intrinsic("rint", x) if x.dtype.is_floating else x)


@element("python_float")
def to_float(b: Elements, x: Any) -> Any:
    return b.cast(x, float64)


@element("python_bool")
def truth(b: Elements, x: Any) -> Any:
    return b.cast(x, bool_)


@element("python_power")
def power(b: Elements, x: Any, y: Any) -> Any:
    """Return the power; for floats, that of the C library.

    Operands for which Python raises, or has a complex result, go to the kernel.
    """
    if not _have_python_dtypes(x, y):
        return None
    if not (x.dtype.is_floating or y.dtype.is_floating):
        return _integer_power(b, *_to_common_kind(b, x, y))
    exponent = b.known_exponent(y)
    x, y = _exact_float(b, x), _exact_float(b, y)
    result = b.libm("pow", x, y) if exponent is None else _power_by_products(b, x, y, exponent)
    is_infinite_of_finite = b.intrinsic("fabs", result).same(float("inf"))  # a quotient by 0, or an overflow
    for operand in (x, y):
        is_infinite_of_finite = is_infinite_of_finite & b.compare("lt", b.intrinsic("fabs", operand), float("inf"))
    b.fail_if(is_infinite_of_finite | (b.is_nan(result) & ~b.is_nan(x) & ~b.is_nan(y)))
    return result


def _power_by_products(b: Elements, x: Any, y: Any, exponent: int) -> Any:
    """Return the power of a float by products, or by the C library where the last bit is in doubt.

    The power and its rounding error are computed with some 100 bits. If the error is at most 4/9 of a unit in the last
    place, no function with an error of less than 0.55 units has another result. The C library computes the other
    powers, which are every ninth, and those near the limits of the range.
    """
    factors = [(x, None)]  # x, x², x⁴ and x⁸, as far as they are needed, each with its error
    while len(factors) < exponent.bit_length():
        factors.append(_exact_product(b, factors[-1], factors[-1]))
    power, error = functools.reduce(
        functools.partial(_exact_product, b), (factor for i, factor in enumerate(factors) if exponent >> i & 1)
    )
    rounded = power + error
    rounding_error = error - (rounded - power)
    magnitude = b.intrinsic("fabs", rounded)
    is_certain = (rounded + rounding_error * 1.125).same(rounded) & (magnitude > 2.0**-900) & (magnitude < 2.0**900)

    def call_library(*_: Any) -> tuple[Any, list[Any]]:
        # LLVM would make a direct call, which has no effects, for all operands, and then select results.
        return b.constant(False, bool_), [b.routine("library_power", lambda b, x, y: b.libm("pow", x, y), x, y)]

    (result,) = b.iterate(~is_certain, [rounded], call_library, 1)
    return result


def _exact_product(b: Elements, x: tuple[Any, Any], y: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return a product and its error; a factor is a pair of a number and its error, None if it is exact."""
    (x_value, x_error), (y_value, y_error) = x, y
    product = x_value * y_value
    error = b.fma(x_value, y_value, -product)
    for value, error_of_other_factor in ((x_value, y_error), (y_value, x_error)):
        if error_of_other_factor is not None:
            error = b.fma(value, error_of_other_factor, error)
    return product, error


def _integer_power(b: Elements, x: Any, y: Any) -> Any:
    """Return the power of ints by squaring; negative exponents go to the kernel.

    With exponents above 63, all powers but those of -1, 0 and 1 exceed 64 bits. For these bases, exponents of 2 and 3
    stand for all greater even and odd ones.
    """
    is_small_base = (x < 2) & (x > -2)
    y = b.select(is_small_base & (y > 1), b.bits("and", y, b.constant(1, int64)) + 2, y)
    b.fail_if(b.compare("lt", y, 0))
    b.raise_if(b.compare("gt", y, 63))
    result, square = b.constant(1, int64), x
    square_overflowed = None  # None before the first square is computed
    for bit in range(6):
        is_set = b.bits("and", y, b.constant(1 << bit, int64)).differs(0)
        product, overflows = b.with_overflow("mul", result, square)
        b.raise_if(is_set & (overflows if square_overflowed is None else overflows | square_overflowed))
        result = b.select(is_set, product, result)
        if bit < 5:
            square, overflows = b.with_overflow("mul", square, square)
            square_overflowed = overflows if square_overflowed is None else overflows | square_overflowed
    return result
