"""Elementwise functions of the standard: of one array, and of two that broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.numpy.operands import tensor
from autoconv.numpy.standard import numpy_implementation
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.tensors.tensor import Tensor

# For each function of one array: the arguments of the example in its docstring, and the printed result.
UNARY = {
    "abs": ("[-1.5, 2.0]", "array([1.5, 2. ])"),
    "acos": ("[1.0, 0.0]", "array([0.        , 1.57079633])"),
    "acosh": ("[1.0, 2.0]", "array([0.       , 1.3169579])"),
    "asin": ("[0.0, 1.0]", "array([0.        , 1.57079633])"),
    "asinh": ("[0.0, 1.0]", "array([0.        , 0.88137359])"),
    "atan": ("[0.0, 1.0]", "array([0.        , 0.78539816])"),
    "atanh": ("[0.0, 0.5]", "array([0.        , 0.54930614])"),
    "bitwise_invert": ("[0, 5]", "array([-1, -6])"),
    "conj": ("[1 + 2j]", "array([1.-2.j])"),
    "cos": ("[0.0, 1.0]", "array([1.        , 0.54030231])"),
    "cosh": ("[0.0, 1.0]", "array([1.        , 1.54308063])"),
    "exp": ("[0.0, 1.0]", "array([1.        , 2.71828183])"),
    "expm1": ("[0.0, 1.0]", "array([0.        , 1.71828183])"),
    "imag": ("[1 + 2j]", "array([2.])"),
    "isfinite": ('[1.0, float("inf")]', "array([ True, False])"),
    "isinf": ('[1.0, float("inf")]', "array([False,  True])"),
    "isnan": ('[1.0, float("nan")]', "array([False,  True])"),
    "log": ("[1.0, 2.0]", "array([0.        , 0.69314718])"),
    "log10": ("[1.0, 100.0]", "array([0., 2.])"),
    "log1p": ("[0.0, 1.0]", "array([0.        , 0.69314718])"),
    "log2": ("[1.0, 8.0]", "array([0., 3.])"),
    "logical_not": ("[True, False]", "array([False,  True])"),
    "negative": ("[1, -2]", "array([-1,  2])"),
    "positive": ("[1, -2]", "array([ 1, -2])"),
    "real": ("[1 + 2j]", "array([1.])"),
    "reciprocal": ("[2.0, 4.0]", "array([0.5 , 0.25])"),
    "sign": ("[-3.0, 0.0, 2.0]", "array([-1.,  0.,  1.])"),
    "signbit": ("[-0.0, 0.0]", "array([ True, False])"),
    "sin": ("[0.0, 1.0]", "array([0.        , 0.84147098])"),
    "sinh": ("[0.0, 1.0]", "array([0.        , 1.17520119])"),
    "sqrt": ("[4.0, 9.0]", "array([2., 3.])"),
    "square": ("[2.0, 3.0]", "array([4., 9.])"),
    "tan": ("[0.0, 1.0]", "array([0.        , 1.55740772])"),
    "tanh": ("[0.0, 1.0]", "array([0.        , 0.76159416])"),
}
# As UNARY, for functions that return an array of integers unchanged.
ROUNDING = {
    "ceil": ("[1.2, -1.2]", "array([ 2., -1.])"),
    "floor": ("[1.2, -1.2]", "array([ 1., -2.])"),
    "round": ("[1.5, 2.5]", "array([2., 2.])"),
    "trunc": ("[1.7, -1.7]", "array([ 1., -1.])"),
}
# As UNARY, for functions of two arrays.
BINARY = {
    "add": ("[1, 2], [3, 4]", "array([4, 6])"),
    "atan2": ("[1.0, -1.0], [1.0, 1.0]", "array([ 0.78539816, -0.78539816])"),
    "bitwise_and": ("[6, 5], [3, 3]", "array([2, 1])"),
    "bitwise_left_shift": ("[1, 2], [3, 1]", "array([8, 4])"),
    "bitwise_or": ("[6, 5], [3, 3]", "array([7, 7])"),
    "bitwise_right_shift": ("[8, 4], [3, 1]", "array([1, 2])"),
    "bitwise_xor": ("[6, 5], [3, 3]", "array([5, 6])"),
    "copysign": ("[1.0, 2.0], [-1.0, 1.0]", "array([-1.,  2.])"),
    "divide": ("[1.0, 3.0], [2.0, 4.0]", "array([0.5 , 0.75])"),
    "equal": ("[1, 2], [1, 3]", "array([ True, False])"),
    "floor_divide": ("[7, -7], [2, 2]", "array([ 3, -4])"),
    "greater": ("[1, 3], [2, 2]", "array([False,  True])"),
    "greater_equal": ("[1, 2], [2, 2]", "array([False,  True])"),
    "hypot": ("[3.0, 5.0], [4.0, 12.0]", "array([ 5., 13.])"),
    "less": ("[1, 3], [2, 2]", "array([ True, False])"),
    "less_equal": ("[2, 3], [2, 2]", "array([ True, False])"),
    "logaddexp": ("[0.0, 1.0], [0.0, 2.0]", "array([0.69314718, 2.31326169])"),
    "logical_and": ("[True, True], [True, False]", "array([ True, False])"),
    "logical_or": ("[True, False], [False, False]", "array([ True, False])"),
    "logical_xor": ("[True, True], [True, False]", "array([False,  True])"),
    "maximum": ("[1, 4], [3, 2]", "array([3, 4])"),
    "minimum": ("[1, 4], [3, 2]", "array([1, 2])"),
    "multiply": ("[1, 2], [3, 4]", "array([3, 8])"),
    "nextafter": ("[0.0], [1.0]", "array([5.e-324])"),
    "not_equal": ("[1, 2], [1, 3]", "array([False,  True])"),
    "pow": ("[2.0, 3.0], [3.0, 2.0]", "array([8., 9.])"),
    "remainder": ("[7, -7], [3, 3]", "array([1, 2])"),
    "subtract": ("[5, 7], [1, 2]", "array([4, 5])"),
}


def _unary_function(name: str) -> Callable[..., Any]:
    """Return the standard's function of one array, by its name."""
    compute = numpy_implementation(name)

    def elementwise(x: TensorLike, /) -> Tensor:
        return compute(tensor(x))

    return elementwise


