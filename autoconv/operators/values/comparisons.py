"""The comparisons `==`, `!=`, `<`, `<=`, `>`, `>=` and `is`.

Tuples, lists and dataclasses with symbolic items are compared item by item, in Python's order.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import OtherKindError
from autoconv.graph.dtypes import float64
from autoconv.graph.python_operators import MIRRORED_BY_COMPARISON
from autoconv.graph.types import ObjectType, number_kind_order
from autoconv.operators.control.conditionals import (
    if_exp,
    is_staged,
    not_,
    python_truth,
    truth,
    user_defined_method,
)
from autoconv.operators.control.shared_numbers import compare_numbers
from autoconv.operators.control.variants import distribute, raise_if, require_defined, selects_object
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.shared_identity import require_known_identity
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.arrays.members import is_same_array
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of
from autoconv.runtime.objects.object_conversions import truth_of
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_generators import SymbolicGenerator
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, graph_object
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_methods import raise_if_python_refuses

_ORDER_OPERATORS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def _equality_operator(name: str, tensor_op: str) -> Callable[[Any, Any], Any]:
    """Return the operator of that name; `tensor_op` is the op on tensors."""
    python_operator = getattr(operator, name)

    def compare(x: Any, y: Any) -> Any:
        """Compare by the parts of the operands where Python's own comparison does not serve."""
        if current_region() is None:
            return python_operator(x, y)
        if type(x).__eq__ is object.__eq__:
            require_known_identity(x, y)
        if type(x) is complex and isinstance(y, Tensor):
            return binary_dispatch.binary(tensor_op, x, y)  # `y.__eq__(x)`, which Python calls, has `y` first
        result = _compare_parts(name, x, y)
        return python_operator(x, y) if result is NotImplemented else result

    compare.__name__ = name
    return compare


eq, ne = _equality_operator("eq", "equal"), _equality_operator("ne", "not_equal")


def _compare_dtypes(name: str, x: object, y: object) -> Any:
    """Compare a NumPy dtype with a symbolic value; NotImplemented for other operands.

    NumPy itself would compare with the attribute `dtype` of the symbolic value.
    """
    if not (isinstance(x, np.dtype) or isinstance(y, np.dtype)):
        return NotImplemented
    operand = y if isinstance(x, np.dtype) else x
    if type(operand) is SymbolicObject:
        return apply_object(name, x, y)
    if type(operand) is SymbolicTensor and operand.weak:
        return name == "ne" if name in ("eq", "ne") else NotImplemented
    if isinstance(operand, (SymbolicTensor, SymbolicArray)):
        if operand is x:
            return getattr(operator, name)(x, y)
        return getattr(operator, MIRRORED_BY_COMPARISON.get(name, name))(y, x)
    return NotImplemented


def _ordering_operator(name: str) -> Callable[[Any, Any], Any]:
    """Return the operator of that name: `lt`, `le`, `gt` or `ge`."""
    python_operator = _ORDER_OPERATORS[name]

    def compare(x: Any, y: Any) -> Any:
        """Compare by the parts of the operands where Python's own comparison does not serve."""
        if current_region() is None:
            return python_operator(x, y)
        if type(x) is Variant or type(y) is Variant:
            return _compare_variants(compare, x, y)
        result = _compare_dtypes(name, x, y)
        if result is not NotImplemented:
            return result
        if type(x) is SymbolicTensor or type(y) is SymbolicTensor:
            raise_if_python_refuses(python_operator, x, y)
            if type(y) is SymbolicObject and type(x) is SymbolicTensor and x.weak:
                return apply_object(name, x, y)  # Python would call the object's mirrored operator
            return python_operator(x, y)
        result = _compare_parts(name, x, y)
        if result is NotImplemented and type(y) is SymbolicObject and user_defined_method(x, f"__{name}__") is None:
            return apply_object(name, x, y)  # an error of `y`'s method would name the mirrored operator
        return python_operator(x, y) if result is NotImplemented else result

    compare.__name__ = name
    return compare


lt, le, gt, ge = map(_ordering_operator, ("lt", "le", "gt", "ge"))
_COMPARISONS = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}


