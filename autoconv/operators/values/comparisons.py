"""The comparisons `==`, `!=`, `<`, `<=`, `>`, `>=`, `in` and `is`.

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
from autoconv.graph.python_operators import MIRRORED
from autoconv.graph.types import weak_rank
from autoconv.operators.control.conditionals import (
    and_,
    if_exp,
    if_stmt,
    is_staged,
    not_,
    or_,
    python_truth,
    truth,
    user_defined_method,
)
from autoconv.operators.control.iterables import StagedRange
from autoconv.operators.control.loops import for_source
from autoconv.operators.control.optional_keys import has
from autoconv.operators.control.variants import distribute, is_arm, raise_if
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.shared_identity import check_identity
from autoconv.operators.support.generator_expressions import GeneratorExpression
from autoconv.operators.support.protected_names import BREAK, NORMAL
from autoconv.runtime.arrays.members import is_one_array
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import PLAIN, has_optional_keys, heap_of, items_of
from autoconv.runtime.objects.number_methods import refuse_number
from autoconv.runtime.objects.object_conversions import truth_of
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, graph_object
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.runtime.tensors.tensor_methods import refuse_as_python

_ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def eq(x: object, y: object) -> Any:
    if current_region() is None:
        return x == y
    if type(x).__eq__ is object.__eq__:
        check_identity(x, y)
    found = _of_parts("eq", x, y)
    return x == y if found is NotImplemented else found


def ne(x: object, y: object) -> Any:
    if current_region() is None:
        return x != y
    if type(x).__eq__ is object.__eq__:
        check_identity(x, y)
    found = _of_parts("ne", x, y)
    return x != y if found is NotImplemented else found


def _of_dtypes(name: str, x: object, y: object) -> Any:
    """Compare a NumPy dtype with a symbolic value; NotImplemented for other operands.

    NumPy itself would ask the symbolic value for an attribute `dtype`, and compare with that.
    """
    if not (isinstance(x, np.dtype) or isinstance(y, np.dtype)):
        return NotImplemented
    other = y if isinstance(x, np.dtype) else x
    if type(other) is SymbolicObject:
        return apply_object(name, x, y)
    if type(other) is SymbolicTensor and other.weak:
        return name == "ne" if name in ("eq", "ne") else NotImplemented
    if isinstance(other, (SymbolicTensor, SymbolicArray)):
        found = (name, y) if other is x else (MIRRORED.get(name, name), x)
        return getattr(operator, found[0])(other, found[1])
    return NotImplemented


def _ordering(name: str) -> Callable[[Any, Any], Any]:
    native = _ORDER[name]

    def compare(x: Any, y: Any) -> Any:
        if current_region() is None:
            return native(x, y)
        if type(x) is Variant or type(y) is Variant:
            return distribute(compare, x, y)
        found = _of_dtypes(name, x, y)
        if found is not NotImplemented:
            return found
        if type(x) is SymbolicTensor or type(y) is SymbolicTensor:
            refuse_as_python(native, x, y)
            if type(y) is SymbolicObject and type(x) is SymbolicTensor and x.weak:
                return apply_object(name, x, y)  # native code would call the object's mirrored operator
            return native(x, y)
        found = _of_parts(name, x, y)
        return native(x, y) if found is NotImplemented else found

    compare.__name__ = name
    return compare


lt, le, gt, ge = map(_ordering, ("lt", "le", "gt", "ge"))
_COMPARISONS = {"eq": eq, "ne": ne, "lt": lt, "le": le, "gt": gt, "ge": ge}


def same_or_equal(x: object, y: object) -> Any:
    """Compare items as containers do: True for one object, else by `==`."""
    if x is y or (type(x) is SymbolicTensor and type(y) is SymbolicTensor and _is_one_value(x, y)):
        return True
    _refuse_nans(x, y)
    return eq(x, y)


def _refuse_nans(x: object, y: object) -> None:
    """Bail out to plain Python at run time if both floats are NaN: the graph does not keep their identity."""
    region = current_region()
    if region is None or not region.contract.keeps_identity:
        return
    if all(_may_be_nan(value) for value in (x, y)) and SymbolicTensor in (type(x), type(y)):
        raise_if((x != x) & (y != y), OtherKindError("a NaN is looked up by identity, which a graph does not keep"))


def _may_be_nan(x: object) -> bool:
    if type(x) is SymbolicTensor:
        return x.weak and x.type.dtype is float64
    return isinstance(x, float) and x != x


def _is_one_value(x: SymbolicTensor, y: SymbolicTensor) -> bool:
    region = current_region()
    assert region is not None
    return x.weak and region.lift(x.value_in_graph) is region.lift(y.value_in_graph)


# Types that compare by their contents and read those of the other operand without calling its methods.
_BY_CONTENTS: tuple[type, ...] = (list, dict, set, frozenset, type({}.keys()), type({}.items()))


def _of_parts(name: str, x: Any, y: Any) -> Any:
    """Compare by the parts of both operands; NotImplemented where Python's own comparison serves."""
    region = current_region()
    if region is None or not region.contract.objects_in_graph:
        return NotImplemented
    if type(x) is Variant or type(y) is Variant:
        return distribute(_COMPARISONS[name], x, y)
    found = _of_dtypes(name, x, y)
    if found is not NotImplemented:
        return found
    for kind in (tuple, list):
        if _is_plain(x, kind, name) and _is_plain(y, kind, name):
            if not (_may_be_late(_items(x)) or _may_be_late(_items(y))):
                return NotImplemented
            return _of_sequences(name, x, y, kind is not tuple)
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)) and isinstance(x, tuple) != isinstance(y, tuple):
        return _of_other_kinds(name, x, y)
    if dataclasses.is_dataclass(x) and type(x) is type(y):
        if _is_generated(getattr(type(x), f"__{name}__", None)):
            return _COMPARISONS[name](_fields(x), _fields(y))
        if name == "ne" and _is_generated(type(x).__eq__):
            return not_(eq(_fields(x), _fields(y)))
    if name in ("eq", "ne") and any(graph_object(v) is not None and type(v).__eq__ is object.__eq__ for v in (x, y)):
        return truth_of(apply_object(name, x, y))
    if isinstance(x, _BY_CONTENTS) and (type(y) is SymbolicObject or heap_of(y) is not None):
        return apply_object(name, x, y)  # Python would see a list that has moved into the graph as empty
    return NotImplemented


