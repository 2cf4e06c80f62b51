"""Symbolic Python objects: values of Python's own types that are known only at run time."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.graph.python_operators import BINARY, COMPARISONS, MIRRORED_BY_COMPARISON, UNARY
from autoconv.graph.types import ObjectType
from autoconv.ops.python.unassigned_names import NotAssigned
from autoconv.runtime.objects.method_names import DATA_DUNDERS, is_method_name
from autoconv.runtime.objects.rebuilt_arguments import refuse_rebuilt
from autoconv.runtime.objects.refused_values import (
    refuse_container,
    refuse_graph_value_or_iterator,
    refuse_in_replaced_range,
)
from autoconv.runtime.objects.staged_exceptions import StagedException, holds_graph_values
from autoconv.runtime.objects.symbol_search import (
    RunTimeObject,
    captures_trace_values,
    holds_created_objects,
    holds_functions_that_vary,
    holds_symbols,
    is_symbolic_slice,
    varies_by_call,
)
from autoconv.runtime.objects.symbolic_generators import SymbolicGenerator
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support import caller_instruction
from autoconv.runtime.support.attributes import HEAP, dict_of, is_in_graph
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.support.identity import compares_identity
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import binary_dispatch, dispatch
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor


def graph_object(value: object) -> SymbolicObject | None:
    """Return the graph's object for a user's object that is part of the graph; None for other values."""
    return dict.get(dict_of(value), HEAP) if is_in_graph(value) else None


def register_object_hooks(move: Callable[[Any], Any], user_attribute: Callable[[Any, str], Any]) -> None:
    """Register hooks for objects made by the traced code.

    `move(value)` moves one into the graph, and returns the graph's object. `user_attribute(object, name)` returns one
    of its methods or properties, NotImplemented for another name.
    """
    global _move_hook, _attribute_hook
    _move_hook, _attribute_hook = move, user_attribute


def register_operation_hook(operation: Callable[[str, list[Any], dict[str, Any]], Any]) -> None:
    """Register `operation(op, operands, attributes)`, called before a node over objects is recorded.

    A result other than NotImplemented replaces the node.
    """
    global _operation_hook
    _operation_hook = operation


CARRIED = "carried"  # passed to the hook in place of an op, for a variable that is carried between regions
_operation_hook: Callable[[str, list[Any], dict[str, Any]], Any] = lambda op, operands, attributes: NotImplemented
_move_hook: Callable[[Any], Any] = lambda value: constant_object(value)
_attribute_hook: Callable[[Any, str], Any] = lambda value, name: NotImplemented


class SymbolicObject(RunTimeObject):
    """A symbolic Python object in a graph being recorded; each operation on it becomes a node."""

    __slots__ = ("__weakref__", "_value")

    def __init__(self, value: Value) -> None:
        self._value = value

    @property
    def value_in_graph(self) -> Value:
        return self._value

    def __autoconv_graph_value__(self) -> Value:
        return self._value

    def __autoconv_wrap__(self) -> Callable[[Any], Any]:
        return as_object

    def __autoconv_defined__(self, is_outer: bool) -> Any:
        """Return the value of a name that may be unassigned at run time."""
        return record_object("object_check_assigned", [self], **({"outer": True} if is_outer else {}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in DATA_DUNDERS:
            raise AttributeError(name)
        if name == "keys" and caller_instruction.merges_mapping(sys._getframe(1)):
            _refuse("unpacked by `**`")
        result = _attribute_hook(self, name)
        if result is not NotImplemented:
            return result
        if is_method_name(name):
            return ObjectMethod(self, name)
        return record_object("object_get_attribute", [self], name=name)

    def __setitem__(self, index: object, value: object) -> None:
        apply_object("setitem", self, index, value)

    def __delitem__(self, index: object) -> None:
        apply_object("delitem", self, index)

    def __iter__(self) -> Iterator[Any]:
        """Unpack the object; the assignment's targets determine the number of items."""
        return self.unpack_for(sys._getframe(1))

    def unpack_for(self, frame: Any) -> Iterator[Any]:
        """Return the items for the targets of the assignment that the frame executes."""
        targets = caller_instruction.unpacking_targets(frame)
        if targets is None:
            _refuse("iterated over by Python itself")
        result = record_object("object_unpack", [self], count=targets.target_count, star=targets.star_position)
        items = list(result) if targets.target_count != 1 else [result]
        if targets.star_position >= 0:
            # Python collects the starred target from an iterator, so the number of items would have to be static.
            _refuse("unpacked to a starred name")
        return iter(items)

    def __bool__(self) -> bool:
        _refuse("tested for truth by Python itself")

    def __len__(self) -> int:
        _refuse("passed to len() by Python itself")

    def __index__(self) -> int:
        _refuse("used as an index by Python itself")

    __int__ = __float__ = __complex__ = __index__  # type: ignore[assignment]

    def __hash__(self) -> int:
        _refuse("used as a key by Python itself")

    def __contains__(self, item: object) -> bool:
        _refuse("searched by Python itself")

    def __str__(self) -> str:
        _refuse("converted to text by Python itself")

    def __format__(self, spec: str) -> str:
        _refuse("converted to text by Python itself")

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        result = _operation_hook("object_call", [self, *args], kwargs)
        return _refuse("called") if result is NotImplemented else result

    def __repr__(self) -> str:
        return f"<autoconv object {self._value.full_name!r}>"