def _rounding_function(name: str) -> Callable[..., Any]:
    """Return the standard's function that rounds the elements of an array, by its name."""
    compute = numpy_implementation(name)

    def elementwise(x: TensorLike, /) -> Tensor:
        x_tensor = tensor(x)
        return x_tensor if x_tensor.dtype.is_integer else compute(x_tensor)

    return elementwise


def _binary_function(name: str) -> Callable[..., Any]:
    """Return the standard's function of two arrays, by its name."""
    compute = numpy_implementation(name)

    def elementwise(x1: TensorLike, x2: TensorLike, /) -> Tensor:
        return compute(x1, x2)

    return elementwise


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: give_name(make(name), name, (
        f"The standard's `{name}`, element by element, with the dtypes of NumPy 2.\n\n"
        f">>> autoconv.xp.{name}({arguments}).numpy()\n{result}"
    ))
    for make, table in ((_unary_function, UNARY), (_rounding_function, ROUNDING), (_binary_function, BINARY))
    for name, (arguments, result) in table.items()
}  # fmt: skip


def clip(x: TensorLike, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Each element clipped to the bounds, which broadcast and promote with `x`; None is no bound.

    >>> autoconv.xp.clip([-1.0, 0.5, 2.0], 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ])
    """
    return numpy_implementation("clip")(x, min, max)


FUNCTIONS["clip"] = clip

__all__ = ["FUNCTIONS", "clip"]
