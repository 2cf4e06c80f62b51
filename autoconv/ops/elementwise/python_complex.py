"""Functions of Python's complex numbers: `python_cmath` takes complex numbers, `python_complex_part` pairs of floats.

A pair has the real and the imaginary part of a number; the result of `python_complex_part` is one part of the result.

Kernels call Python itself, so that branch cuts, signs of zeros and errors are those of the running interpreter.
"""

from __future__ import annotations

import builtins
import cmath
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import bool_, complex128, float64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, number_type
from autoconv.ops.elementwise.python_numbers import gradient_of, to_python_array
from autoconv.ops.record import Builder, define, no_gradient, sample

_COMPLEX, _REAL = np.array(0.5 - 1.25j), np.array(0.75)
CMATH_WITH_BOOL_RESULT = frozenset({"isnan", "isinf", "isfinite"})
CMATH_WITH_FLOAT_RESULT = frozenset({"phase", "modulus", "angle"})  # "modulus" and "angle" are the results of polar
_TENSOR_OP_BY_FUNCTION = {
    "sqrt": "sqrt", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin",
    "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "modulus": "abs", "phase": "angle", "angle": "angle",
}  # fmt: skip
# Functions of two real operands. The operands of all other functions are complex.
FUNCTIONS_OF_REALS = frozenset({"rect"})


def _polar_part(index: int) -> Callable[[Any], float]:
    """Return the function that gives the modulus (index 0) or the angle (1) of a complex number."""
    return lambda z: cmath.polar(z)[index]


CMATH: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(cmath, name)
        for name in (*_TENSOR_OP_BY_FUNCTION, *CMATH_WITH_BOOL_RESULT) if hasattr(cmath, name)
    },
    "log10": cmath.log10, "modulus": _polar_part(0), "angle": _polar_part(1),
    "rect": cmath.rect,
}  # fmt: skip


def _cmath_type(*_: TensorType, function: str) -> TensorType:
    if function in CMATH_WITH_BOOL_RESULT:
        return number_type(bool_)
    return number_type(float64 if function in CMATH_WITH_FLOAT_RESULT else complex128)


def _cmath(*inputs: Any, function: str) -> np.ndarray:
    return to_python_array(CMATH[function](*(np.asarray(x).item() for x in inputs)), allows_complex=True)


def _cmath_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the gradient of the op of tensors with the same function; functions without one raise."""
    if attributes["function"] in FUNCTIONS_OF_REALS:
        return _rect_gradient(b, inputs, cotangents)
    op = _TENSOR_OP_BY_FUNCTION.get(attributes["function"])
    if op is None or len(inputs) > 1:
        return no_gradient(f"no rule for cmath.{attributes['function']} is written")
    return gradient_of(op)(b, inputs, results, cotangents, {})


def _rect_gradient(b: Builder, inputs: Any, cotangents: Any) -> Any:
    """Return the cotangents of the length and the angle; an int has None instead."""
    length, angle = (x if x.dtype.is_floating else b.python_cast(x, dtype=float64, weak=True) for x in inputs)
    real, imag = b.real(cotangents[0]), b.imag(cotangents[0])
    cosine, sine = b.cos(angle), b.sin(angle)
    gradients = (
        b.add(b.multiply(real, cosine), b.multiply(imag, sine)),
        b.multiply(length, b.subtract(b.multiply(imag, cosine), b.multiply(real, sine))),
    )
    return tuple(gradient if x.dtype.is_floating else None for gradient, x in zip(gradients, inputs, strict=True))


define(
    name="python_cmath", graphdef="PythonCmath", result=_cmath_type, kernel=_cmath, gradient=_cmath_gradient,
    effects=lambda _, attributes: Effects.PURE if attributes["function"] in CMATH_WITH_BOOL_RESULT else Effects.RAISE,
    samples=(
        sample(_COMPLEX, function="sqrt"), sample(_COMPLEX, function="modulus"), sample(_COMPLEX, function="isnan"),
        sample(_REAL, _REAL, function="rect"), sample(_COMPLEX, _COMPLEX, function="log", differentiable=()),
    ),
)  # fmt: skip

# The functions of `python_complex_part` by name; operands are complex, except for those in FUNCTIONS_OF_REALS.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "multiply": operator.mul, "divide": operator.truediv, "power": operator.pow,
    "power_by_int": lambda x, n: x ** int(n.real), "abs": builtins.abs, **CMATH,
}  # fmt: skip


def _part_type(*parts: TensorType, **_: Any) -> TensorType:
    if any(part.dtype is not float64 for part in parts):
        raise TypeError(f"python_complex_part takes float64, found {', '.join(part.dtype.name for part in parts)}")
    return number_type(float64)


def _compute_part(*parts: Any, function: str, part_name: str) -> np.ndarray:
    numbers: list[Any] = [np.asarray(x).item() for x in parts]
    if function not in FUNCTIONS_OF_REALS:
        numbers = [complex(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
    return np.array(getattr(FUNCTIONS[function](*numbers), part_name), np.float64)


define(
    name="python_complex_part", graphdef="PythonComplexPart", result=_part_type,
    kernel=_compute_part, gradient=no_gradient("it is made after differentiation"), effects=Effects.RAISE,
    samples=(
        sample(_REAL, _REAL, function="sqrt", part_name="imag"),
        sample(_REAL, _REAL, _REAL, _REAL, function="divide", part_name="real"),
    ),
)  # fmt: skip