def _compare_variants(compare: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """Return `compare(x, y)` where one or both are variants: by their numbers, or in an arm for each alternative."""
    x, y = (require_defined(value) if type(value) is Variant else value for value in (x, y))
    if type(x) is not Variant and type(y) is not Variant:
        return compare(x, y)
    result = compare_numbers(compare, x, y)
    return distribute(compare, x, y) if result is NotImplemented else result


def is_same_or_equal(x: object, y: object) -> Any:
    """Compare items as containers do: True for one object, else by `==`."""
    if x is y or (type(x) is SymbolicTensor and type(y) is SymbolicTensor and _is_same_value(x, y)):
        return True
    if all(map(_is_float_object, (x, y))):
        return dispatch.apply("logical_or", truth_of(apply_object("is", x, y)), truth_of(apply_object("eq", x, y)))
    _refuse_nans(x, y)
    return eq(x, y)


def _is_float_object(x: object) -> bool:
    """Return whether a value is a graph object of Python's class float, which may be a NaN."""
    type_ = x.value_in_graph.type if type(x) is SymbolicObject else None
    return isinstance(type_, ObjectType) and type_.kind == "float"


def _refuse_nans(x: object, y: object) -> None:
    """Bail out to plain Python at run time if both floats are NaN, where the contract promises their identity.

    A container finds a NaN by its identity, which a float of the graph does not have.
    """
    region = current_region()
    if region is None or not region.contract.promises_identity:
        return
    if all(_may_be_nan(value) for value in (x, y)) and SymbolicTensor in (type(x), type(y)):
        raise_if((x != x) & (y != y), OtherKindError("a NaN is looked up by identity, which a graph does not keep"))


def _may_be_nan(x: object) -> bool:
    """Return whether a value is a Python float that is NaN, or a float of the graph."""
    if type(x) is SymbolicTensor:
        return x.weak and x.type.dtype is float64
    return isinstance(x, float) and x != x


def _is_same_value(x: SymbolicTensor, y: SymbolicTensor) -> bool:
    """Return whether two numbers are one value of the graph, and therefore one object."""
    region = current_region()
    assert region is not None
    return x.weak and region.lift(x.value_in_graph) is region.lift(y.value_in_graph)


# Types that compare by their contents and read those of the other operand without calling its methods.
_COMPARED_BY_CONTENTS: tuple[type, ...] = (list, dict, set, frozenset, type({}.keys()), type({}.items()))


def _compare_parts(name: str, x: Any, y: Any) -> Any:
    """Compare by the parts of both operands; NotImplemented where Python's own comparison serves."""
    region = current_region()
    if region is None or not region.contract.objects_in_graph:
        return NotImplemented
    if type(x) is Variant or type(y) is Variant:
        return _compare_variants(_COMPARISONS[name], x, y)
    result = _compare_dtypes(name, x, y)
    if result is not NotImplemented:
        return result
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        for kind in (tuple, list):
            if _is_plain_sequence(x, kind, name) and _is_plain_sequence(y, kind, name):
                if any(may_compare_at_run_time(plain_items(value)) for value in (x, y)):
                    return _compare_sequences(name, x, y, are_lists=kind is list)
                return NotImplemented
        if isinstance(x, tuple) != isinstance(y, tuple):
            return _compare_tuple_with_list(name, x, y)
    if dataclasses.is_dataclass(x) and type(x) is type(y):
        if _is_generated(getattr(type(x), f"__{name}__", None)):
            return _COMPARISONS[name](_compared_fields(x), _compared_fields(y))
        if name == "ne" and _is_generated(type(x).__eq__):
            return not_(eq(_compared_fields(x), _compared_fields(y)))
    if name in ("eq", "ne") and any(map(_is_compared_by_identity, (x, y))):
        return truth_of(apply_object(name, x, y))
    if isinstance(x, _COMPARED_BY_CONTENTS) and (type(y) is SymbolicObject or heap_of(y) is not None):
        return apply_object(name, x, y)  # Python would see a list that has moved into the graph as empty
    return NotImplemented


def _is_compared_by_identity(x: object) -> bool:
    """Return whether a value is an object of the graph whose class has Python's own comparison."""
    return graph_object(x) is not None and type(x).__eq__ is object.__eq__


def may_compare_at_run_time(items: tuple[Any, ...]) -> bool:
    """Return whether the comparison of items may be known only at run time."""
    return holds_symbols(items) or any(
        user_defined_method(item, "__eq__") is not None
        or (type(item) in (tuple, list, *TRACED_TO_PLAIN) and may_compare_at_run_time(plain_items(item)))
        for item in items
        if not isinstance(item, (dict, set))
    )


def _compare_tuple_with_list(name: str, x: object, y: object) -> Any:
    """Compare a tuple with a list; an ordering raises Python's own TypeError, which names the classes."""
    # Empty operands suffice, since the error depends only on the names of the classes.
    empty_tuples = [type(type(value).__name__, (tuple,), {})() for value in (x, y) if isinstance(value, tuple)]
    operands: list[Any] = [empty_tuples.pop() if isinstance(value, tuple) else [] for value in (x, y)]
    try:
        return getattr(operator, name)(*operands)
    except TypeError as error:
        mark_program_error(error)
        raise


def _is_plain_sequence(x: object, kind: type, name: str) -> bool:
    """Return whether `x` is a Python sequence of `kind` whose items the trace holds; named tuples count as tuples."""
    if not isinstance(x, kind) or heap_of(x) is not None:
        return False
    return type(x) in (kind, *TRACED_TO_PLAIN) or getattr(type(x), f"__{name}__") is getattr(kind, f"__{name}__")


def plain_items(x: Any) -> tuple[Any, ...]:
    """Return the items of a list or tuple as Python holds them, without the methods of its subclass."""
    return tuple(list.__iter__(x)) if isinstance(x, list) else tuple(tuple.__iter__(x))


def _compare_sequences(name: str, x: object, y: object, are_lists: bool) -> Any:
    """Compare by the first items that differ, and by the lengths if there are none."""
    first_items, second_items = plain_items(x), plain_items(y)
    if are_lists and name in ("eq", "ne") and len(first_items) != len(second_items):
        return name == "ne"

    def result_if_first_difference_at(position: int) -> Any:
        if name in ("eq", "ne"):
            return name == "ne"
        return _COMPARISONS[name](first_items[position], second_items[position])

    def compare_from(position: int) -> Any:
        """Compare the items from `position` on, then the lengths."""
        while position < min(len(first_items), len(second_items)):
            is_same = is_same_or_equal(first_items[position], second_items[position])
            if is_staged(is_same):
                if name in ("eq", "ne") and position + 1 == len(first_items) == len(second_items):
                    return python_truth(is_same) if name == "eq" else not_(is_same)
                compare_later = functools.partial(compare_from, position + 1)
                return if_exp(truth(is_same), compare_later, functools.partial(result_if_first_difference_at, position))
            if not is_same:
                return result_if_first_difference_at(position)
            position += 1
        return getattr(operator, name)(len(first_items), len(second_items))

    return compare_from(0)


def _is_generated(method: object) -> bool:
    """Return whether `dataclass` generated the method."""
    code = getattr(method, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _compared_fields(x: Any) -> tuple[Any, ...]:
    """Return the values of the fields by which the generated methods of a dataclass compare."""
    return tuple(getattr(x, field.name) for field in dataclasses.fields(x) if field.compare)


def is_(x: Any, y: Any) -> Any:
    """`x is y`; under `compile`, the contract refuses a comparison of numbers whose identity is unknown."""
    if x is y and not isinstance(x, (bool, int, float)):
        return True
    region = current_region()
    if region is not None and (is_object_in_graph(x) or is_object_in_graph(y)):
        for operand in (x, y):
            _refuse_unknown_identity(region, operand)
        return truth_of(apply_object("is", x, y))
    if type(x) is SymbolicGenerator and type(y) is SymbolicGenerator:
        return truth_of(apply_object("is", x, y))
    if type(x) is Variant and (isinstance(y, _TYPES_COMPARED_BY_ARM) or hasattr(y, "__dict__")):
        return distribute(is_, x, y)
    if type(y) is Variant and (isinstance(x, _TYPES_COMPARED_BY_ARM) or hasattr(x, "__dict__")):
        return distribute(is_, x, y)
    if type(x) is Variant or type(y) is Variant:
        return selects_object(x, y) if type(x) is Variant else selects_object(y, x)
    if type(x) is SymbolicArray and type(y) is SymbolicArray:
        return x is y or is_same_array(x, y)
    if type(x) is SymbolicTensor or type(y) is SymbolicTensor:
        return _is_same_number(x, y, region)
    require_known_identity(x, y)
    if region is not None and type(x) is type(y):
        _refuse_unknown_identity(region, x)
        _refuse_unknown_identity(region, y)
    return x is y


def _is_same_number(x: Any, y: Any, region: Region | None) -> Any:
    """`x is y`, where one of the two is a number of the graph."""
    if region is not None and region.contract.python_numbers:
        if x is y or kind_of_number(x) != kind_of_number(y):
            return x is y
        if kind_of_number(x) == "bool":
            return eq(x, y)  # True and False are singletons
    is_none_compared = x is None or y is None
    if region is not None and x is not y and not is_none_compared:
        _refuse_identity(region, x)
    require_known_identity(x, y)
    return x is y


def _refuse_unknown_identity(region: Region, value: object) -> None:
    """Abandon the trace for a number of the graph, or a tuple of such: read from a list, or rebuilt by a branch."""
    if type(value) is SymbolicTensor and kind_of_number(value) != "bool":
        _refuse_identity(region, value)
    elif isinstance(value, tuple) and region.contract.python_numbers and holds_symbols(value):
        _refuse_identity(region, value, "a tuple")


def _refuse_identity(region: Region, value: object, name: str = "a number") -> None:
    """Under `compile`, abandon the trace: numbers and tuples of the graph have no identity, and become new objects."""
    region.contract.require_original(value, f"{name} is compared by identity")


# If one operand of `is` is a variant, and the other has one of these types or a `__dict__`, each arm is compared.
_TYPES_COMPARED_BY_ARM = (Variant, SymbolicArray, SymbolicTensor, bool, int, float, complex)


def kind_of_number(x: object) -> str:
    """Return the class name of a Python number; for another value, a name that no class of numbers has."""
    if type(x) is SymbolicTensor:
        return ("bool", "int", "float", "complex")[number_kind_order(x.type.dtype)] if x.weak else "array"
    return type(x).__name__ if isinstance(x, (bool, int, float, complex)) else "object"


def is_not(x: object, y: object) -> Any:
    """`x is not y`."""
    is_same = is_(x, y)
    return dispatch.apply("logical_not", is_same) if isinstance(is_same, Tensor) else not is_same


def is_object_in_graph(x: object) -> bool:
    """Return whether an object or its contents are known only at run time; tensors do not count."""
    return type(x) is SymbolicObject or heap_of(x) is not None or graph_object(x) is not None
