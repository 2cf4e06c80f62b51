"""Operator dispatch by run-time class for graph objects: `x + y`, `len(x)`, `x[i]`, `if x` and the like.

`x` may be an instance of a user-defined class with special methods. Each operation becomes one arm for every such
class, which runs the converted method, and one arm for everything else. Where Python itself calls a special method,
for an item of a list or dict that is searched, sorted or compared, the method may do nothing but read.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.python_operators import BINARY, COMPARISONS, UNARY
from autoconv.graph.types import ObjectType
from autoconv.operators.control.conditionals import condition_value, is_staged, truth
from autoconv.operators.support.read_only_methods import may_write, only_reads
from autoconv.operators.values.builtins import convert_callback
from autoconv.operators.values.class_inference import (
    ITEMS,
    classes_defining,
    may_be_graph_instance,
    may_call_unseen_method,
    record_stores,
)
from autoconv.operators.values.instances import dispatch_on_class, is_user_defined
from autoconv.operators.values.not_implemented import resolve_not_implemented, unwrap_undecided_method
from autoconv.runtime.objects import symbolic_objects
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box, graph_object, record_without_hook
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.foreign_operands import operand_for_class

# Special methods that Python tries on the first operand, in this order, and the one that it tries on the second.
_FORWARD_METHODS: dict[str, tuple[str, ...]] = {
    entry.name: (entry.method,) for entry in (*BINARY, *COMPARISONS, *UNARY)
}
_FORWARD_METHODS.update({entry.in_place: (f"__{entry.in_place}__", entry.method) for entry in BINARY})
_FORWARD_METHODS.update({name: (f"__{name}__",) for name in (
    "divmod", "pos", "round", "getitem", "setitem", "delitem", "contains")})  # fmt: skip
_REFLECTED_METHODS: dict[str, str] = {entry.name: entry.reflected for entry in (*BINARY, *COMPARISONS)}
_REFLECTED_METHODS["divmod"] = "__rdivmod__"
_REFLECTED_METHODS.update({entry.in_place: entry.reflected for entry in BINARY})
_TRUTH_METHODS = ("__bool__", "__len__")
# Functions that iterate over their operands.
_ITERATING_FUNCTIONS = frozenset(
    {
        "list", "tuple", "set", "frozenset", "sorted", "sum", "min", "max", "any", "all", "enumerate", "zip", "dict",
        "mapping", "iter", "reversed", "last", "last_of_each", "bytes",
    }
)  # fmt: skip
# Functions that call `keys` of an operand that has it.
_MAPPING_FUNCTIONS = frozenset({"dict", "mapping", "collections.OrderedDict"})
# Functions that compare items with another operand.
_SEARCH_FUNCTIONS = frozenset({"contains", "index", "count", "remove", "min", "max"})
_EQUALITY_METHODS = ("__eq__", "__ne__")
_ORDER_METHODS = ("__lt__", "__gt__", "__le__", "__ge__")
# Special methods that a function calls on the items, by function.
_ITEM_METHODS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("eq", "ne", "contains", "index", "count", "remove"), _EQUALITY_METHODS),
    **dict.fromkeys(("lt", "le", "gt", "ge", "sorted", "sort", "min", "max"), (*_EQUALITY_METHODS, *_ORDER_METHODS)),
    "sum": ("__add__", "__radd__"), "any": _TRUTH_METHODS, "all": _TRUTH_METHODS,
}  # fmt: skip
_HASH_METHODS = ("__hash__", *_EQUALITY_METHODS)
_HASHING_FUNCTIONS = frozenset({"set", "frozenset", "dict", "collections.Counter", "collections.OrderedDict"})
_TEXT_FUNCTIONS = frozenset({"str", "repr", "ascii", "format"})
# Kinds of graph objects that may contain items ("any": unknown).
_CONTAINER_KINDS = frozenset(
    {"any", "list", "tuple", "dict", "set", "frozenset", "deque", "OrderedDict", "defaultdict", "Counter"}
)

# Functions that evaluate items one after the other in a graph loop; filled in by `iterable_consumers`.
ITEMWISE_FORM_BY_FUNCTION: dict[str, Callable[..., Any]] = {}


def operation_by_class(op: str, operands: list[Any], attributes: dict[str, Any]) -> Any:
    """Return the result of an op on graph objects by their classes; NotImplemented where none is user-defined.

    `op` is the name of an op on objects, such as "object_apply", with its `operands` and `attributes`.
    """
    region = current_region()
    if region is None:
        return NotImplemented
    trace = region.trace
    trace.is_dispatched_on_class = trace.is_dispatched_on_class or may_call_unseen_method(op, operands)
    if trace.patched_classes:
        _refuse_writing(trace, op, operands, attributes)
    if op == "object_call":
        return NotImplemented if not trace.created_classes else _call_by_class(operands[0], operands[1:], attributes)
    # `function`: the name of the operator or builtin that the op applies; `name`: the same, or that of a method.
    function = attributes.get("function", "") if op == "object_apply" else ""
    name = attributes.get("name", "") if op == "object_method" else function
    if trace.created_objects:
        record_stores(trace, op, name, operands, attributes)
    if not trace.created_classes:
        return NotImplemented
    if op == "object_truth":
        return _dispatch_by_methods(
            operands[0], _TRUTH_METHODS, _truth_value, lambda: record_without_hook(op, operands)
        )
    if op == "object_length":
        return _dispatch_by_methods(operands[0], ("__len__",), _length, lambda: record_without_hook(op, operands))
    if op in ("object_iterate", "object_unpack"):
        items = _as_items(operands[0], calls_item_methods=False)
        return NotImplemented if items is operands[0] else record_without_hook(op, [items], **attributes)
    non_iterable_operands = [operand for operand in operands if not _is_user_iterable(operand)]
    item_class = _item_class_with_effects(trace, name, non_iterable_operands)
    if item_class is not None and function in ITEMWISE_FORM_BY_FUNCTION and not attributes.get("keywords"):
        return ITEMWISE_FORM_BY_FUNCTION[function](*operands)
    if item_class is not None:
        raise StagingError(
            f"a value known only at run time is searched, sorted or compared, and {item_class.__name__} defines "
            "special methods that this may call", current_place(), "a loop over the items",
        )  # fmt: skip
    if function in _FORWARD_METHODS:
        return _apply_operator(function, operands, attributes)
    if function in _ITERATING_FUNCTIONS:
        items_of_each = [_as_items(operand, function in _ITEM_METHODS) for operand in operands]
        if any(items is not operand for items, operand in zip(items_of_each, operands, strict=True)):
            return record_without_hook(op, items_of_each, **attributes)
    return NotImplemented


# Special methods that Python may call for an op; `_operand_methods` adds those that depend on attributes.
_METHODS_BY_OP: dict[str, tuple[str, ...]] = {
    "object_truth": _TRUTH_METHODS, "object_length": ("__len__",), "object_call": ("__call__",),
    "object_index": ("__index__",),
    "object_iterate": ("__iter__", "__next__", "__getitem__"), "object_unpack": ("__iter__", "__next__", "__getitem__"),
}  # fmt: skip


def _has_unknown_class(operand: object) -> bool:
    """Return whether an operand is an object of the graph that may be of any class."""
    return type(operand) is SymbolicObject and operand.value_in_graph.type == ObjectType()


def _item_methods(op: str, attributes: dict[str, Any]) -> tuple[str, ...]:
    """Return the special methods of items that Python may call for an operation on a list, dict or set."""
    name = attributes.get("name" if op == "object_method" else "function", "")
    if op == "object_print" or name in _TEXT_FUNCTIONS:
        return ("__repr__",)
    is_hashed = op == "object_build" and attributes["class_name"] in _HASHING_FUNCTIONS
    return _HASH_METHODS if is_hashed or name in _HASHING_FUNCTIONS else _ITEM_METHODS.get(name, ())


def _operand_methods(op: str, attributes: dict[str, Any]) -> tuple[str, ...]:
    """Return the special methods of an operand that Python may call for an operation."""
    if op == "object_print":
        return ("__str__", "__repr__")
    if op == "object_build":
        return _item_methods(op, attributes)
    names = _METHODS_BY_OP.get(op, ())
    if op == "object_apply":
        function = attributes["function"]
        names = (*_FORWARD_METHODS.get(function, (f"__{function}__",)), _REFLECTED_METHODS.get(function, ""))
        names += _item_methods(op, attributes)
        names = (*names, *_METHODS_BY_OP["object_iterate"]) if function in _ITERATING_FUNCTIONS else names
        names = (*names, "keys", "__getitem__") if function in _MAPPING_FUNCTIONS else names
    return names


def _refuse_writing(trace: Any, op: str, operands: Sequence[Any], attributes: dict[str, Any]) -> None:
    """Raise StagingError where Python itself may call a method that writes, for an object known only at run time.

    This concerns classes with instances that exist outside the trace: the graph has its own copy of the state written.
    """
    names = _item_methods(op, attributes) if any(map(_may_be_container, operands)) else ()
    if any(map(_has_unknown_class, operands)):
        names = (*names, *_operand_methods(op, attributes))
    outer_classes = trace.outer_classes - trace.created_classes
    for kind in [kind for kind in trace.patched_classes if kind in outer_classes] if names else ():
        originals = map(trace.patched_classes[kind].get, names)
        methods = [method for method in originals if isinstance(method, FunctionType)]
        writing_method = next((method for method in methods if may_write(method, trace.outer_classes)), None)
        if writing_method is not None:
            raise StagingError(
                f"a value known only at run time may be {with_article(kind)}, whose {writing_method.__name__} writes "
                "to attributes or outer names, and Python itself calls it", current_place(),
                "a method with a name of its own",
            )  # fmt: skip


def _call_by_class(function: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Call an object by its class's `__call__`; return NotImplemented where no class defines one."""
    classes = classes_defining(function, ("__call__",))
    if not classes:
        return NotImplemented
    call_instance = lambda instance: convert_callback(instance)(*arguments, **keywords)
    refuse_call = functools.partial(record_without_hook, "object_apply", [function], function="refuse_call")
    return dispatch_on_class(function, classes, call_instance, refuse_call)


