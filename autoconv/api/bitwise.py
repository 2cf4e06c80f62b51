"""The names of `autoconv.bitwise`: the bits of integer tensors of one dtype, which broadcast."""

from __future__ import annotations

from typing import Any

from autoconv.runtime.dispatch import apply
from autoconv.runtime.tensor import Tensor


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in both."""
    return apply("bitwise_and", x, y, name=name)


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in either."""
    return apply("bitwise_or", x, y, name=name)


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits set in one of the two only."""
    return apply("bitwise_xor", x, y, name=name)


def invert(x: Any, name: str | None = None) -> Tensor:
    """All bits turned over."""
    return apply("invert", x, name=name)


def left_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits of x moved up by y places; 0 when y is as wide as the dtype."""
    return apply("left_shift", x, y, name=name)


def right_shift(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The bits of x moved down by y places, the sign kept."""
    return apply("right_shift", x, y, name=name)