def _may_be_late(items: tuple[Any, ...]) -> bool:
    """Return whether the comparison of items may be known only at run time."""
    return holds_symbols(items) or any(
        user_defined_method(item, "__eq__") is not None
        or (type(item) in (tuple, list, *PLAIN) and _may_be_late(_items(item)))
        for item in items
        if not isinstance(item, (dict, set))
    )


def _of_other_kinds(name: str, x: object, y: object) -> Any:
    """Compare a tuple with a list; an ordering raises Python's own TypeError."""
    samples: list[Any] = [() if isinstance(value, tuple) else [] for value in (x, y)]
    try:
        return getattr(operator, name)(*samples)
    except TypeError as error:
        error._autoconv_run_time = True  # type: ignore[attr-defined]
        raise


def _is_plain(x: object, kind: type, name: str) -> bool:
    """Return whether `x` is a Python sequence of `kind` whose items the trace holds; named tuples count as tuples."""
    if not isinstance(x, kind) or heap_of(x) is not None:
        return False
    return type(x) in (kind, *PLAIN) or getattr(type(x), f"__{name}__") is getattr(kind, f"__{name}__")


def _items(x: Any) -> tuple[Any, ...]:
    return tuple(list.__iter__(x)) if isinstance(x, list) else tuple(tuple.__iter__(x))


