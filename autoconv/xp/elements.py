"""Elementwise functions of the standard: of one array, and of two that broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.numpy.operands import tensor
from autoconv.numpy.standard import by_numpy
from autoconv.runtime.tensors.tensor import Tensor

UNARY = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "conj", "cos", "cosh", "exp", "expm1",
    "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "negative", "positive",
    "real", "reciprocal", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh",
)  # fmt: skip
ROUNDING = ("ceil", "floor", "round", "trunc")
BINARY = (
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "copysign", "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal",
    "logaddexp", "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter",
    "not_equal", "pow", "remainder", "subtract",
)  # fmt: skip


def _unary(name: str) -> Callable[..., Any]:
    compute = by_numpy(name)

    def run(x: Any, /) -> Tensor:
        return compute(tensor(x))

    return run


def _rounding(name: str) -> Callable[..., Any]:
    compute = by_numpy(name)

    def run(x: Any, /) -> Tensor:
        given = tensor(x)
        return given if given.dtype.is_integer else compute(given)

    return run


def _binary(name: str) -> Callable[..., Any]:
    compute = by_numpy(name)

    def run(x1: Any, x2: Any, /) -> Tensor:
        return compute(x1, x2)

    return run


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The standard's `{name}`, element by element, of the dtype that NumPy 2 gives it."
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _named(name, make(name))
    for make, names in ((_unary, UNARY), (_rounding, ROUNDING), (_binary, BINARY))
    for name in names
}


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Each element clipped to the bounds, which broadcast, and promote with `x`."""
    return by_numpy("clip")(x, min, max)


FUNCTIONS["clip"] = clip

__all__ = ["FUNCTIONS", "clip"]
