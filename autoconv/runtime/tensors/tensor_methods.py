"""Operators of tensors and variables; each applies an op."""

from __future__ import annotations

import numbers
import opcode
import operator
import os
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import Place, StagingError
from autoconv.graph.dtypes import float64
from autoconv.graph.python_operators import BITWISE, MIRRORED_BY_COMPARISON, OPERATOR_BY_TENSOR_OP
from autoconv.hooks import Hook
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.recording.tracebacks import present, present_errors
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.caller_instruction import is_in_place, ordering_comparison
from autoconv.runtime.support.spans import current_place

COMPARE_UNEQUAL_SHAPES = Hook("autoconv.runtime.tensors.unequal_shapes")
BINARY_DISPATCH = Hook("autoconv.runtime.tensors.binary_dispatch")  # returns that module, which imports this one


# Classes that Python's numbers do not take as operands, apart from sequences to repeat.
_NON_OPERAND_TYPES = frozenset({type(None), str, bytes, list, tuple, dict, set, frozenset})
_BUILTIN_TYPES = frozenset({bool, int, float, complex}) | _NON_OPERAND_TYPES
_STANDARD_LIBRARY = sysconfig.get_path("stdlib") + os.sep


def refuse_foreign(number: object, other: object, method: str) -> None:
    """Raise StagingError where a symbolic number meets a number of a class with its own operator.

    Such a class is another one than Python's own (Fraction, Decimal), or a subclass that overrides the method. The code
    of its operator needs Python's numbers. The class of NumPy's float64 is a subclass of float, so that subclasses of
    float and complex use Python's operators with it: these are refused, too.
    """
    if not isinstance(other, numbers.Number) or hasattr(other, "dtype"):
        return
    class_ = type(other)
    base = next((base for base in (int, float, complex) if issubclass(class_, base)), None)
    if _graph_number(number) is None:
        refused = base in (float, complex) and _is_float64_of_numpy(number)
    else:
        refused = base is None or getattr(class_, method, None) is not getattr(base, method, None)
    if refused:
        raise StagingError(
            f"a number known only at run time meets {with_article(class_)}", current_place(), "a float or an int"
        )


def refuse_in_library(number: object, frame: Any) -> None:
    """Raise StagingError where Python's library computes with a symbolic number.

    The library may dispatch on its class wrongly, as Fraction's powers do.
    """
    file = frame.f_code.co_filename
    if _graph_number(number) is not None and file.startswith(_STANDARD_LIBRARY) and "site-packages" not in file:
        user_frame = frame
        while user_frame.f_back is not None and user_frame.f_code.co_filename.startswith(_STANDARD_LIBRARY):
            user_frame = user_frame.f_back
        raise StagingError(
            f"{frame.f_code.co_qualname} computes with a number known only at run time",
            Place(user_frame.f_code.co_filename, user_frame.f_lineno),
        )


def raise_if_python_refuses(function: Callable[[Any, Any], Any], x: object, y: object) -> None:
    """Raise the TypeError of Python's operator where a symbolic number meets an operand of an unsupported type.

    A number of NumPy's counts as symbolic only where it meets None: other operands may become arrays.
    """
    samples = [_sample(value, with_numpy=x is None or y is None) for value in (x, y)]
    if None in samples:
        return
    (first,), (second,) = samples  # type: ignore[misc]
    if is_in_place(sys._getframe(2)):
        function = getattr(operator, "i" + function.__name__.strip("_"))
    # Called for the mirrored operator of the right operand.
    elif ordering_comparison(sys._getframe(2)) == MIRRORED_BY_COMPARISON.get(function.__name__):
        function, first, second = getattr(operator, MIRRORED_BY_COMPARISON[function.__name__]), second, first
    program_error = None
    try:
        function(first, second)
    except TypeError as error:
        program_error = TypeError(*error.args)
    if program_error is not None:  # raised after the handler, which would give it a context
        mark_program_error(program_error)
        program_error._autoconv_operands = first, second  # type: ignore[attr-defined]
        raise program_error


def refuse_iteration(number: object, frame: Any) -> None:
    """Raise Python's TypeError for iterating over a number, where the frame's current instruction does that."""
    class_name = type(number).__name__
    instruction = opcode.opname[frame.f_code.co_code[frame.f_lasti]]
    message = {
        "UNPACK_SEQUENCE": f"cannot unpack non-iterable {class_name} object",
        "UNPACK_EX": f"cannot unpack non-iterable {class_name} object",
        "LIST_EXTEND": f"Value after * must be an iterable, not {class_name}",
        "GET_ITER": f"{class_name!r} object is not iterable",
    }.get(instruction)
    if message is not None:
        raise mark_program_error(TypeError(message))


