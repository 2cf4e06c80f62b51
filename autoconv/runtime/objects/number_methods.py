"""Attributes and methods of symbolic Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.types import number_type
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.objects.object_conversions import unbox
from autoconv.runtime.objects.symbolic_objects import record_object
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Methods that are not listed return objects of the graph.
_RESULT_TYPE_BY_METHOD = {
    "bit_length": number_type(int64),
    "bit_count": number_type(int64),
    "is_integer": number_type(bool_),
}


def number_attribute(x: SymbolicTensor, name: str) -> Any:
    """Return `x.name` of a Python number; raise Python's AttributeError where it has no such name."""
    sample = np.zeros((), x.type.dtype.numpy).item()
    result = getattr(sample, name)
    if callable(result):
        return NumberMethod(x, name)
    if x.type.dtype.is_complex and name in ("real", "imag"):
        return dispatch.apply(name, x)
    if name in ("real", "numerator"):
        return _as_int(x)
    return result  # a constant of the type: the imaginary part of a real number, the denominator of an int


def complex_attribute(x: SymbolicTensor, name: str) -> Any:
    """Return `x.name` under `function`, for names of Python's complex numbers that tensors lack."""
    if x.weak and x.type.dtype.is_complex and name in ("real", "imag", "conjugate"):
        return number_attribute(x, name)
    return NotImplemented


def refuse_number(x: object, message: str) -> None:
    """Raise Python's TypeError for a number, under `compile`; `message` is formatted with the name of its type."""
    if type(x) is SymbolicTensor and x.weak and current_contract().python_numbers:
        class_name = type(np.zeros((), x.type.dtype.numpy).item()).__name__
        raise mark_program_error(TypeError(message.format(class_name)))


def refuse_scalar(x: object, message: str) -> None:
    """Raise Python's TypeError for a number, as `refuse_number` does, and for a scalar of NumPy."""
    refuse_number(x, message)
    region = current_region()
    if type(x) is SymbolicTensor and x.type.shape == () and region is not None and region.trace.uses_arrays:
        raise mark_program_error(TypeError(message.format(f"numpy.{x.type.dtype.numpy.type.__name__}")))


class NumberMethod(BoundSymbolicMethod[SymbolicTensor]):
    """A bound method `x.name` of a symbolic Python number."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.name == "conjugate" and not args and not kwargs:
            is_complex = self.owner.type.dtype.is_complex
            return dispatch.apply("conjugate", self.owner) if is_complex else _as_int(self.owner)
        operands = [self.owner, *args, *kwargs.values()]
        result = record_object("object_method", operands, name=self.name, keywords=tuple(kwargs))
        type_ = _RESULT_TYPE_BY_METHOD.get(self.name)
        return result if type_ is None else unbox(result, type_)


def _as_int(x: SymbolicTensor) -> Any:
    """Return the number, a bool converted to int."""
    return dispatch.apply("python_int", x) if x.type.dtype.is_bool else x