class ObjectMethod(BoundSymbolicMethod[SymbolicObject]):
    """A bound method `x.name` of a symbolic object."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self.name == "resize" and "refcheck" not in kwargs:
            _refuse("resized, which depends on the number of references to an array, and a graph holds some")
        operands = [self.owner, *args, *kwargs.values()]
        return record_object("object_method", operands, name=self.name, keywords=tuple(kwargs))


def as_object(value: object) -> Any:
    """Wrap a graph value for traced code; return any other value, the result of a graph that ran eagerly, unchanged."""
    return SymbolicObject(value) if isinstance(value, Value) else value


def is_object(value: object) -> bool:
    return type(value) is SymbolicObject


def apply_object(function: str, *operands: Any, keywords: tuple[str, ...] = ()) -> Any:
    """Record Python's operator or builtin of the name (see `autoconv.ops.python.objects`)."""
    return record_object("object_apply", operands, function=function, keywords=keywords)


binary_dispatch.register_repetition(functools.partial(apply_object, "mul"))


def record_object(op: str, operands: Sequence[Any], **attributes: Any) -> Any:
    """Record a node over objects, with boxed operands, and wrap its results."""
    region = current_region()
    if region is None:
        raise StagingError("a value that belongs to a graph is used after the graph was recorded", current_place())
    operands = list(operands)
    result = _operation_hook(op, operands, attributes)
    return record_without_hook(op, operands, **attributes) if result is NotImplemented else result


def box_carried(value: object) -> SymbolicObject:
    """Box the value of a variable that is carried from one region to the next; the hook is called with CARRIED."""
    _operation_hook(CARRIED, [result := box(value)], {})
    return result


def record_without_hook(op: str, operands: Sequence[Any], **attributes: Any) -> Any:
    """Record a node as `record_object` does, without a call of the hook for operations."""
    region = current_region()
    assert region is not None
    inputs = [region.lift(box(operand).value_in_graph) for operand in operands]
    region.trace.compares_identity |= compares_identity(op, inputs, attributes)
    results = [_wrap_result(value) for value in region.record(op, inputs, attributes).results]
    return results[0] if len(results) == 1 else tuple(results)


_USE_OF_ARGUMENT = "of the arguments becomes part of a value known only at run time"