def _of_sequences(name: str, x: object, y: object, are_lists: bool) -> Any:
    """Compare by the first items that differ, and by the lengths if there are none."""
    first, second = _items(x), _items(y)
    if are_lists and name in ("eq", "ne") and len(first) != len(second):
        return name == "ne"

    def decided(position: int) -> Any:
        if name in ("eq", "ne"):
            return name == "ne"
        return _COMPARISONS[name](first[position], second[position])

    def from_(position: int) -> Any:
        while position < min(len(first), len(second)):
            same = same_or_equal(first[position], second[position])
            if is_staged(same):
                if name in ("eq", "ne") and position + 1 == len(first) == len(second):
                    return python_truth(same) if name == "eq" else not_(same)
                rest = functools.partial(from_, position + 1)
                return if_exp(truth(same), rest, functools.partial(decided, position))
            if not same:
                return decided(position)
            position += 1
        return getattr(operator, name)(len(first), len(second))

    return from_(0)


def _is_generated(method: object) -> bool:
    """Return whether `dataclass` generated the method."""
    code = getattr(method, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _fields(x: Any) -> tuple[Any, ...]:
    return tuple(getattr(x, field.name) for field in dataclasses.fields(x) if field.compare)


def in_(item: Any, container: Any) -> Any:
    """`item in container`; the result is a tensor if one of the two is."""
    region = current_region()
    if region is None:
        return _in_now(item, container)
    if type(item) is Variant or type(container) is Variant:
        return distribute(in_, item, container)
    if region.contract.objects_in_graph:
        found = _in_object(item, container)
        if found is not None:
            return found
        if user_defined_method(container, "__iter__") is not None and not hasattr(type(container), "__contains__"):
            container = tuple(container)
    if items_of(container) is not None:
        return container.count(item) > 0
    if has_optional_keys(container):
        return has(container, item)
    own = user_defined_method(container, "__contains__")
    if own is not None:
        found = own(container, item)
        return truth(found) if is_staged(found) or region.contract.python_numbers else bool(found)
    refuse_number(container, "argument of type {!r} is not iterable")
    if as_tensor(container) is not None:
        equal = binary_dispatch.binary("equal", container, item)
        found = dispatch.apply("reduce_any", equal, axis=None, keepdims=False)
        return python_truth(found) if _is_symbolic(item) or _is_symbolic(container) else bool(found)
    if isinstance(container, (list, tuple)) and (_may_be_late((item,)) or _may_be_late(_items(container))):
        return _found(item, _items(container), 0)
    if isinstance(container, (set, frozenset, range, dict)) and _is_symbolic(item):
        return _found(item, tuple(container), 0)
    return item in container


def _in_object(item: Any, container: Any) -> Any:
    """Return whether a container that is in the graph, or is looked into there, has the item; None for others."""
    if type(item) is SymbolicObject or type(container) is SymbolicObject or heap_of(container) is not None:
        return truth_of(apply_object("contains", container, item))
    if type(container) in (range, StagedRange) and (_is_symbolic(item) or type(container) is StagedRange):
        return _in_range(item, container)
    if isinstance(container, (dict, set, frozenset, str, bytes)) and holds_symbols((item, container)):
        return truth_of(apply_object("contains", container, item))
    return _among(item, container) if type(container) is GeneratorExpression else None


def _in_now(item: Any, container: Any) -> Any:
    if as_tensor(container) is None:
        return item in container
    equal = binary_dispatch.binary("equal", container, item)
    return bool(dispatch.apply("reduce_any", equal, axis=None, keepdims=False))


def _in_range(item: Any, numbers: range | StagedRange) -> Any:
    """Test membership in a range; for real numbers by arithmetic, in constant time."""
    step = numbers.step
    if not isinstance(step, int) or _kind_of_number(item) not in ("bool", "int", "float"):
        return truth_of(apply_object("contains", numbers, item))
    item = item + 0  # a bool becomes an int
    begins = numbers.start <= item if step > 0 else item <= numbers.start
    ends = item < numbers.stop if step > 0 else numbers.stop < item
    return and_(begins, lambda: and_(ends, lambda: (item - numbers.start) % step == 0))


def _is_symbolic(x: object) -> bool:
    return isinstance(x, (SymbolicTensor, Variant))


def _found(item: object, others: tuple[Any, ...], position: int) -> Any:
    """Return whether one of the others is or equals the item; evaluation stops at the first match."""
    while position < len(others):
        same = same_or_equal(others[position], item)
        position += 1
        if is_staged(same):
            return or_(python_truth(same), functools.partial(_found, item, others, position))
        if same:
            return True
    return False


def _among(item: object, values: GeneratorExpression) -> Any:
    """Return whether a generator yields the item; it is advanced no further after a match."""

    def body(other: object, *state: Any) -> Any:
        return if_stmt(same_or_equal(other, item), lambda *_: (True, BREAK), lambda *state: state, state, names)

    names = ("in", "its end")
    return for_source(values, body, (False, NORMAL), names, exit="its end")[0]


def not_in(item: object, container: object) -> Any:
    return not_(in_(item, container))


def is_(a: Any, b: Any) -> Any:
    """`a is b`; under `compile`, a comparison of numbers whose identity is unknown counts as an outside effect."""
    if a is b and not isinstance(a, (bool, int, float)):
        return True
    region = current_region()
    if region is not None and (is_in_graph(a) or is_in_graph(b)):
        for x in (a, b):
            if type(x) is SymbolicTensor and _kind_of_number(x) != "bool":
                region.contract.before_write(x, "a number is compared by identity")  # boxing would create a new object
        return truth_of(apply_object("is", a, b))
    if type(a) is Variant and (type(b) in _DECIDED_THERE or hasattr(b, "__dict__")):
        return distribute(is_, a, b)
    if type(b) is Variant and (type(a) in _DECIDED_THERE or hasattr(a, "__dict__")):
        return distribute(is_, a, b)
    if type(a) is Variant or type(b) is Variant:
        return is_arm(a, b) if type(a) is Variant else is_arm(b, a)
    if type(a) is SymbolicArray and type(b) is SymbolicArray:
        return a is b or is_one_array(a, b)
    if type(a) is SymbolicTensor or type(b) is SymbolicTensor:
        return _is_one_number(a, b, region)
    check_identity(a, b)
    return a is b


def _is_one_number(a: Any, b: Any, region: Region | None) -> Any:
    """`a is b`, where one of the two is a number of the graph."""
    if region is not None and region.contract.python_numbers:
        if a is b or _kind_of_number(a) != _kind_of_number(b):
            return a is b
        if _kind_of_number(a) == "bool":
            return eq(a, b)  # True and False are singletons
    if region is not None and a is not b and a is not None and b is not None:
        region.contract.before_write(a, "a number is compared by identity")
    check_identity(a, b)
    return a is b


# Variants and arrays, whose identity is decided in the graph for each arm.
_DECIDED_THERE = (Variant, SymbolicArray, SymbolicTensor)


def _kind_of_number(x: object) -> str:
    """Return the class name of a Python number, and a name that no Python number has for everything else."""
    if type(x) is SymbolicTensor:
        return ("bool", "int", "float", "complex")[weak_rank(x.type.dtype)] if x.weak else "array"
    return type(x).__name__ if isinstance(x, (bool, int, float, complex)) else "object"


def is_not(a: object, b: object) -> Any:
    same = is_(a, b)
    return dispatch.apply("logical_not", same) if isinstance(same, Tensor) else not same


def is_in_graph(x: object) -> bool:
    """Return whether an object or its contents are known only at run time."""
    return type(x) is SymbolicObject or heap_of(x) is not None or graph_object(x) is not None


__all__ = ["eq", "ge", "gt", "in_", "is_", "is_not", "le", "lt", "ne", "not_in", "same_or_equal"]
