"""Loops of universal functions over complex numbers, computed by real and imaginary parts as NumPy does.

NumPy orders lexicographically by real part, then by imaginary part; a number with a nan part is neither less nor
greater than any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autoconv.numpy.operands import tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Loop = Callable[..., Any]


def by_parts(function: Callable[[Tensor], Any], x: Tensor) -> Any:
    """Return complex numbers with the function applied to both parts of x."""
    return apply("complex", function(apply("real", x)), function(apply("imag", x)))


def _scale(x: Tensor, factor: float) -> Any:
    return by_parts(lambda part: apply("multiply", part, tensor(factor, part.dtype)), x)


def _exp2(x: Tensor) -> Any:
    return apply("exp", _scale(x, math.log(2)))


def _log2(x: Tensor) -> Any:
    return _scale(apply("log", x), 1 / math.log(2))


def _log10(x: Tensor) -> Any:
    return _scale(apply("log", x), 1 / math.log(10))


def _rint(x: Tensor) -> Any:
    return by_parts(lambda part: apply("rint", part), x)


def _sign(x: Tensor) -> Any:
    """x / |x|; for one infinite part its sign, for zero 0, for two infinite parts nan.

    If only the magnitude is infinite, the sign of the imaginary part is the result.
    """
    real, imag = apply("real", x), apply("imag", x)
    size = apply("hypot", real, imag)
    zero, one = apply("zeros_like", size), apply("ones_like", size)
    is_zero = apply("equal", size, zero)
    wide = apply("logical_and", apply("is_inf", real), apply("logical_not", apply("is_inf", imag)))
    tall = apply("logical_and", apply("is_inf", size), apply("logical_not", apply("is_inf", real)))

    def divide_part(part: Tensor, here: Tensor, there: Tensor) -> Any:
        result = apply("divide", part, apply("select", is_zero, one, size))
        result = apply("select", here, apply("sign", part), apply("select", there, zero, result))
        return apply("select", is_zero, zero, result)

    return apply("complex", divide_part(real, wide, tall), divide_part(imag, tall, wide))


def _has_nan(x: Tensor) -> Any:
    return apply("is_nan", x)


def _comparison_loop(strictly: str, at_last: str) -> Loop:
    """Compare real parts strictly, false if an imaginary part is nan; equal ones by the imaginary parts."""

    def loop(x: Tensor, y: Tensor) -> Any:
        (xr, xi), (yr, yi) = ((apply("real", z), apply("imag", z)) for z in (x, y))
        result = apply("logical_not", apply("logical_or", _has_nan(xi), _has_nan(yi)))
        first = apply("logical_and", apply(strictly, xr, yr), result)
        second = apply("logical_and", apply("equal", xr, yr), apply(at_last, xi, yi))
        return apply("logical_or", first, second)

    return loop


def _select_by_order(order: Loop, passes_over_nans: bool) -> Loop:
    """Select the first operand if it precedes the second in that order, or if a nan decides for it.

    A nan decides in the second operand if the function passes over nans (fmax, fmin), else in the first (maximum,
    minimum).
    """

    def loop(x: Tensor, y: Tensor) -> Any:
        is_first = apply("logical_or", order(x, y), _has_nan(y if passes_over_nans else x))
        return apply("select", is_first, x, y)

    return loop


_GREATER_EQUAL, _LESS_EQUAL = _comparison_loop("greater", "greater_equal"), _comparison_loop("less", "less_equal")

COMPLEX_LOOPS: dict[str, Loop] = {
    "exp2": _exp2, "log2": _log2, "log10": _log10, "rint": _rint, "sign": _sign,
    "less": _comparison_loop("less", "less"), "less_equal": _LESS_EQUAL,
    "greater": _comparison_loop("greater", "greater"), "greater_equal": _GREATER_EQUAL,
    "maximum": _select_by_order(_GREATER_EQUAL, False), "minimum": _select_by_order(_LESS_EQUAL, False),
    "fmax": _select_by_order(_GREATER_EQUAL, True), "fmin": _select_by_order(_LESS_EQUAL, True),
}  # fmt: skip

__all__ = ["COMPLEX_LOOPS", "by_parts"]