def box(value: Any) -> SymbolicObject:
    """Convert a value to an object of the graph; raise StagingError where that is impossible."""
    if type(value) is SymbolicObject:
        return value
    if type(value) is StagedException:
        return value.value
    hook = getattr(type(value), "__autoconv_box__", None)
    if hook is not None:
        return hook(value)
    region = current_region()
    assert region is not None
    if isinstance(value, (SymbolicTensor, EagerTensor)) or as_tensor(value) is not None:
        return _box_tensor(value, region)
    if type(value) is SymbolicGenerator:
        return SymbolicObject(value.__autoconv_graph_value__())
    refuse_rebuilt(value, _USE_OF_ARGUMENT)
    if type(value) in (tuple, list, set, dict) and (
        holds_symbols(value) or holds_created_objects(value) or holds_functions_that_vary(value)
    ):
        result = build_object(type(value).__name__, value)
        if id(value) in region.trace.tuple_arguments:
            region.trace.tuples_in_graph[result.value_in_graph] = region.trace.tuple_arguments[id(value)]
        return result
    if is_symbolic_slice(value):
        return apply_object("slice", value.start, value.stop, value.step)  # type: ignore[no-any-return]
    if type(value) is tuple and any(map(is_symbolic_slice, value)):  # a multidimensional index
        return build_object("tuple", value)
    if isinstance(value, BaseException) and holds_graph_values(value):
        return _box_exception(value)
    refuse_container(value)
    if region.trace.created_objects is not None and id(value) in region.trace.created_objects:
        if captures_trace_values(type(value)):
            raise StagingError(
                "an object whose class holds values of the call becomes part of a value known only at run time",
                current_place(), "a class outside of the function",
            )  # fmt: skip
        return _move_hook(value)
    refuse_graph_value_or_iterator(value)
    if type(value).__name__ == "Undefined":  # a class of the operators, which import this module
        value = NotAssigned(value.name)
    refuse_in_replaced_range(region.trace, value)
    computed = _computed_array(value, region)
    result = constant_object(value) if computed is None else computed
    if region.contract.promises_identity and varies_by_call(value):
        region.trace.function_constants[result.value_in_graph] = captures_trace_values(value)
    return result


def _computed_array(array: Any, region: Region) -> SymbolicObject | None:
    """Return a copy, made in each run, of an array that the trace computed from constants; None for other values.

    All uses of the array share the copy.
    """
    if type(array) is not np.ndarray or not region.contract.promises_identity or region.contract.is_outside(array):
        return None
    _, copy, creating_region = region.trace.computed_arrays.get(id(array), (None, None, None))
    if creating_region is None:
        copy = record_object("object_method", [constant_object(array)], name="copy", keywords=())
        region.trace.computed_arrays[id(array)] = array, copy, region
    elif not region.is_inside(creating_region):
        raise StagingError("an array of constants is stored on several paths", current_place(), "a copy of it")
    assert isinstance(copy, SymbolicObject)
    return copy


def _box_exception(error: BaseException) -> SymbolicObject:
    """Record an exception whose arguments contain symbolic values."""
    if hasattr(error, "_autoconv_tensors") or isinstance(type(error).__init__, FunctionType) or vars(error):
        class_name = type(error).__name__
        raise StagingError(f"a {class_name} made of values known only at run time is stored", current_place())
    result: SymbolicObject = record_object("object_exception", list(error.args), exception=type(error))
    for name in ("__cause__", "__context__"):
        if getattr(error, name) is not None:
            record_object("object_set_attribute", [result, getattr(error, name)], name=name)
    record_object("object_set_attribute", [result, error.__suppress_context__], name="__suppress_context__")
    return result


def box_array(value: object) -> SymbolicObject:
    """Box a tensor of any shape, where the program does not see the object; unboxing restores the tensor."""
    region = current_region()
    assert region is not None
    return _record_box(as_tensor(value), "array", region)


def _record_box(tensor: object, boxing: str, region: Region) -> SymbolicObject:
    lifted_value = region.lift(dispatch.graph_value(region, tensor))
    return SymbolicObject(region.record("object_box", [lifted_value], {"boxing": boxing}).results[0])


