"""Elementwise arithmetic on typed numbers, with NumPy's meaning: integers wrap, division does not raise."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError, OpError
from autoconv.graph.dtypes import int8
from autoconv.graph.types import TensorType
from autoconv.ops.gradients import conjugate, no_cotangents, unbroadcast
from autoconv.ops.record import Builder, Op, define, sample
from autoconv.ops.rules import broadcast, same_type

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_Y = np.array([1.5, -2.0, 0.25])
_INTEGERS = np.array([7, -7, 5], np.int64)
_OTHER_INTEGERS = np.array([2, 3, -4], np.int64)
# For ops that round. No quotient of the floats is near an integer, where the numerical derivative would be wrong.
_QUOTIENT_SAMPLES = (
    sample(_X + 0.1, _Y), sample(_INTEGERS, _OTHER_INTEGERS), sample(_INTEGERS > 0, _OTHER_INTEGERS > 0),
)  # fmt: skip


def _define_binary(name: str, graphdef: str, kernel: Callable[..., Any], gradient: Any, **facts: Any) -> Op:
    """Define an elementwise op of two operands of one dtype; `facts` are further arguments of `define`."""
    samples = facts.pop("samples", (sample(_X, _Y), sample(_INTEGERS, _OTHER_INTEGERS)))
    result = facts.pop("result", broadcast)
    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(kernel), gradient=gradient, unify="all",
        elementwise=True, samples=samples, **facts,
    )  # fmt: skip


def quiet(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel without NumPy's warnings about overflow, division by zero and invalid values.

    Where NumPy would issue a warning, the kernel sets an error flag of the processor, as native code does.
    Shapes that do not broadcast at run time raise InvalidArgumentError. The kernel itself is `__wrapped__`.
    """

    @functools.wraps(kernel, assigned=(), updated=())
    def quiet_kernel(*inputs: Any, **attributes: Any) -> Any:
        """Run the kernel and record floating-point errors as flags.

        Shapes that do not broadcast raise TensorFlow's error.
        """
        try:
            with np.errstate(all="call", under="ignore", call=note_error):
                result = kernel(*inputs, **attributes)
            if _THREADS_WITH_ERRORS and get_ident() in _THREADS_WITH_ERRORS:
                _raise_flag()
            return result
        except ValueError as error:
            if isinstance(error, OpError) or "broadcast" not in str(error):
                raise
            shapes = " vs. ".join(f"[{','.join(map(str, np.shape(x)))}]" for x in inputs)
            raise InvalidArgumentError(f"Incompatible shapes: {shapes}").with_plain_error(error) from None

    quiet_kernel.__name__ = getattr(kernel, "__name__", "kernel")
    return quiet_kernel


_THREADS_WITH_ERRORS: set[int] = set()  # ids of threads in which `note_error` was called since the last kernel
_THREADS_WITH_FLAGS: set[int] = set()  # ids of threads in which a kernel set the flag since `take_float_errors`


def take_float_errors() -> int:
    """Return and clear the mark of this thread that a quiet kernel set a flag, which only native code can read."""
    has_flag = get_ident() in _THREADS_WITH_FLAGS
    _THREADS_WITH_FLAGS.discard(get_ident())
    return int(has_flag)


def note_error(*_: object) -> None:
    """Record that a quiet kernel of this thread met an error for which NumPy would issue a warning."""
    _THREADS_WITH_ERRORS.add(get_ident())


def _raise_flag() -> None:
    """Set the same error flag of the processor for any error; called last, as NumPy's functions clear the flags."""
    _THREADS_WITH_ERRORS.discard(get_ident())
    _THREADS_WITH_FLAGS.add(get_ident())
    with np.errstate(all="ignore"):
        np.divide(1.0, 0.0)


def _quotient_type(x: TensorType, y: TensorType, **_: Any) -> TensorType:
    """Return the type of a quotient rounded down, or of a remainder."""
    result = broadcast(x, y)
    return TensorType(int8, result.shape) if result.dtype.is_bool else result  # NumPy divides bools as int8


