"""The names of `autoconv.bitwise`: bitwise operations on integer tensors of one dtype, which broadcast."""

from __future__ import annotations

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.graph.dtype_sets import INTEGERS
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x & y: the bits set in both.

    >>> autoconv.bitwise.bitwise_and([12], [10]).numpy()
    array([8], dtype=int32)
    """
    check_dtype("bitwise_and", INTEGERS, x, y)
    return apply("bitwise_and", x, y, name=name)


def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x | y: the bits set in either.

    >>> autoconv.bitwise.bitwise_or([12], [10]).numpy()
    array([14], dtype=int32)
    """
    check_dtype("bitwise_or", INTEGERS, x, y)
    return apply("bitwise_or", x, y, name=name)


def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x ^ y: the bits set in exactly one of the two.

    >>> autoconv.bitwise.bitwise_xor([12], [10]).numpy()
    array([6], dtype=int32)
    """
    check_dtype("bitwise_xor", INTEGERS, x, y)
    return apply("bitwise_xor", x, y, name=name)


def invert(x: TensorLike, name: str | None = None) -> Tensor:
    """~x: all bits inverted.

    >>> autoconv.bitwise.invert([0, 5]).numpy()
    array([-1, -6], dtype=int32)
    """
    check_dtype("invert", INTEGERS, x)
    return apply("invert", x, name=name)


def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x shifted left by y bits; 0 when y is at least the width of the dtype.

    >>> autoconv.bitwise.left_shift([1, 2], [3, 3]).numpy()
    array([ 8, 16], dtype=int32)
    """
    return apply("left_shift", x, y, name=name)


def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x shifted right by y bits, keeping the sign.

    >>> autoconv.bitwise.right_shift([8, 16], [3, 3]).numpy()
    array([1, 2], dtype=int32)
    """
    return apply("right_shift", x, y, name=name)
