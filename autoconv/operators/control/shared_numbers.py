"""Operations on variants of numbers whose arms differ only in class: Python's float or NumPy's float64, int or int64.

A result that depends on the number alone is computed once, from the number that the arms share, without the tag:

    best = 0.0                       best: Arms(Static(0.0), Leaf(float64[]))
    for i in range(n):
        if a[i] > best:              one comparison; without this rule, one for each arm
            best = a[i]
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.types import TensorType, number_type
from autoconv.operators.regions.layout import Leaf, Variant, scalar_dtype, weak_type
from autoconv.operators.regions.marshalling import renumber_arms, select_number
from autoconv.runtime.arrays.assigned_values import convert_element
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

_CLASSES = _PYTHON, _NUMPY = "Python", "NumPy"  # whose class a number has; a tag is a position among these

# For no further operand, one, and two: functions that give the same float in Python and NumPy, and raise nothing.
_FUNCTIONS_OF_FLOATS = ((operator.neg, operator.pos, operator.abs), (operator.add, operator.sub, operator.mul), ())


def shared_number(variant: Variant) -> Any:
    """Return the number of a variant, as a scalar of NumPy's class; None if an arm is no number of the same dtype."""
    dtypes = {scalar_dtype(layout) for layout in variant.layouts}
    if len(dtypes) != 1 or None in dtypes:
        return None
    if variant.number is not None:
        return variant.number
    (dtype,) = dtypes
    assert dtype is not None
    return number_in_dtype(variant, dtype)


def number_in_dtype(variant: Variant, dtype: DType) -> Any:
    """Return the number of a variant of numbers as a scalar of NumPy's class with that dtype."""
    numbers = [convert_element(value, dtype) for value in variant.values]
    return select_number(variant.tag, dict(enumerate(numbers)))


def compare_numbers(compare: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return `compare(x, y)`, where one or both are variants; NotImplemented where it depends on more than numbers.

    The result is Python's bool where both operands are Python's numbers, and NumPy's bool otherwise.
    """
    numbers = [shared_number(value) if type(value) is Variant else value for value in (x, y)]
    shared_value = next(number for number, value in zip(numbers, (x, y), strict=True) if type(value) is Variant)
    if shared_value is None or shared_value.type.dtype.is_complex:  # errors of complex operands name the classes
        return NotImplemented
    if not all(_converts_exactly(number, shared_value.type.dtype) for number in numbers):
        return NotImplemented
    result = compare(*numbers)
    if not isinstance(result, SymbolicTensor):
        return NotImplemented
    if any(_class_of(value) == _NUMPY for value in (x, y)):
        return result
    tag: Any = None
    for value in (x, y):
        if _class_of(value) is None:
            tag = _class_tag(value) if tag is None else dispatch.apply("maximum", tag, _class_tag(value))
    python_bool = dispatch.apply("python_cast", result, dtype=bool_, weak=True)
    if tag is None:
        return python_bool
    layouts = [Leaf(number_type(bool_)), Leaf(TensorType(bool_, ()))]
    return Variant(tag, layouts, [python_bool, result], result)


def extreme_of_numbers(function: Callable[..., Any], first: Any, *later: Any) -> Any:
    """Return the max or min (`function`) of numbers and variants; NotImplemented where more than numbers decide.

    The choice does not read the tags, so that a loop whose result has no use for the class carries no tag.
    """
    compare = operator.gt if function is builtins.max else operator.lt
    result = first
    for number in later:
        result = _choose_number(compare, number, result)
        if result is NotImplemented:
            return NotImplemented
    return result


def _choose_number(compare: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return `x if compare(x, y) else y`, where both may be variants of numbers of one dtype; else NotImplemented."""
    numbers = [shared_number(value) if type(value) is Variant else value for value in (x, y)]
    dtype = next((number.type.dtype for number in numbers if isinstance(number, SymbolicTensor)), None)
    if dtype is None or dtype.is_complex or not all(_has_dtype(number, dtype) for number in numbers):
        return NotImplemented
    is_chosen = compare(*numbers)
    if not isinstance(is_chosen, SymbolicTensor):
        return NotImplemented
    number = dispatch.apply("select", is_chosen, *(convert_element(number, dtype) for number in numbers))
    python_number = dispatch.apply("python_cast", number, dtype=dtype, weak=True)
    classes = {_class_of(value) for value in (x, y)}
    if len(classes) == 1 and None not in classes:
        return number if classes == {_NUMPY} else python_number
    tag = dispatch.apply("select", is_chosen, _class_tag(x), _class_tag(y))
    layouts = [Leaf(number_type(dtype)), Leaf(TensorType(dtype, ()))]
    return Variant(tag, layouts, [python_number, number], number)


def _class_tag(value: Any) -> Any:
    """Return the position of a number's class in `_CLASSES`."""
    known_class = _class_of(value)
    if known_class is not None:
        return _CLASSES.index(known_class)
    return renumber_arms(value.tag, [_CLASSES.index(_class_of(arm)) for arm in value.values])


def _has_dtype(number: Any, dtype: DType) -> bool:
    """Return whether a number is a scalar whose class has the dtype."""
    if isinstance(number, SymbolicTensor):
        return number.type.dtype is dtype and number.type.shape == ()
    if type(number) is int and not -(2**63) <= number < 2**63:
        return False
    return type(number) is dtype.numpy.type or (type(number) in (int, float) and weak_type(number).dtype is dtype)


def _converts_exactly(number: Any, dtype: DType) -> bool:
    """Return whether a scalar has the dtype, or is a constant that converts to it without a change."""
    if isinstance(number, SymbolicTensor):
        return number.type.dtype is dtype and number.type.shape == ()
    if type(number) is int and dtype.is_floating:
        return -(2**53) <= number <= 2**53
    return type(number) in (int, float, np.int64, np.float64) and dtype.numpy.kind == np.asarray(number).dtype.kind


def _class_of(value: Any) -> str | None:
    """Return whose class a number has, Python's or NumPy's; None for a variant with arms of both."""
    if type(value) is not Variant:
        is_numpy = not value.type.weak if isinstance(value, SymbolicTensor) else isinstance(value, np.generic)
        return _NUMPY if is_numpy else _PYTHON
    classes = set(map(_class_of, value.values))
    return classes.pop() if len(classes) == 1 else None


def apply_to_number(function: Callable[..., Any], variant: Variant, *operands: Any) -> Any:
    """Return `function(variant, *operands)` if one computation serves all arms; else NotImplemented.

    A number of NumPy's class and of the same dtype as the other operand makes the result one. Changes of sign, and
    sums, differences and products with a Python float, keep the class of a float.
    """
    number = shared_number(variant)
    dtype = None if number is None else number.type.dtype
    if dtype is None or not (dtype.is_floating or dtype is int64):
        return NotImplemented
    if len(operands) == 1 and _has_dtype(operands[0], dtype) and _class_of(operands[0]) == _NUMPY:
        return function(number, operands[0])
    if not dtype.is_floating or function not in _FUNCTIONS_OF_FLOATS[len(operands)]:
        return NotImplemented
    if not all(_converts_exactly(operand, dtype) and _class_of(operand) == _PYTHON for operand in operands):
        return NotImplemented
    result = function(number, *operands)
    values = [_in_class(result, value) for value in variant.values]
    return Variant(variant.tag, [Leaf(value.type) for value in values], values, result)


def _in_class(number: Any, arm: Any) -> Any:
    """Return the number in the class of an arm."""
    is_numpy = _class_of(arm) == _NUMPY
    return number if is_numpy else dispatch.apply("python_cast", number, dtype=number.type.dtype, weak=True)
