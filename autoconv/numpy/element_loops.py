"""Loops of ufuncs that consist of several ops: over complex numbers, over the bits of floats, and with ints.

Complex numbers are computed by real and imaginary parts. NumPy orders them lexicographically by real part, then by
imaginary part; a number with a nan part is neither less nor greater than any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, float32, float64, int32, int64
from autoconv.numpy.operands import cast, tensor
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Loop = Callable[..., Any]


def apply_by_parts(function: Callable[[Tensor], Any], x: Tensor) -> Any:
    """Return complex numbers with the function applied to both parts of x."""
    return apply("complex", function(apply("real", x)), function(apply("imag", x)))


def _scale(x: Tensor, factor: float) -> Any:
    """Return complex numbers multiplied by a real factor."""
    return apply_by_parts(lambda part: apply("multiply", part, tensor(factor, part.dtype)), x)


def _exp2(x: Tensor) -> Any:
    return apply("exp", _scale(x, math.log(2)))


def _log2(x: Tensor) -> Any:
    return _scale(apply("log", x), 1 / math.log(2))


def _log10(x: Tensor) -> Any:
    return _scale(apply("log", x), 1 / math.log(10))


def _rint(x: Tensor) -> Any:
    return apply_by_parts(lambda part: apply("rint", part), x)


def _sign(x: Tensor) -> Any:
    """Return x / |x|: 0 for zero, nan for two infinite parts, and ±1 or ±1j for one infinite part.

    If the magnitude overflows although both parts are finite, the result is 1j or -1j, by the sign of the imaginary
    part, as in NumPy.
    """
    real, imag = apply("real", x), apply("imag", x)
    magnitude = apply("hypot", real, imag)
    zero, one = apply("zeros_like", magnitude), apply("ones_like", magnitude)
    is_zero = apply("equal", magnitude, zero)
    only_real_is_infinite = apply("logical_and", apply("is_inf", real), apply("logical_not", apply("is_inf", imag)))
    real_is_finite = apply("logical_not", apply("is_inf", real))
    only_imaginary_is_infinite = apply("logical_and", apply("is_inf", magnitude), real_is_finite)

    def divide_part(part: Tensor, is_infinite: Tensor, other_is_infinite: Tensor) -> Any:
        result = apply("divide", part, apply("select", is_zero, one, magnitude))
        result = apply("select", is_infinite, apply("sign", part), apply("select", other_is_infinite, zero, result))
        return apply("select", is_zero, zero, result)

    real_part = divide_part(real, only_real_is_infinite, only_imaginary_is_infinite)
    imaginary_part = divide_part(imag, only_imaginary_is_infinite, only_real_is_infinite)
    return apply("complex", real_part, imaginary_part)


def _comparison_loop(real_op: str, imaginary_op: str) -> Loop:
    """Return the loop of a comparison: by the real parts, or by the imaginary parts if the real parts are equal.

    A nan real part makes both of these comparisons false; a nan imaginary part is tested for.
    """

    def loop(x: Tensor, y: Tensor) -> Any:
        (xr, xi), (yr, yi) = ((apply("real", operand), apply("imag", operand)) for operand in (x, y))
        is_imaginary_part_nan = apply("logical_or", apply("is_nan", xi), apply("is_nan", yi))
        imaginary_parts_are_numbers = apply("logical_not", is_imaginary_part_nan)
        by_real_part = apply("logical_and", apply(real_op, xr, yr), imaginary_parts_are_numbers)
        by_imaginary_part = apply("logical_and", apply("equal", xr, yr), apply(imaginary_op, xi, yi))
        return apply("logical_or", by_real_part, by_imaginary_part)

    return loop


def _select_by_order(order: Loop, ignores_nans: bool) -> Loop:
    """Return a loop that selects the operand that comes first in `order`.

    With `ignores_nans` (fmax, fmin), the first operand is also selected if the second one has a nan part. Otherwise
    (maximum, minimum) it is also selected if it has a nan part itself.
    """

    def loop(x: Tensor, y: Tensor) -> Any:
        is_first = apply("logical_or", order(x, y), apply("is_nan", y if ignores_nans else x))
        return apply("select", is_first, x, y)

    return loop


_GREATER_EQUAL, _LESS_EQUAL = _comparison_loop("greater", "greater_equal"), _comparison_loop("less", "less_equal")

COMPLEX_LOOPS: dict[str, Loop] = {
    "exp2": _exp2, "log2": _log2, "log10": _log10, "rint": _rint, "sign": _sign,
    "less": _comparison_loop("less", "less"), "less_equal": _LESS_EQUAL,
    "greater": _comparison_loop("greater", "greater"), "greater_equal": _GREATER_EQUAL,
    "maximum": _select_by_order(_GREATER_EQUAL, ignores_nans=False),
    "minimum": _select_by_order(_LESS_EQUAL, ignores_nans=False),
    "fmax": _select_by_order(_GREATER_EQUAL, ignores_nans=True),
    "fmin": _select_by_order(_LESS_EQUAL, ignores_nans=True),
}  # fmt: skip

# ---- parts of floats

# dtype -> (integer dtype of the same size, number of bits of the mantissa, bias of the stored exponent)
_FLOAT_LAYOUTS: dict[DType, tuple[DType, int, int]] = {float32: (int32, 23, 127), float64: (int64, 52, 1023)}


def with_sign_of(magnitude: Tensor, x: Tensor) -> Tensor:
    """Return the magnitude, negative where the sign of `x` is."""
    return apply("select", apply("sign_bit", x), apply("negative", magnitude), magnitude)  # type: ignore[no-any-return]


def modf(x: Tensor) -> Any:
    """Return the fractional and the integral part, both with the sign of `x`."""
    if not x.dtype.is_floating:
        return None
    integral_part = apply("trunc", x)
    fraction = apply("abs", apply("subtract", x, integral_part))
    fraction = apply("select", apply("is_inf", x), tensor(0, x.dtype.numpy), fraction)
    return with_sign_of(fraction, x), integral_part


def frexp(x: Tensor) -> Any:
    """Return the mantissa, of a magnitude from 0.5 to less than 1, and the exponent.

    Zeros, infinities and nans are their own mantissas, with the exponent 0.
    """
    if x.dtype not in _FLOAT_LAYOUTS:
        return None
    dtype, mantissa_bits, bias = _FLOAT_LAYOUTS[x.dtype]
    is_subnormal = apply("less", apply("abs", x), tensor(2.0 ** (1 - bias), x.dtype.numpy))
    normal = apply("select", is_subnormal, apply("multiply", x, tensor(2.0**mantissa_bits, x.dtype.numpy)), x)
    bits = apply("bitcast", normal, dtype=dtype)
    shifted = apply("right_shift", bits, tensor(mantissa_bits, dtype.numpy))
    exponent = apply("bitwise_and", shifted, tensor(2 * bias + 1, dtype.numpy))
    lift = apply("select", is_subnormal, tensor(mantissa_bits, dtype.numpy), tensor(0, dtype.numpy))
    exponent = apply("subtract", apply("subtract", exponent, tensor(bias - 1, dtype.numpy)), lift)
    zero = tensor(0, x.dtype.numpy)
    is_special = apply("logical_or", apply("equal", x, zero), apply("logical_not", apply("is_finite", x)))
    mantissa = apply("select", is_special, x, ldexp(x, apply("negative", exponent)))
    return mantissa, apply("select", is_special, tensor(0, dtype.numpy), exponent)


def ldexp(x: Tensor, exponent: Tensor) -> Any:
    """Return x * 2**exponent, rounded once.

    A float32 is multiplied as a float64. A float64 is multiplied by three powers of two, and only the last product
    rounds.
    """
    if x.dtype not in _FLOAT_LAYOUTS:
        return None
    if x.dtype is float32:
        limited = _limit(cast(exponent, np.int64), -400, 400)  # larger ones also give 0 or infinity
        return cast(apply("multiply", cast(x, np.float64), _power_of_two(limited)), np.float32)
    remaining_exponent = _limit(cast(exponent, np.int64), -2200, 2200)
    for _ in range(2):
        # As in C libraries, -969 = 53 - 1022 keeps all 53 bits, so that no subnormal number is rounded twice.
        step = apply("select", apply("greater", remaining_exponent, tensor(1023)), tensor(1023), tensor(0))
        step = apply("select", apply("less", remaining_exponent, tensor(-1022)), tensor(-969), step)
        x, remaining_exponent = apply("multiply", x, _power_of_two(step)), apply("subtract", remaining_exponent, step)
    return apply("multiply", x, _power_of_two(_limit(remaining_exponent, -1022, 1023)))


def _limit(x: Tensor, low: int, high: int) -> Tensor:
    return apply("minimum", apply("maximum", x, tensor(low)), tensor(high))  # type: ignore[no-any-return]


def _power_of_two(exponent: Tensor) -> Tensor:
    """Return 2**exponent as a float64, for exponents from -1022 to 1023: the bits are the biased exponent."""
    return apply("bitcast", apply("left_shift", apply("add", exponent, tensor(1023)), tensor(52)), dtype=float64)  # type: ignore[no-any-return]


# ---- remainders, distances and bits


def fmod(x: Tensor, y: Tensor) -> Any:
    """Return the remainder that has the sign of `x`; the op `modulo` gives the one that has the sign of `y`."""
    if x.dtype.is_floating:
        return with_sign_of(apply("modulo", apply("abs", x), apply("abs", y)), x)
    remainder, zero = apply("modulo", x, y), tensor(0, x.dtype.numpy)
    have_other_signs = apply("logical_xor", apply("less", x, zero), apply("less", remainder, zero))
    is_adjusted = apply("logical_and", have_other_signs, apply("not_equal", remainder, zero))
    if x.dtype.is_unsigned:
        return remainder
    return apply("select", is_adjusted, apply("subtract", remainder, y), remainder)


def logaddexp2(x: Tensor, y: Tensor) -> Any:
    """Return log2(2**x + 2**y); equal operands, infinite ones included, give the sum of the operand and 1."""
    if not x.dtype.is_floating:
        return None
    distance = apply("abs", apply("subtract", x, y))
    addend = apply("log1p", apply("exp2", apply("negative", distance)))
    addend = apply("multiply", addend, tensor(1 / math.log(2), x.dtype.numpy))
    addend = apply("select", apply("equal", x, y), tensor(1, x.dtype.numpy), addend)
    return apply("add", apply("maximum", x, y), addend)


def spacing(x: Tensor) -> Any:
    """Return the distance to the number of the next larger magnitude, negative for a negative `x`."""
    if x.dtype not in _FLOAT_LAYOUTS:
        return None
    magnitude = apply("abs", x)
    following = apply("nextafter", magnitude, tensor(math.inf, x.dtype.numpy))
    distance = apply("subtract", following, magnitude)
    return apply("select", apply("less", x, tensor(0, x.dtype.numpy)), apply("negative", distance), distance)


def bitwise_count(x: Tensor) -> Any:
    """Add the bits of pairs, then of groups of 4 and 8 bits; the product adds the bytes (Warren, Hacker's Delight)."""
    if not (x.dtype.is_unsigned or x.dtype.is_bool):
        x = cast(apply("abs", x), np.dtype(f"uint{8 * x.dtype.size}"))
    x = cast(x, np.uint64)

    def shift_and_mask(shift: int, mask: int) -> Any:
        shifted = apply("right_shift", x, tensor(shift, np.uint64)) if shift else x
        return apply("bitwise_and", shifted, tensor(mask, np.uint64))

    x = apply("subtract", x, shift_and_mask(1, 0x5555555555555555))
    x = apply("add", shift_and_mask(0, 0x3333333333333333), shift_and_mask(2, 0x3333333333333333))
    x = apply("add", x, apply("right_shift", x, tensor(4, np.uint64)))
    total = apply("multiply", shift_and_mask(0, 0x0F0F0F0F0F0F0F0F), tensor(0x0101010101010101, np.uint64))
    return apply("right_shift", total, tensor(56, np.uint64))


REAL_LOOPS: dict[str, Loop] = {
    "modf": modf, "frexp": frexp, "ldexp": ldexp, "fmod": fmod, "spacing": spacing, "bitwise_count": bitwise_count,
    "logaddexp2": logaddexp2,
}


# ---- comparisons with a Python int, exact even if the dtype cannot represent the int

_SWAPPED_OPERANDS = {
    "equal": "equal", "not_equal": "not_equal", "less": "greater", "less_equal": "greater_equal", "greater": "less",
    "greater_equal": "less_equal",
}  # fmt: skip
# An int outside of the dtype's range is replaced by the nearest value inside. These are the results for an int
# below and above the range, for comparisons that this replacement would falsify.
_RESULT_BELOW_RANGE = {"equal": False, "not_equal": True, "greater": True, "less_equal": False}
_RESULT_ABOVE_RANGE = {"equal": False, "not_equal": True, "less": True, "greater_equal": False}


def compare_exactly(name: str, x: TensorLike, y: TensorLike, dtype: np.dtype[Any]) -> Tensor | None:
    """Compare, in that dtype, an array or scalar with a Python int that may lie outside of the dtype's range.

    Returns None if no operand is such an int.
    """
    integer_dtype = as_dtype(dtype)
    if not integer_dtype.is_integer:
        return None
    for number, elements, op in ((y, x, name), (x, y, _SWAPPED_OPERANDS.get(name, ""))):
        if op and not _is_int(elements):
            if type(number) is int and not integer_dtype.min <= number <= integer_dtype.max:
                is_below = number < integer_dtype.min
                nearest = tensor(integer_dtype.min if is_below else integer_dtype.max, dtype)
                return _compare_with_nearest(op, tensor(elements, dtype), nearest, is_below, not is_below)
            if _is_int(number) and as_tensor(number) is not None:
                return _compare_with_graph_int(op, tensor(elements, dtype), tensor(number, np.int64), integer_dtype)
    return None


def _is_int(x: TensorLike) -> bool:
    """Return whether the value is a Python int, or stands for one in a graph."""
    x_tensor = as_tensor(x)
    return type(x) is int if x_tensor is None else x_tensor.weak and x_tensor.dtype.is_integer


def _compare_with_graph_int(op: str, x: Tensor, number: Tensor, dtype: DType) -> Tensor | None:
    """Compare elements with an int of the graph; return None if it needs no special treatment."""
    if dtype.numpy == np.int64:
        return None  # int64 represents every int of a graph
    if x.type.shape == () and dtype.size < 8:
        return apply(op, cast(x, np.int64), number)
    low = tensor(max(dtype.min, -(2**63)), np.int64)
    high = tensor(min(dtype.max, 2**63 - 1), np.int64)
    nearest = cast(apply("minimum", apply("maximum", number, low), high), dtype)
    return _compare_with_nearest(op, x, nearest, apply("less", number, low), apply("greater", number, high))


def _compare_with_nearest(op: str, x: Tensor, nearest: Tensor, is_below: Any, is_above: Any) -> Tensor:
    """Compare elements in their own dtype, which is fastest, and correct the result for an int outside of its range."""
    result = apply(op, x, nearest)
    for is_outside, constant_results in ((is_below, _RESULT_BELOW_RANGE), (is_above, _RESULT_ABOVE_RANGE)):
        if constant_results.get(op) is True:
            result = apply("logical_or", result, tensor(is_outside, bool))
        elif constant_results.get(op) is False:
            result = apply("logical_and", result, apply("logical_not", tensor(is_outside, bool)))
    return result  # type: ignore[no-any-return]
