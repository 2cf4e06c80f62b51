"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine of x in radians.

    >>> autoconv.sin([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.841], dtype=float32)
    """
    return apply("sin", x, name=name)


def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine of x in radians.

    >>> autoconv.cos([0.0, 1.0]).numpy().round(3)
    array([1.  , 0.54], dtype=float32)
    """
    return apply("cos", x, name=name)


def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent of x in radians.

    >>> autoconv.tan([0.0, 1.0]).numpy().round(3)
    array([0.   , 1.557], dtype=float32)
    """
    return apply("tan", x, name=name)


def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in radians whose sine is x; nan outside of [-1, 1].

    >>> autoconv.asin([0.0, 1.0]).numpy().round(3)
    array([0.   , 1.571], dtype=float32)
    """
    return apply("asin", x, name=name)


def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in radians whose cosine is x; nan outside of [-1, 1].

    >>> autoconv.acos([1.0, 0.0]).numpy().round(3)
    array([0.   , 1.571], dtype=float32)
    """
    return apply("acos", x, name=name)


def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in radians whose tangent is x.

    >>> autoconv.atan([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.785], dtype=float32)
    """
    return apply("atan", x, name=name)


def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine.

    >>> autoconv.sinh([0.0, 1.0]).numpy().round(3)
    array([0.   , 1.175], dtype=float32)
    """
    return apply("sinh", x, name=name)


def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine.

    >>> autoconv.cosh([0.0, 1.0]).numpy().round(3)
    array([1.   , 1.543], dtype=float32)
    """
    return apply("cosh", x, name=name)


def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent.

    >>> autoconv.tanh([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.762], dtype=float32)
    """
    return apply("tanh", x, name=name)


def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of sinh.

    >>> autoconv.asinh([0.0, 1.0]).numpy().round(3)
    array([0.   , 0.881], dtype=float32)
    """
    return apply("asinh", x, name=name)


def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of cosh; nan below 1.

    >>> autoconv.acosh([1.0, 2.0]).numpy().round(3)
    array([0.   , 1.317], dtype=float32)
    """
    return apply("acosh", x, name=name)


def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of tanh; nan outside of [-1, 1].

    >>> autoconv.atanh([0.0, 0.5]).numpy().round(3)
    array([0.   , 0.549], dtype=float32)
    """
    return apply("atanh", x, name=name)


def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The angle in radians of the point (x, y), in [-pi, pi].

    >>> autoconv.atan2([1.0, -1.0], [1.0, 1.0]).numpy().round(3)
    array([ 0.785, -0.785], dtype=float32)
    """
    return apply("atan2", y, x, name=name)
