"""Inverses of distribution functions, element by element, and the beta function."""

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


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the absolute multivariate beta function of the vectors along the last axis.

    >>> autoconv.math.lbeta([1.0, 2.0, 3.0]).numpy().round(4)
    np.float32(-4.0943)
    """
    of_each = apply("reduce_sum", apply("lgamma", x), axis=(-1,), keepdims=False)
    of_all = apply("lgamma", apply("reduce_sum", x, axis=(-1,), keepdims=False))
    return apply("subtract", of_each, of_all, name=name)
