"""Arithmetic: add, subtract, multiply, divide and variants. Operands broadcast and share one dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.arguments import convert_pair
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import COMPLEX, FLOATING, LARGE_INTEGERS, NUMERIC, REAL, SIGNED
from autoconv.graph.dtypes import string
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import binary, check_divisor
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def add(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x + y, element by element; strings are joined.

    >>> autoconv.add([1, 2], 3).numpy()
    array([4, 5], dtype=int32)
    """
    check_dtype("add", NUMERIC | {string}, x, y)
    return apply("add", x, y, name=name)


def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x - y, element by element.

    >>> autoconv.subtract([1, 2], 3).numpy()
    array([-2, -1], dtype=int32)
    """
    return apply("subtract", x, y, name=name)


def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * y, element by element.

    >>> autoconv.multiply([1.0, 2.0], 3.0).numpy()
    array([3., 6.], dtype=float32)
    """
    check_dtype("multiply", NUMERIC, x, y)
    return apply("multiply", x, y, name=name)


def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y with Python's semantics: integers of 8 and 16 bits divide as float32, wider ones as float64.

    >>> autoconv.divide([1.0, 3.0], 2.0).numpy()
    array([0.5, 1.5], dtype=float32)
    """
    return binary("divide", *_convert_operands(x, y))


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y, as `divide`; but a number or an array x beside a tensor y has to have the dtype of y.

    >>> autoconv.truediv([1.0, 3.0], 2.0).numpy()
    array([0.5, 1.5], dtype=float32)
    """
    return divide(x, y, name)


def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x // y, rounded down.

    >>> autoconv.floordiv([7, -7], 2).numpy()
    array([ 3, -4], dtype=int32)
    """
    check_divisor(x, y)
    return apply("floor_divide", x, y, name=name)


def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x % y, with the sign of y.

    >>> autoconv.math.floormod([7, -7], 3).numpy()
    array([1, 2], dtype=int32)
    """
    check_dtype("floormod", REAL, x, y)
    check_divisor(x, y)
    return apply("modulo", x, y, name=name)


mod = floormod


def negative(x: TensorLike, name: str | None = None) -> Tensor:
    """-x.

    >>> autoconv.negative([1, -2]).numpy()
    array([-1,  2], dtype=int32)
    """
    check_dtype("negative", FLOATING | SIGNED | COMPLEX, x)
    return apply("negative", x, name=name)


def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x ** y; integers to a negative power raise InvalidArgumentError at run time.

    >>> autoconv.pow([1, 2, 3], 2).numpy()
    array([1, 4, 9], dtype=int32)
    """
    check_dtype("pow", FLOATING | SIGNED | COMPLEX, x, y)
    return apply("power", x, y, name=name)


def add_n(inputs: TensorLike, name: str | None = None) -> Tensor:
    """The sum of a list of tensors of one shape and dtype; raises ValueError for an empty list.

    >>> autoconv.add_n([[1, 2], [3, 4], [5, 6]]).numpy()
    array([ 9, 12], dtype=int32)
    """
    rows: Any = inputs if isinstance(inputs, (Sequence, Tensor, np.ndarray)) else [inputs]
    tensors = list(rows)
    if len(tensors) > 1:
        check_dtype("add_n", NUMERIC, *tensors)
    if not tensors:
        raise ValueError("add_n takes a list of at least one tensor, all of one dtype and shape; found none")
    total = convert_to_tensor(tensors[0])
    for tensor in tensors[1:]:
        addend = convert_to_tensor(tensor)
        if not total.shape.is_compatible_with(addend.shape):
            raise InvalidArgumentError(f"add_n takes tensors of one shape, found {total.shape} and {addend.shape}")
        total = apply("add", total, addend)
    return total


accumulate_n = add_n


def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0.

    >>> autoconv.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy()
    array([0. , 0.5], dtype=float32)
    """
    operands = _convert_operands(x, y)
    # A variable is converted once, so that all uses see the same value.
    x, y = (convert_to_tensor(operand) if as_tensor(operand) is not None else operand for operand in operands)
    is_zero = apply("equal", y, 0)
    divisor = apply("select", is_zero, apply("ones_like", y), y)
    quotient = divide(x, divisor)
    return apply("select", is_zero, apply("zeros_like", quotient), quotient, name=name)


def multiply_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * y, and 0 where y is 0, even if x is infinite or nan.

    >>> autoconv.math.multiply_no_nan([1.0, float("nan")], [2.0, 0.0]).numpy()
    array([2., 0.], dtype=float32)
    """
    check_dtype("multiply_no_nan", FLOATING | COMPLEX, x, y)
    is_zero = apply("equal", convert_to_tensor(y), 0)
    product = multiply(x, y)
    return apply("select", is_zero, apply("zeros_like", product), product, name=name)


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, and 0 where x is 0.

    >>> autoconv.math.reciprocal_no_nan([2.0, 0.0]).numpy()
    array([0.5, 0. ], dtype=float32)
    """
    check_dtype("reciprocal_no_nan", FLOATING | COMPLEX, x)
    tensor = convert_to_tensor(x)
    return divide_no_nan(apply("ones_like", tensor), tensor, name)


def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """(x - y)², element by element; |x - y|² for complex operands.

    >>> autoconv.math.squared_difference([1.0, 5.0], [3.0, 4.0]).numpy()
    array([4., 1.], dtype=float32)
    """
    check_dtype("squared_difference", FLOATING | LARGE_INTEGERS | COMPLEX, x, y)
    if any(value.dtype.is_complex for value in convert_pair(x, y)):
        difference = apply("subtract", x, y)
        return apply("multiply", difference, apply("conjugate", difference), name=name)
    return apply("squared_difference", x, y, name=name)


def _convert_operands(x: TensorLike, y: TensorLike) -> tuple[Any, Any]:
    """Return both operands; if one is a tensor, a list is converted to its dtype.

    If neither is a tensor, both are converted to tensors, the second to the first one's dtype if possible.
    """
    first_tensor, second_tensor = as_tensor(x), as_tensor(y)
    if first_tensor is None and second_tensor is None:
        first = convert_to_tensor(x)
        return first, convert_to_tensor(y, dtype_hint=first.dtype)
    if first_tensor is None and isinstance(x, (list, tuple)):
        x = convert_to_tensor(x, dtype_hint=second_tensor.dtype)  # type: ignore[union-attr]
    if second_tensor is None and isinstance(y, (list, tuple)):
        y = convert_to_tensor(y, dtype_hint=first_tensor.dtype)  # type: ignore[union-attr]
    return x, y
