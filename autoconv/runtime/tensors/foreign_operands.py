"""Operators between NumPy's arrays or scalars and objects of other classes, such as a Fraction or a program's vector.

NumPy leaves such an operator to the object's class only if that has `__array_ufunc__ = None`, or a higher
`__array_priority__`. Else it computes on Python objects: each element becomes a Python number, and Python's operator
is applied to that number and the object. So `np.int32(3) + x` calls `type(x).__radd__(x, 3)`, with an int.
"""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, bool_, float64, int64
from autoconv.graph.python_operators import OPERATOR_BY_TENSOR_OP
from autoconv.graph.types import ArrayType, ObjectType
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_SCALAR_PRIORITY = -1_000_000.0  # of NumPy's scalars; arrays have 0.0
# Names by which NumPy recognises an object that it converts to an array, apart from sequences.
_ARRAY_PROTOCOLS = ("__array_ufunc__", "__array__", "__array_interface__", "__array_struct__", "__buffer__")


def apply_to_foreign(op: str, x: object, y: object) -> Any:
    """Return `x op y` as NumPy computes it; NotImplemented where it leaves the operator to the foreign class.

    One operand is a tensor of a trace of arrays, the other is of a class that tensors do not compute with.
    """
    number, foreign = (x, y) if isinstance(x, Tensor) else (y, x)
    if _is_internal(foreign):
        return NotImplemented
    operand = operand_for_class(op, number, type(foreign))
    if operand is number:
        return NotImplemented
    function = OPERATOR_BY_TENSOR_OP[op].function
    return function(operand, foreign) if number is x else function(foreign, operand)


def operand_for_class(op: str, operand: Any, class_: type) -> Any:
    """Return what NumPy passes to the operator of the foreign `class_` in place of `operand`.

    That is a Python number for a scalar, and the operand itself if NumPy leaves the operator to the class. Raise
    StagingError where NumPy computes element by element, or converts the instance to an array.
    """
    region = current_region()
    if region is None or not (region.trace.uses_arrays or region.contract.arrays_are_objects):
        return operand
    is_number = isinstance(operand, Tensor)
    if operand.weak if is_number else not _may_be_array(operand):
        return operand
    is_scalar = is_number and operand.type.shape == ()
    if _is_left_to_class(class_, is_scalar) or (op == "matmul" and is_scalar):
        return operand
    dtype = _python_dtype(operand.type.dtype) if is_scalar else None
    if dtype is None or _is_array_like(class_):
        subject = "a number of NumPy's" if is_scalar else "an array"
        message = f"{subject} is computed with {with_article(class_)}, which NumPy does by Python's operators"
        raise StagingError(message, current_place())
    return apply("python_cast", operand, dtype=dtype, weak=True)


def _may_be_array(operand: object) -> bool:
    """Return whether the operand is an array in memory, or an object of the graph that may be NumPy's."""
    value_type = getattr(getattr(operand, "value_in_graph", None), "type", None)
    return isinstance(value_type, ArrayType) or (isinstance(value_type, ObjectType) and value_type.kind == "any")


def _is_internal(value: object) -> bool:
    """Return whether the class of the value is one of this package or of NumPy, which have operators of their own."""
    return type(value).__module__.partition(".")[0] in ("autoconv", "numpy")


def _is_left_to_class(class_: type, is_scalar: bool) -> bool:
    """Return whether NumPy leaves an operator to the class of the other operand."""
    if hasattr(class_, "__array_ufunc__"):
        return class_.__array_ufunc__ is None
    priority = getattr(class_, "__array_priority__", _SCALAR_PRIORITY)
    return not isinstance(priority, float) or priority > (_SCALAR_PRIORITY if is_scalar else 0.0)


def _is_array_like(class_: type) -> bool:
    """Return whether NumPy may convert an instance of the class to an array."""
    return hasattr(class_, "__getitem__") or any(hasattr(class_, name) for name in _ARRAY_PROTOCOLS)


def _python_dtype(dtype: DType) -> DType | None:
    """Return the dtype of the Python number that an element becomes; None where no graph holds such a number."""
    if dtype.is_bool:
        return bool_
    if dtype.is_integer:
        return int64 if dtype.size < 8 or dtype is int64 else None
    return float64 if dtype.is_floating else None
