"""Element rules of Python's module math: the C library's functions.

Infinities and nan are valid operands. `b.fail_if` sends operands for which Python raises to the kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import factorial, pi
from typing import Any

from autoconv.graph.dtypes import bool_, float64, int64
from autoconv.ops.elements.arithmetic import gcd, neighbour
from autoconv.ops.elements.registry import Elements, element
from autoconv.ops.elements.special import gamma, lgamma

_INF = float("inf")


@element("python_math")
def math(b: Elements, *operands: Any, function: str, is_exported: bool = False) -> Any:
    """Return the named function of numbers that are converted to its kind; `is_exported` is explained in `rule_of`."""
    rule = rule_of(function, len(operands), is_exported)
    if rule is None or not all(x.dtype in (bool_, int64, float64) for x in operands):
        return None
    if function in _ROUNDING_FUNCTIONS and operands[0].dtype is not float64:
        return b.cast(operands[0], int64)
    if function in _INTEGER_FUNCTIONS:
        return None if float64 in [x.dtype for x in operands] else rule(b, *(b.cast(x, int64) for x in operands))
    if function == "ldexp":
        x, exponent = operands
        return None if exponent.dtype is float64 else rule(b, b.cast(x, float64), exponent)
    return rule(b, *(b.cast(x, float64) for x in operands))


def rule_of(function: str, operand_count: int, is_exported: bool) -> Callable[..., Any] | None:
    """Return the rule of a function with so many operands; None if it has none.

    `is_exported` is true in graphs for other runtimes, which cannot call Python's function. There, rules whose results
    may differ from Python's in the last places are used as well.
    """
    if function in _FOLDED_FUNCTIONS and operand_count > 2:
        pair_rule = rule_of(function, 2, is_exported)
        return None if pair_rule is None else lambda b, *x: functools.reduce(functools.partial(pair_rule, b), x)
    rule = _RULES.get((function, operand_count))
    return _EXPORTED_RULES.get((function, operand_count)) if rule is None and is_exported else rule


def _magnitude(b: Elements, x: Any) -> Any:
    """Return |x|."""
    return b.intrinsic("fabs", x)


def _overflows(b: Elements, result: Any, *operands: Any) -> Any:
    """Return whether a result is infinite and no operand is."""
    is_failure = _magnitude(b, result).same(_INF)
    for x in operands:
        is_failure = is_failure & b.compare("lt", _magnitude(b, x), _INF)
    return is_failure


def _is_invalid(b: Elements, result: Any, *operands: Any) -> Any:
    """Return whether a result is nan and no operand is."""
    is_failure = b.is_nan(result)
    for x in operands:
        is_failure = is_failure & ~b.is_nan(x)
    return is_failure


# By function: whether Python raises for x, given the result of the C library; None for a function that never raises.
_FAILURE_TESTS: dict[str, Callable[[Elements, Any, Any], Any] | None] = {
    **dict.fromkeys(("log", "log2", "log10"), lambda b, x, result: b.compare("le", x, 0.0)),
    **dict.fromkeys(("sin", "cos", "tan"), lambda b, x, result: _magnitude(b, x).same(_INF)),
    **dict.fromkeys(("asin", "acos"), lambda b, x, result: b.compare("gt", _magnitude(b, x), 1.0)),
    **dict.fromkeys(("exp", "exp2", "expm1", "sinh", "cosh"), lambda b, x, result: _overflows(b, result, x)),
    **dict.fromkeys(("atan", "tanh", "asinh", "erf", "erfc", "cbrt")),
    "sqrt": lambda b, x, result: b.compare("lt", x, 0.0),
    "log1p": lambda b, x, result: b.compare("le", x, -1.0),
    "acosh": lambda b, x, result: b.compare("lt", x, 1.0),
    "atanh": lambda b, x, result: b.compare("ge", _magnitude(b, x), 1.0),
}

C_FUNCTIONS = frozenset({*_FAILURE_TESTS, "atan2", "pow"})  # functions of the C library that the rules call


def _c_function(name: str) -> Callable[..., Any]:
    """Return the rule that calls a function of the C library."""

    def rule(b: Elements, x: Any) -> Any:
        result = b.intrinsic("sqrt", x) if name == "sqrt" else b.libm(name, x)
        failure_test = _FAILURE_TESTS[name]
        if failure_test is not None:
            b.raise_if(failure_test(b, x, result))
        return result

    return rule


def _rounding_rule(name: str) -> Callable[..., Any]:
    """Return the rule of a function that rounds a float to an int."""

    def rule(b: Elements, x: Any) -> Any:
        # The negated comparisons are true for nan too.
        b.raise_if(~(b.compare("ge", x, -(2.0**63)) & b.compare("lt", x, 2.0**63)))
        return b.cast(b.intrinsic(name, x), int64)

    return rule


def _power(b: Elements, x: Any, y: Any) -> Any:
    result = b.libm("pow", x, y)
    b.fail_if(_is_invalid(b, result, x, y) | _overflows(b, result, x, y))
    return result


def _fmod(b: Elements, x: Any, y: Any) -> Any:
    """Return the remainder with the sign of x."""
    result = b.remainder(x, y)
    b.fail_if(_is_invalid(b, result, x, y))
    return result


def _nearest_remainder(b: Elements, x: Any, y: Any) -> Any:
    """Return x - n·y, exactly, for the integer n nearest to x / y, the even one if two are equally near."""
    x_magnitude, y_magnitude = _magnitude(b, x), _magnitude(b, y)
    remainder = b.remainder(x_magnitude, y_magnitude)
    complement = y_magnitude - remainder
    # If two integers are equally near, the remainder is |y|/2, and n is the even one. The smaller one is even if its
    # half is an integer, so that `half_remainder` is 0. Then the result is |y|/2, otherwise -|y|/2.
    half_remainder = b.remainder((x_magnitude - remainder) * 0.5, y_magnitude)
    middle = remainder - half_remainder * 2.0
    result = b.select(remainder < complement, remainder, b.select(remainder > complement, -complement, middle))
    result = result * b.intrinsic("copysign", b.constant(1.0, float64), x)
    b.fail_if(_is_invalid(b, result, x, y))
    return result


def _gamma(b: Elements, x: Any) -> Any:
    result = gamma(b, x)
    b.fail_if(_is_invalid(b, result, x) | _overflows(b, result, x))
    return result


def _log_gamma(b: Elements, x: Any) -> Any:
    result = lgamma(b, x)
    b.fail_if(_overflows(b, result, x))
    return result


def _logarithm(b: Elements, x: Any, base: Any) -> Any:
    b.fail_if(b.compare("le", x, 0.0) | b.compare("le", base, 0.0) | base.same(1.0))
    return b.libm("log", x) / b.libm("log", base)


def _gcd(b: Elements, x: Any, y: Any) -> Any:
    divisor = gcd(b, x, y)
    b.fail_if(divisor < 0)  # gcd(-2**63, 0) is 2**63, which wraps around
    return divisor


def _lcm(b: Elements, x: Any, y: Any) -> Any:
    divisor = gcd(b, x, y)
    multiple, overflows = b.with_overflow("mul", b.divide(x, b.select(divisor < 1, 1, divisor)), y)
    b.fail_if(overflows | multiple.same(int64.min))
    return b.select(multiple < 0, -multiple, multiple)


_MAX_ROOT = 3_037_000_499  # the root of the largest int64, rounded down


def _integer_root(b: Elements, x: Any) -> Any:
    """Return the square root rounded down: the root of the nearest float may be too large or too small by 1."""
    b.fail_if(x < 0)
    root = b.cast(b.intrinsic("sqrt", b.cast(b.select(x < 0, 0, x), float64)), int64)
    root = b.select(root > _MAX_ROOT, _MAX_ROOT, root)
    root = b.select(root * root > x, root - 1, root)
    next_root = b.select(root < _MAX_ROOT, root + 1, root)
    return b.select(next_root * next_root <= x, next_root, root)


def _factorial(b: Elements, x: Any) -> Any:
    b.fail_if((x < 0) | (x > 20))
    result = b.constant(1, int64)
    for n in range(2, 21):
        result = b.select(x.same(n), factorial(n), result)
    return result


def _arrangements(b: Elements, n: Any, k: Any) -> Any:
    """Return n·(n - 1)·…·(n - k + 1), or 0 for k > n; more than 20 factors exceed 64 bits."""
    is_zero = k > n
    is_too_long = (k > 20) & ~is_zero
    b.fail_if((n < 0) | (k < 0) | is_too_long)
    result = b.constant(1, int64)
    for i in range(20):
        is_step = (k > i) & ~is_zero
        product, overflows = b.with_overflow("mul", result, b.select(is_step, n - i, 1))
        b.fail_if(overflows)
        result = product
    return b.select(is_zero, 0, result)


def _combinations(b: Elements, n: Any, k: Any) -> Any:
    """Return the binomial coefficient C(n, k), or 0 for k > n.

    C(n, k) is C(n, n - k), so the smaller of k and n - k is used. Step i multiplies by n - i and divides by i + 1; each
    division is exact.
    """
    is_zero = k > n
    k = b.select(is_zero, 0, b.select(k > n - k, n - k, k))
    b.fail_if((n < 0) | (k < 0) | (k > _MAX_CHOSEN) | ((k > 1) & (n > _MAX_CHOICES)))
    n = b.select((n > _MAX_CHOICES) & k.differs(1), 0, n)  # with k = 0: the factors are not used, and stay small
    result = b.constant(1, int64)
    for i in range(_MAX_CHOSEN):
        factor, divisor = n - i, b.constant(i + 1, int64)
        quotient = b.divide(result, divisor)
        remainder = result - quotient * (i + 1)
        product, overflows = b.with_overflow("mul", quotient, factor)
        next_result, sum_overflows = b.with_overflow("add", product, b.divide(remainder * factor, divisor))
        is_step = k > i
        b.fail_if(is_step & (overflows | sum_overflows))
        result = b.select(is_step, next_result, result)
    return b.select(is_zero, 0, result)


def _is_close(b: Elements, x: Any, y: Any) -> Any:
    """Return whether numbers are equal, or finite and differ by at most 10⁻⁹ times the larger magnitude."""
    larger = b.select(_magnitude(b, x) > _magnitude(b, y), _magnitude(b, x), _magnitude(b, y))
    return x.same(y) | (b.compare("lt", larger, _INF) & b.compare("le", _magnitude(b, x - y), larger * 1e-9))


def _scale(b: Elements, x: Any, exponent: Any) -> Any:
    """Return x·2^exponent, by three products; only the last one rounds.

    As in C libraries, the first two multiply by 2^-969 at least, where 2^-1022 would be possible. The 53
    binary places in between keep all bits of a number that the last product makes subnormal.
    """
    exponent_left, result = b.cast(exponent, int64), x
    exponent_left = b.select(exponent_left > 2200, 2200, b.select(exponent_left < -2200, -2200, exponent_left))
    for _ in range(2):
        step = b.select(exponent_left > 1023, 1023, b.select(exponent_left < -1022, b.constant(-969, int64), 0))
        result = result * _power_of_two(b, step)
        exponent_left = exponent_left - step
    result = result * _power_of_two(b, b.select(exponent_left < -1022, -1022, exponent_left))
    b.fail_if(_overflows(b, result, x))
    return result


def _power_of_two(b: Elements, exponent: Any) -> Any:
    """Return 2^exponent, for exponents from -1022 to 1023: the bits are the biased exponent."""
    return b.bitcast(b.bits("shl", exponent + 1023, 52), float64)


def _is_zero_or_not_finite(b: Elements, x: Any) -> Any:
    return x.same(0.0) | ~b.compare("lt", _magnitude(b, x), _INF)


def _scaled_to_normal(b: Elements, x: Any) -> tuple[Any, Any]:
    """Return the bits of a number that is not subnormal, and the exponent that its scaling has added."""
    is_subnormal = _magnitude(b, x) < 2.0**-1022
    bits = b.bitcast(b.select(is_subnormal, x * 2.0**52, x), int64)
    return bits, b.select(is_subnormal, b.constant(52, int64), 0)


def _mantissa(b: Elements, x: Any) -> Any:
    bits, _ = _scaled_to_normal(b, x)
    mantissa = b.bits("or", b.bits("and", bits, ~(2047 << 52)), 1022 << 52)
    return b.select(_is_zero_or_not_finite(b, x), x, b.bitcast(mantissa, float64))


def _exponent(b: Elements, x: Any) -> Any:
    bits, added_exponent = _scaled_to_normal(b, x)
    exponent = b.bits("and", b.bits("lshr", bits, 52), 2047) - 1022 - added_exponent
    return b.select(_is_zero_or_not_finite(b, x), 0, exponent)


def _fraction(b: Elements, x: Any) -> Any:
    fraction = x - b.intrinsic("trunc", x)
    return b.intrinsic("copysign", b.select(_magnitude(b, x).same(_INF), 0.0, fraction), x)


def _unit_in_last_place(b: Elements, x: Any) -> Any:
    """Return the distance to the next larger magnitude; for the largest finite one, to the next smaller magnitude."""
    magnitude = _magnitude(b, x)
    infinity, zero = b.constant(_INF, float64), b.constant(0.0, float64)
    is_largest = magnitude.same(_LARGEST)
    next_magnitude = neighbour(b, magnitude, b.select(is_largest, zero, infinity))
    distance = b.select(is_largest, magnitude - next_magnitude, next_magnitude - magnitude)
    return b.select(magnitude.same(_INF), infinity, distance)


_LARGEST = 1.7976931348623157e308  # of the finite floats
_FOLDED_FUNCTIONS = frozenset(["gcd", "lcm", "hypot"])  # f(x, y, z) is f(f(x, y), z)
_MAX_CHOSEN = 33  # the largest k: C(66, 33) fits 64 bits, C(68, 34) does not
_MAX_CHOICES = 2**33  # the largest n for k from 2 on: above it, C(n, 2) does not fit 64 bits
_INTEGER_FUNCTIONS = ("gcd", "lcm", "isqrt", "factorial", "comb", "perm")
_ROUNDING_FUNCTIONS = ("floor", "ceil", "trunc")
_RULES: dict[tuple[str, int], Callable[..., Any]] = {  # by (function, number of operands)
    **{(name, 1): _c_function(name) for name in _FAILURE_TESTS},
    **{(name, 1): _rounding_rule(name) for name in _ROUNDING_FUNCTIONS},
    ("fabs", 1): _magnitude,
    ("degrees", 1): lambda b, x: x * (180.0 / pi),
    ("radians", 1): lambda b, x: x * (pi / 180.0),
    ("isnan", 1): lambda b, x: b.is_nan(x),
    ("isinf", 1): lambda b, x: _magnitude(b, x).same(_INF),
    ("isfinite", 1): lambda b, x: b.compare("lt", _magnitude(b, x), _INF),
    ("atan2", 2): lambda b, y, x: b.libm("atan2", y, x),
    ("copysign", 2): lambda b, x, y: b.intrinsic("copysign", x, y),
    ("fmod", 2): _fmod,
    ("remainder", 2): _nearest_remainder,
    ("log", 2): _logarithm,
    ("pow", 2): _power,
    ("gcd", 2): _gcd,
    ("lcm", 2): _lcm,
    ("isqrt", 1): _integer_root,
    ("factorial", 1): _factorial,
    ("comb", 2): _combinations,
    ("perm", 2): _arrangements,
    ("perm", 1): _factorial,
    ("isclose", 2): _is_close,
    ("ldexp", 2): _scale,
    ("nextafter", 2): neighbour,
    ("ulp", 1): _unit_in_last_place,
    ("frexp_mantissa", 1): _mantissa,
    ("frexp_exponent", 1): _exponent,
    ("modf_fraction", 1): _fraction,
    ("modf_integer", 1): lambda b, x: b.intrinsic("trunc", x),
}
_EXPORTED_RULES: dict[tuple[str, int], Callable[..., Any]] = {
    ("hypot", 2): lambda b, x, y: b.libm("hypot", x, y),
    ("gamma", 1): _gamma,
    ("lgamma", 1): _log_gamma,
}