def refuse_dtype_comparison_by_numpy(frame: Any) -> None:
    """Raise where NumPy compares a dtype with the `dtype` attribute of this operand.

    NumPy does not read that attribute of its own arrays. It catches the error, and calls the operand's operator.
    """
    if opcode.opname[frame.f_code.co_code[frame.f_lasti]] == "COMPARE_OP":
        raise TypeError("an array is no dtype")


# Operators that Python's floats do not support, and operators that its complex numbers do not support.
_INTEGER_OPS = frozenset(entry.tensor_op for entry in BITWISE)
_REAL_OPS = frozenset({"floor_divide", "modulo", "matmul"}) | _INTEGER_OPS


def _is_complex(*operands: Any) -> bool:
    """Return whether an operand is a complex number of Python's."""
    return any(_is_number(x, complex) for x in operands)


def _is_number(x: object, number_class: type) -> bool:
    """Return whether the operand is a float or complex number of Python's, or of a subclass."""
    number = _graph_number(x)
    if number is None:
        return isinstance(x, number_class) and not hasattr(x, "dtype")
    return bool(number.type.dtype.is_complex if number_class is complex else number.type.dtype.is_floating)


def _lacks_operator(op: str, x: object, y: object) -> bool:
    """Return whether Python has no such operator for a symbolic number and the other operand."""
    if type(x) in _NON_OPERAND_TYPES or type(y) in _NON_OPERAND_TYPES or (op in _REAL_OPS and _is_complex(x, y)):
        return True
    return op in _INTEGER_OPS and (_is_number(x, float) or _is_number(y, float))


def _graph_number(x: object) -> Any:
    """Return the operand if it is a symbolic Python number, else None."""
    tensor: Any = x if isinstance(x, TensorMethods) and hasattr(x, "value_in_graph") else None
    return tensor if tensor is not None and tensor.weak else None


def _is_float64_of_numpy(x: Any) -> bool:
    """Return whether the operand stands for a float64 of NumPy's in a trace of arrays."""
    is_scalar = hasattr(x, "value_in_graph") and getattr(x.type, "shape", None) == ()
    return is_scalar and x.type.dtype == float64 and BINARY_DISPATCH().traces_arrays()


def _sample(value: Any, with_numpy: bool) -> tuple[Any] | None:
    """Return, in a tuple, a value of the operand's type; return None for a tensor that is not a symbolic number.

    `with_numpy`, numbers of NumPy's have a sample as well.
    """
    if type(value) in (bool, int, float, complex):
        return (type(value)(1),)
    if isinstance(value, (int, float, complex)) and not hasattr(value, "dtype"):
        return (value,)  # of a subclass, which the error names
    class_ = getattr(type(value), "__autoconv_plain__", type(value))
    if class_ in _NON_OPERAND_TYPES:
        return (None if value is None else class_(),)
    number = _graph_number(value)
    if number is not None:
        return (number.type.dtype.numpy.type(1).item(),)
    is_numpy_number = with_numpy and getattr(value, "shape", None) == () and BINARY_DISPATCH().traces_arrays()
    return (value.type.dtype.numpy.type(1),) if is_numpy_number and hasattr(value, "value_in_graph") else None


