"""complex(), and the functions of the modules math and cmath, on symbolic numbers."""

from __future__ import annotations

import builtins
import cmath
import contextlib
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, bool_, complex128, float64, int64, uint64
from autoconv.operators.control.variants import only_value
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.overrides import overrides
from autoconv.operators.support.signature_check import call_for_program
from autoconv.ops.elementwise.python_complex import CMATH
from autoconv.ops.elementwise.python_numbers import MATH_PARTS
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_MATH_FUNCTIONS = frozenset(
    {
        "sqrt", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
        "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "fabs", "floor",
        "ceil", "trunc", "fmod", "hypot", "copysign", "isnan", "isinf", "isfinite", "gcd", "lcm", "isqrt", "comb",
        "perm", "factorial", "pow", "degrees", "radians", "remainder", "cbrt", "ldexp", "dist", "isclose",
        "nextafter", "ulp",
    }
)  # fmt: skip


def math_override(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return the replacement of a function of math or cmath; None for others."""
    module = getattr(function, "__module__", None)
    if function is math.dist:
        return _distance
    if function in (math.frexp, math.modf):
        return _make_pair_recorder(function)
    if module == "math" and function.__name__ in _MATH_FUNCTIONS:
        return _make_recorder("python_math", function)
    if module == "cmath" and function.__name__ in CMATH:
        return _make_recorder("python_cmath", function)
    return None


def value_of(x: object) -> Any:
    """Return the one arm of a variant that is a value; return other values unchanged."""
    if type(x) is Variant:
        return only_value(x, "call")
    return x


def _make_recorder(op: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the replacement of a function of math or cmath, which records `op` for symbolic arguments."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        """Record the op for symbolic arguments; call the function with others."""
        args = tuple(map(value_of, args))
        if kwargs or not any(isinstance(argument, SymbolicTensor) for argument in args):
            return function(*args, **kwargs)
        if op == "python_math" or function is cmath.rect:
            refuse_complex(function, *args)
        _refuse_kinds(function, *args)
        return dispatch.apply(op, *map(as_python_number, args), function=function.__name__)

    return apply


def _make_pair_recorder(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the replacement of `math.frexp` or `math.modf`, which records a node for each of the two results."""
    recorders = [_make_recorder("python_math", part) for part in MATH_PARTS[function]]

    def apply(*args: Any, **kwargs: Any) -> Any:
        """Return both results of the function; for a symbolic argument, each is a node of its own."""
        if kwargs or not any(isinstance(value_of(argument), SymbolicTensor) for argument in args):
            return function(*args, **kwargs)
        return tuple(recorder(*args) for recorder in recorders)

    return apply


def _distance(*points: Any, **kwargs: Any) -> Any:
    """Return `math.dist(p, q)` as `math.hypot` of the differences, which is what CPython computes."""
    points = tuple(map(value_of, points))
    is_pair = not kwargs and len(points) == 2 and is_compiled()
    if not (is_pair and holds_symbols(points)):
        return _make_recorder("python_math", math.dist)(*points, **kwargs)
    first, second = map(_coordinates, points)
    if len(first) != len(second):
        call_for_program(math.dist, [1.0] * len(first), [1.0] * len(second))  # raises
    return _make_recorder("python_math", math.hypot)(*map(operator.sub, first, second))


def _coordinates(point: Any) -> list[Any]:
    """Return the coordinates of a point as Python floats; raise StagingError for an array of unknown length."""
    if isinstance(point, SymbolicTensor):
        shape = point.type.shape
        if not shape or not isinstance(shape[0], int):
            raise StagingError("math.dist is given an array of unknown length", current_place())
        point = [point[i] for i in range(shape[0])]
    for x in point:
        refuse_complex(math.fabs, x)
        _refuse_kinds(math.fabs, x)
    return [as_python_number(x) * 1.0 for x in point]


@overrides(cmath.polar)
def _polar(z: Any) -> Any:
    z = value_of(z)
    if not isinstance(z, SymbolicTensor):
        return cmath.polar(z)
    z = as_python_number(z)
    return tuple(dispatch.apply("python_cmath", z, function=function) for function in ("modulus", "angle"))


@overrides(builtins.complex)
def _complex(*args: Any, **kwargs: Any) -> Any:
    """Return `complex(real, imag)`, as Python: `real + imag * 1j` for complex arguments, computed without the product.

    A product would turn infinite parts into nan.
    """
    args, kwargs = tuple(map(value_of, args)), {name: value_of(value) for name, value in kwargs.items()}
    arguments = dict(zip(("real", "imag"), args, strict=False)) | kwargs
    if not any(isinstance(x, SymbolicTensor) for x in arguments.values()):
        return builtins.complex(*args, **kwargs)
    if not all(isinstance(x, (SymbolicTensor, bool, int, float, complex)) for x in arguments.values()):
        call_for_program(builtins.complex, *map(_sample, arguments.values()))  # raises
    numbers = {name: as_python_number(x) for name, x in arguments.items()}
    real, imag = numbers.get("real", 0), numbers.get("imag")
    if imag is None and _is_complex(real):
        return real
    real_part = _real_or_imaginary_part("real", real)
    imaginary_part = 0.0 if imag is None else _real_or_imaginary_part("real", imag)
    if _is_complex(imag):
        real_part = real_part - _real_or_imaginary_part("imag", imag)
    if _is_complex(real):
        imaginary_part = imaginary_part + _real_or_imaginary_part("imag", real)
    return dispatch.apply("complex", real_part, imaginary_part)


def _is_complex(x: object) -> bool:
    return x.dtype.is_complex if isinstance(x, SymbolicTensor) else isinstance(x, complex)


def _real_or_imaginary_part(name: str, x: object) -> Any:
    """Return the part `name`, "real" or "imag", of a number as a float."""
    if not isinstance(x, SymbolicTensor):
        return builtins.float(getattr(x, name))
    return dispatch.apply(name, x) if x.dtype.is_complex else dispatch.apply("python_float", x)


def is_compiled() -> bool:
    """Return whether a trace with Python's numbers is recorded, as under `compile`."""
    region = current_region()
    return region is not None and region.contract.python_numbers


def refuse_complex(function: Callable[..., Any], *args: Any) -> None:
    """Raise the TypeError of `function` if one of its arguments is a complex number of Python's in the graph.

    A NumPy scalar raises StagingError under `compile`: NumPy warns and takes its real part.
    """
    complex_tensors = [x for x in args if isinstance(x, SymbolicTensor) and x.dtype.is_complex]
    if any(x.weak for x in complex_tensors):
        call_for_program(function, *map(_sample, args))  # raises
    elif complex_tensors and is_compiled():
        raise StagingError("a complex NumPy number is converted to a real one, for which NumPy warns", current_place())


def _refuse_kinds(function: Callable[..., Any], *args: Any) -> None:
    """Raise Python's TypeError for a number of the wrong class, such as a float where an int is required."""
    samples = [_typed_sample(x) if isinstance(x, SymbolicTensor) and not x.weak else _sample(x) for x in args]
    with contextlib.suppress(ValueError, ArithmeticError):  # the sample value is outside the function's domain
        call_for_program(function, *samples)


def _sample(x: object) -> Any:
    """Return an example number of the same class."""
    return x.dtype.numpy.type(1).item() if isinstance(x, SymbolicTensor) else x


def _typed_sample(x: SymbolicTensor) -> Any:
    """Return an example of a NumPy number, or an array of one element of the same rank."""
    rank = len(x.type.shape or ()) if is_compiled() else 0
    return np.ones((1,) * rank, x.dtype.numpy) if rank else x.dtype.numpy.type(1)


def as_python_number(x: object) -> Any:
    """Convert an argument of a math function to a Python number. Scalar tensors are accepted, as float() does."""
    if isinstance(x, SymbolicTensor) and not x.weak:
        if x.type.shape not in ((), None):
            raise TypeError(
                "only scalar tensors can be converted to Python scalars; use the function of autoconv.math for others"
            )
        if x.dtype is uint64:  # it may exceed int64
            return dispatch.apply("python_int", x)
        return dispatch.apply("python_cast", x, dtype=_python_dtype(x.dtype), weak=True)
    return x


def _python_dtype(dtype: DType) -> DType:
    """Return the dtype of the Python number to which a NumPy scalar of that dtype converts."""
    if dtype.is_complex:
        return complex128
    return bool_ if dtype.is_bool else int64 if dtype.is_integer else float64
