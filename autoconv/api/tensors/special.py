"""Inverses of distribution functions, element by element."""

from __future__ import annotations

from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The number of which the error function is x; infinite at -1 and 1, nan beyond.

    >>> autoconv.math.erfinv([0.0, 0.5]).numpy().round(4)
    array([0.    , 0.4769], dtype=float32)
    """
    return apply("erfinv", x, name=name)


def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """The number below which a normally distributed one is with the probability x.

    >>> autoconv.math.ndtri([0.5, 0.975]).numpy().round(4)
    array([0.  , 1.96], dtype=float32)
    """
    return apply("ndtri", x, name=name)


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """The number of which 1 - erf is x.

    >>> autoconv.math.erfcinv([0.1, 0.5]).numpy().round(4)
    array([1.1631, 0.4769], dtype=float32)
    """
    return apply("multiply", apply("ndtri", apply("multiply", x, 0.5)), -(0.5**0.5), name=name)