def _binary_methods(op: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """Return the methods `x op other` and `other op x` of tensors."""
    operator_entry = OPERATOR_BY_TENSOR_OP[op]
    method, reflected_method = operator_entry.method, operator_entry.reflected

    def forward(self: Any, other: object) -> Any:
        """Compute `self <operator> other`."""
        if type(other) not in _BUILTIN_TYPES:
            refuse_foreign(self, other, reflected_method)
        if _lacks_operator(op, self, other):
            raise_if_python_refuses(operator_entry.function, self, other)
        try:
            return BINARY_DISPATCH().binary(op, self, other)
        except BaseException as error:
            present(error)
            raise

    def reflected(self: Any, other: object) -> Any:
        """Compute `other <operator> self`."""
        if type(other) not in _BUILTIN_TYPES:
            refuse_foreign(self, other, method)
        elif type(other) is float:
            refuse_in_library(self, sys._getframe(1))
        if _lacks_operator(op, self, other):
            raise_if_python_refuses(operator_entry.function, other, self)
        try:
            return BINARY_DISPATCH().binary(op, other, self)
        except BaseException as error:
            present(error)
            raise

    return forward, reflected


def _comparison_method(op: str) -> Callable[[Any, Any], Any]:
    """Return the method of tensors for a comparison."""
    operator_entry = OPERATOR_BY_TENSOR_OP[op]
    reflected_method = operator_entry.reflected

    def compare(self: Any, other: object) -> Any:
        """Compute the comparison `self <operator> other`."""
        if type(other) not in _BUILTIN_TYPES:
            refuse_foreign(self, other, reflected_method)
        is_unsupported = type(other) in _NON_OPERAND_TYPES or _is_complex(self, other)
        if is_unsupported and op not in ("equal", "not_equal"):
            raise_if_python_refuses(operator_entry.function, self, other)
        if other is None:
            return BINARY_DISPATCH().compare_with_none(op, self)
        try:
            result = BINARY_DISPATCH().binary(op, self, other)
            if result is NotImplemented and isinstance(other, np.dtype):  # whose operator would read the tensor's dtype
                raise StagingError("a number known only at run time is combined with a dtype", current_place())
            if result is NotImplemented and op in ("equal", "not_equal"):
                BINARY_DISPATCH().refuse_elementwise_comparison(self, other, with_article(type(other)))
            return result
        except BaseException as error:
            if isinstance(error, ValueError) and op in ("equal", "not_equal"):
                result = COMPARE_UNEQUAL_SHAPES(op, self, other)
                if result is not None:
                    return result
            present(error)
            raise

    return compare


class TensorMethods:
    """Operators on tensors; operands broadcast as in NumPy, Python numbers take the tensor's dtype."""

    __slots__ = ()

    __add__, __radd__ = _binary_methods("add")
    __sub__, __rsub__ = _binary_methods("subtract")
    __mul__, __rmul__ = _binary_methods("multiply")
    __truediv__, __rtruediv__ = _binary_methods("divide")
    __floordiv__, __rfloordiv__ = _binary_methods("floor_divide")
    __mod__, __rmod__ = _binary_methods("modulo")
    __pow__, __rpow__ = _binary_methods("power")
    __matmul__, __rmatmul__ = _binary_methods("matmul")
    __and__, __rand__ = _binary_methods("bitwise_and")
    __or__, __ror__ = _binary_methods("bitwise_or")
    __xor__, __rxor__ = _binary_methods("bitwise_xor")
    __lshift__, __rlshift__ = _binary_methods("left_shift")
    __rshift__, __rrshift__ = _binary_methods("right_shift")
    __lt__ = _comparison_method("less")
    __le__ = _comparison_method("less_equal")
    __gt__ = _comparison_method("greater")
    __ge__ = _comparison_method("greater_equal")
    __eq__ = _comparison_method("equal")  # type: ignore[assignment]
    __ne__ = _comparison_method("not_equal")  # type: ignore[assignment]

    @present_errors
    def __neg__(self) -> Any:
        return BINARY_DISPATCH().unary("negative", self)

    @present_errors
    def __pos__(self) -> Any:
        return BINARY_DISPATCH().positive(self)

    @present_errors
    def __abs__(self) -> Any:
        return BINARY_DISPATCH().unary("abs", self)

    @present_errors
    def __invert__(self) -> Any:
        return BINARY_DISPATCH().unary("invert", self)

    @present_errors
    def __round__(self, digits: int | None = None) -> Any:
        return BINARY_DISPATCH().round_to(self, digits)

    def __divmod__(self, other: object) -> Any:
        if type(other) in _NON_OPERAND_TYPES or _is_complex(self, other):
            raise_if_python_refuses(divmod, self, other)
        quotient = type(self).__floordiv__(self, other)
        return NotImplemented if quotient is NotImplemented else (quotient, self % other)

    def __rdivmod__(self, other: object) -> Any:
        if type(other) in _NON_OPERAND_TYPES or _is_complex(self, other):
            raise_if_python_refuses(divmod, other, self)
        return other // self, other % self

    @present_errors
    def __getitem__(self, index: object) -> Any:
        return BINARY_DISPATCH().get_item(self, index)