def _apply_operator(function: str, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
    """Apply an operator: the first operand's method, then the second's, then Python's own operation."""
    record_operation = lambda: record_without_hook("object_apply", operands, **attributes)
    reflected_method = _REFLECTED_METHODS.get(function)

    def apply_reflected() -> Any:
        """Apply the method of the second operand, or Python's own operation."""
        if reflected_method is None or len(operands) < 2:
            return record_operation()

        def call_reflected(instance: Any) -> Any:
            operand = operand_for_class(function, operands[0], type(instance))
            return _call_first_method(instance, (reflected_method,), (operand,), function, record_operation)

        return _dispatch_by_methods(operands[1], (reflected_method,), call_reflected, record_operation)

    def apply_to_first(instance: Any) -> Any:
        """Apply the method of the first operand, or go on to the second; return the result."""
        methods = _FORWARD_METHODS[function]
        try_forward = lambda: _call_first_method(instance, methods, operands[1:], function, apply_reflected)
        if reflected_method is None or len(operands) < 2:
            return try_forward()
        # The second operand's method goes first if its class is a subclass of the first's and overrides that method.
        overriding_classes = [
            class_
            for class_ in classes_defining(operands[1], (reflected_method,))
            if class_ is not type(instance) and issubclass(class_, type(instance))
            and getattr(class_, reflected_method) is not getattr(type(instance), reflected_method, None)
        ]  # fmt: skip
        call_override = lambda other: _call_first_method(other, (reflected_method,), (instance,), function, try_forward)
        return dispatch_on_class(operands[1], overriding_classes, call_override, try_forward)

    first_has_method = bool(classes_defining(operands[0], _FORWARD_METHODS[function]))
    defines_reflected = reflected_method and len(operands) > 1 and classes_defining(operands[1], (reflected_method,))
    if not first_has_method and not defines_reflected:
        return NotImplemented
    return _dispatch_by_methods(operands[0], _FORWARD_METHODS[function], apply_to_first, apply_reflected)


def _call_first_method(
    instance: Any, names: Sequence[str], arguments: Sequence[Any], function: str, otherwise: Callable[[], Any]
) -> Any:
    """Call the named methods in order until one does not return NotImplemented; return `otherwise()` if all do."""
    if not names:
        return otherwise()
    try_next = lambda: _call_first_method(instance, names[1:], arguments, function, otherwise)
    method = getattr(type(instance), names[0], None)
    if not isinstance(method, FunctionType):
        return try_next()
    result = unwrap_undecided_method(method)(instance, *arguments)
    if unwrap_undecided_method(method) is not method or result is NotImplemented:
        result = resolve_not_implemented(result, try_next)
    return _truth_or_bool(result) if function == "contains" else result


def apply_to_second_operand(function: str, instance: Any, other: object) -> Any:
    """Evaluate `instance <operator> other` after the method of the first operand returned NotImplemented."""
    record_operation = lambda: record_without_hook("object_apply", [instance, other], function=function, keywords=())
    reflected_method = _REFLECTED_METHODS[function]

    def call_reflected(other_instance: Any) -> Any:
        return _call_first_method(other_instance, (reflected_method,), (instance,), function, record_operation)

    return _dispatch_by_methods(other, (reflected_method,), call_reflected, record_operation)


def _truth_or_bool(value: object) -> Any:
    """Return the truth of a value: a tensor if the value is known only at run time, else a Python bool."""
    value = condition_value(value)
    return truth(value) if is_staged(value) else bool(value)


def _truth_value(instance: Any) -> Any:
    """Return the truth of an instance: True if its class has no method that decides it."""
    condition = condition_value(instance)
    return True if condition is instance else _truth_or_bool(condition)


def _length(instance: Any) -> Any:
    return convert_callback(len)(instance)


def _dispatch_by_methods(
    operand: Any, names: Sequence[str], call_method: Callable[[Any], Any], otherwise: Callable[[], Any]
) -> Any:
    """Return `call_method(instance)` in an arm for each class that has one of the methods, else `otherwise()`."""
    return dispatch_on_class(operand, classes_defining(operand, names), call_method, otherwise)


def _may_have_effects(trace: Any, kind: type, name: str) -> bool:
    """Return whether a class has a special method, as defined outside the trace, that may do more than read."""
    for base in kind.__mro__:
        method = {**vars(base), **trace.patched_classes.get(base, {})}.get(name, MISSING)
        if method is not MISSING:
            return is_user_defined(method) and not only_reads(method)
    return False


def _is_user_iterable(operand: object) -> bool:
    """Return whether the operand is known to be an instance of a user-defined iterable class."""
    return graph_object(operand) is not None and is_user_defined(getattr(type(operand), "__iter__", None))


def _as_items(operand: Any, calls_item_methods: bool) -> Any:
    """Return the items of a user-defined iterable as a list, other operands unchanged.

    With `calls_item_methods`, the operation calls methods of the items. These must then not be instances of
    user-defined classes.
    """
    if _is_user_iterable(operand):
        return _items_of(operand, calls_item_methods)
    take_items = lambda instance: _items_of(instance, calls_item_methods)
    return dispatch_on_class(operand, classes_defining(operand, ("__iter__",)), take_items, lambda: operand)


def _items_of(instance: Any, calls_item_methods: bool) -> Any:
    """Return the items of an instance as a graph list; raise StagingError if they may change during the loop."""
    iterator = iter(instance)
    if type(iterator) is not type(iter(())):
        raise StagingError(
            f"{with_article(type(instance))} known only at run time is iterated, and the object that its __iter__ "
            "returns may change during the loop", current_place(), "an __iter__ that gives iter(a tuple)",
        )  # fmt: skip
    items = list(iterator)
    if calls_item_methods and any(map(may_be_graph_instance, items)):
        message = f"{with_article(type(instance))} is iterated whose items are objects of the same class"
        raise StagingError(message, current_place())
    return box(items)


def _item_class_with_effects(trace: Any, name: str, operands: Sequence[Any]) -> type | None:
    """Return a class of items with special methods that do more than read and that Python may call, or None."""
    method_names = _ITEM_METHODS.get(name)
    pairs = ((kind, method_name) for kind in trace.created_classes for method_name in method_names or ())
    kind = next((kind for kind, method_name in pairs if _may_have_effects(trace, kind, method_name)), None)
    if kind is None:
        return None
    may_hold_instances = ITEMS in trace.holders_of_objects and any(map(_may_be_container, operands))
    searches_instance = name in _SEARCH_FUNCTIONS and any(map(may_be_graph_instance, operands[1:]))
    return kind if may_hold_instances or searches_instance else None


def _may_be_container(operand: object) -> bool:
    """Return whether an operand may be a list, tuple, dict or set, whose items Python would compare or add."""
    if type(operand) is SymbolicObject:
        return operand.value_in_graph.type.kind in _CONTAINER_KINDS  # type: ignore[union-attr]
    return isinstance(operand, (list, tuple, dict, set))


symbolic_objects.register_operation_hook(operation_by_class)
