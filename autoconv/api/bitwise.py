"""The names of `autoconv.bitwise`: bitwise operations on integer tensors of one dtype, which broadcast."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x & y: the bits set in both."""
    return apply("bitwise_and", x, y, name=name)


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x | y: the bits set in either."""
    return apply("bitwise_or", x, y, name=name)


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x ^ y: the bits set in exactly one of the two."""
    return apply("bitwise_xor", x, y, name=name)


def invert(x: Any, name: str | None = None) -> Tensor:
    """~x: all bits inverted."""
    return apply("invert", x, name=name)


def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x shifted left by y bits; 0 when y is at least the width of the dtype."""
    return apply("left_shift", x, y, name=name)


def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x shifted right by y bits, keeping the sign."""
    return apply("right_shift", x, y, name=name)