def _concatenate_strings_or_add(x: Any, y: Any) -> Any:
    """Return the sum of numbers, or the concatenation of strings."""
    total = np.add(x, y)
    # For two single strings NumPy returns bare bytes.
    return np.array(total, object) if isinstance(total, bytes) else total


def _add_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,) = cotangents
    return unbroadcast(b, cotangent, inputs[0]), unbroadcast(b, cotangent, inputs[1])


def _subtract_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,) = cotangents
    return unbroadcast(b, cotangent, inputs[0]), unbroadcast(b, b.negative(cotangent), inputs[1])


def _multiply_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x, y) = cotangents, inputs
    return (
        unbroadcast(b, b.multiply(cotangent, conjugate(b, y)), x),
        unbroadcast(b, b.multiply(cotangent, conjugate(b, x)), y),
    )


def _divide_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x, y), (quotient,) = cotangents, inputs, results
    cotangent_over_y = b.divide(cotangent, conjugate(b, y))
    y_cotangent = b.negative(b.multiply(cotangent_over_y, conjugate(b, quotient)))
    return unbroadcast(b, cotangent_over_y, x), unbroadcast(b, y_cotangent, y)


def _modulo_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x, y) = cotangents, inputs
    return unbroadcast(b, cotangent, x), unbroadcast(b, b.negative(b.multiply(cotangent, b.floor_divide(x, y))), y)


def _negative_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.negative(cotangents[0]),)


add = _define_binary("add", "AddV2", _concatenate_strings_or_add, _add_gradient, commutative=True, identity=0)
subtract = _define_binary("subtract", "Sub", np.subtract, _subtract_gradient)
multiply = _define_binary("multiply", "Mul", np.multiply, _multiply_gradient, commutative=True, identity=1)
floor_divide = _define_binary(
    "floor_divide", "FloorDiv", np.floor_divide, no_cotangents, samples=_QUOTIENT_SAMPLES, result=_quotient_type
)
modulo = _define_binary(
    "modulo", "FloorMod", np.mod, _modulo_gradient, samples=_QUOTIENT_SAMPLES, result=_quotient_type
)


def _divide_type(x: TensorType, y: TensorType, **_: Any) -> TensorType:
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"divide takes floating or complex tensors, found {x.dtype.name}; cast first")
    return broadcast(x, y)


divide = define(
    name="divide", graphdef="RealDiv", result=_divide_type, kernel=quiet(np.true_divide),
    gradient=_divide_gradient, unify="all", elementwise=True, samples=(sample(_X, _Y),),
    costly=True,
)  # fmt: skip


def _multiply_add_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x, y, z) = cotangents, inputs
    x_cotangent, y_cotangent = b.multiply(cotangent, y), b.multiply(cotangent, x)
    return unbroadcast(b, x_cotangent, x), unbroadcast(b, y_cotangent, y), unbroadcast(b, cotangent, z)


def _multiply_add_type(x: TensorType, y: TensorType, z: TensorType, **_: Any) -> TensorType:
    if not x.dtype.is_floating:
        raise TypeError(f"multiply_add takes floating tensors, found {x.dtype.name}")
    return broadcast(x, y, z)


# x·y + z; native code rounds once, the kernel twice.
multiply_add = define(
    name="multiply_add", graphdef="MulAdd", result=_multiply_add_type, kernel=quiet(lambda x, y, z: x * y + z),
    gradient=_multiply_add_gradient, unify="all", elementwise=True,
    samples=(sample(_X, _Y, _X[0]),),
)  # fmt: skip
negative = define(
    name="negative", graphdef="Neg", result=same_type, kernel=quiet(np.negative), gradient=_negative_gradient,
    elementwise=True, samples=(sample(_X), sample(_INTEGERS)),
)  # fmt: skip