def constant_object(value: object) -> SymbolicObject:
    """Record a Python object as a constant of the graph."""
    region = current_region()
    assert region is not None
    return SymbolicObject(region.record("object_constant", [], {"value": value}).results[0])


def _box_tensor(value: object, region: Region) -> SymbolicObject:
    """Convert a tensor to an object of the graph; raise StagingError for one of a kind that cannot be an object."""
    tensor = as_tensor(value)
    assert tensor is not None
    if tensor.weak:
        number = tensor.numpy().item() if isinstance(tensor, EagerTensor) else None
        return _record_box(tensor, "number", region) if number is None else constant_object(number)
    if region.contract.numpy_arrays and tensor.type.shape == ():
        return _record_box(tensor, "array", region)
    if region.contract.numpy_arrays:
        reason = "an array becomes part of a list, dict or name known only at run time"
        region.contract.require_original(tensor, reason)  # retraces with the arrays as objects, or leaves the trace
        raise StagingError(reason, current_place())
    raise StagingError(
        "a tensor becomes part of a list, dict or name whose type is known only at run time", current_place(),
        "an autoconv.TensorArray, or values of one type on all paths",
    )  # fmt: skip


def _wrap_result(value: Value) -> Any:
    return SymbolicObject(value) if isinstance(value.type, ObjectType) else SymbolicTensor(value)


def _refuse(use: str) -> NoReturn:
    raise StagingError(f"a value known only at run time is {use}", current_place())


def _binary_method(function: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: apply_object(function, self, other)


def _reflected_method(function: str) -> Callable[[Any, Any], Any]:
    """Return the method of an operator; with operands in source order, also for in-place operators such as `+=`."""
    if function == "divmod":
        return lambda self, other: apply_object(function, other, self)

    def apply(self: Any, other: object) -> Any:
        prefix = "i" if caller_instruction.is_in_place(sys._getframe(1)) else ""
        return apply_object(prefix + function, other, self)

    return apply


def _comparison_method(name: str) -> Callable[[Any, Any], Any]:
    """Return the method of a comparison, also for Python's call of the right operand with the mirrored operator."""
    mirrored = MIRRORED_BY_COMPARISON[name]

    def apply(self: Any, other: object) -> Any:
        has_repeatable_methods = type(other) is SymbolicTensor or type(other).__module__ == "builtins"
        comparison = caller_instruction.ordering_comparison(sys._getframe(1))
        if comparison == mirrored and has_repeatable_methods:
            return apply_object(mirrored, other, self)
        return apply_object(name, self, other)

    return apply


for _name in (*(entry.name for entry in BINARY), "divmod"):
    setattr(SymbolicObject, f"__{_name}__", _binary_method(_name))
    setattr(SymbolicObject, f"__r{_name}__", _reflected_method(_name))
    if _name != "divmod":
        setattr(SymbolicObject, f"__i{_name}__", _binary_method(f"i{_name}"))
for _name in (entry.name for entry in COMPARISONS):
    setattr(SymbolicObject, f"__{_name}__", _comparison_method(_name))
for _name in (*(entry.name for entry in UNARY), "pos"):
    setattr(SymbolicObject, f"__{_name}__", lambda self, _function=_name: apply_object(_function, self))
SymbolicObject.__getitem__ = _binary_method("getitem")  # type: ignore[attr-defined,misc]
SymbolicObject.__round__ = lambda self, *digits: apply_object("round", self, *digits)  # type: ignore[attr-defined]
SymbolicObject.__array_ufunc__ = None  # type: ignore[attr-defined]


def build_object(class_name: str, items: Any) -> SymbolicObject:
    """Record a new list, tuple, set or dict; a dict's items are a dict or pairs."""
    if class_name == "dict":
        pairs = items.items() if isinstance(items, dict) else items
        items = [key_or_value for pair in pairs for key_or_value in pair]
    return record_object("object_build", list(items), class_name=class_name)
