"""Class inference: the user-defined classes that a graph object may have, derived from its origin.

A holder is all attributes of one name, the items of all containers, or the variables that are carried between regions.
A trace assumes of each holder that it holds no such objects. If it has used the assumption and then records a store
that contradicts it, it restarts and assumes the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType
from autoconv.operators.support.narrowing import install_class_lookup, origin
from autoconv.operators.values.instances import is_user_defined
from autoconv.runtime.objects.symbolic_objects import CARRIED, SymbolicObject, box, graph_object
from autoconv.runtime.recording.regions import Region, Trace, current_region

# Keys of the holders that are no names of attributes: the items of all containers, and the variables that are carried.
ITEMS, VARIABLES = "[]", "()"
# Methods and operators that store operands, all but the first, in a container.
_STORING_FUNCTIONS = frozenset({"append", "appendleft", "insert", "add", "setdefault", "update", "extend", "setitem"})
# Operators and builtins that may return one of their items; the others return new objects.
_ITEM_RETURNING_FUNCTIONS = frozenset({"getitem", "min", "max", "next", "sum", "last"})
_ALLOCATING_OPS = frozenset({"object_box", "object_build", "object_exception", "absent"})
# Ops whose result may be an item of a container.
_ITEM_OPS = frozenset({"object_current", "object_unpack", "object_method"})
# Methods of containers that return one of the items; the others return numbers, None or new objects.
_ITEM_RETURNING_METHODS = frozenset({"pop", "popleft", "get", "setdefault"})


def classes_defining(operand: Any, methods: Sequence[str]) -> list[type]:
    """Return the user-defined classes that an operand may have and that define one of these special methods.

    Subclasses come first. The list is empty for an operand that is no graph object.
    """
    region = current_region()
    if type(operand) is not SymbolicObject or region is None:
        return []
    created_classes = region.trace.created_classes
    classes = [class_ for class_ in created_classes if any(is_user_defined(getattr(class_, x, None)) for x in methods)]
    possible_classes = _possible_classes(operand.value_in_graph, classes, region) if classes else []
    return sorted(possible_classes, key=lambda class_: (-len(class_.__mro__), class_.__qualname__))


def may_call_unseen_method(op: str, operands: Sequence[Any]) -> bool:
    """Return whether the operation may call a method of a class that has no instance in the graph yet."""
    ops_without_calls = (
        "object_get_attribute", "object_set_attribute", "object_isinstance", "object_build", "object_make", CARRIED,
    )  # fmt: skip
    if op in ops_without_calls:
        return False
    return any(type(x) is SymbolicObject and x.value_in_graph.type == ObjectType() for x in operands)


def may_be_graph_instance(operand: object) -> bool:
    """Return whether the value may be an instance of a user-defined class in the graph."""
    region = current_region()
    if type(operand) is not SymbolicObject or region is None:
        return graph_object(operand) is not None
    return bool(_possible_classes(operand.value_in_graph, list(region.trace.created_classes), region))


def record_stores(trace: Trace, op: str, name: str, operands: list[Any], attributes: dict[str, Any]) -> None:
    """Register where objects of user-defined classes are stored; restart the trace if it assumed that none are.

    `op` is CARRIED where the operands are variables that are carried between regions. `name` is the function or method
    that is called. The stored values in `operands` are boxed in place.
    """
    if op in ("object_build", "object_exception", "object_make", CARRIED):
        first_stored_position = 0
    elif op == "object_set_attribute" or name in _STORING_FUNCTIONS:
        first_stored_position = 1
    else:
        return
    for position in range(first_stored_position, len(operands)):
        operands[position] = box(operands[position])
    holders: set[str] = set()
    for position in range(first_stored_position, len(operands)):
        if may_be_graph_instance(operands[position]):
            holders.add(_holder(op, position, attributes))
    for holder in holders - trace.holders_of_objects:
        trace.holders_of_objects.add(holder)
        if holder in trace.holders_assumed_without_objects:
            trace.contract.restart("holder", holder)


def _holder(op: str, position: int, attributes: dict[str, Any]) -> str:
    """Return the key of the holder that the op stores the operand at that position into."""
    if op == "object_make":
        return str(attributes["names"][position])
    if op == "object_set_attribute":
        return str(attributes["name"])
    return VARIABLES if op == CARRIED else ITEMS


def _possible_classes(value: Value, classes: list[type], region: Region) -> list[type]:
    """Return those of the classes that the value may have."""
    class_name = value.type.kind if isinstance(value.type, ObjectType) else "any"
    if class_name != "any":
        classes = [class_ for class_ in classes if _has_base(class_, class_name)]
    origin_value = origin(value, region)
    if not classes or not _may_be_instance(origin_value, region.trace):
        return []
    enclosing_region: Region | None = region
    while enclosing_region is not None:
        for tested_value, tested_classes, is_instance in enclosing_region.known_classes:
            if tested_value is origin_value:
                classes = [class_ for class_ in classes if issubclass(class_, tested_classes) == is_instance]
        enclosing_region = enclosing_region.parent
    classes_before, possible_classes = region.trace.classes_of_results.get(origin_value, (frozenset(), frozenset()))
    return [class_ for class_ in classes if class_ not in classes_before or class_ in possible_classes]


def _has_base(class_: type, name: str) -> bool:
    """Return whether the class or one of its bases has this name."""
    return any(base.__name__ == name for base in class_.__mro__[:-1])


def _may_be_instance(value: Value, trace: Trace) -> bool:
    """Return whether, by its type and defining node, the value may be an instance of a user-defined class."""
    if not isinstance(value.type, ObjectType):
        return False
    if value.type.kind != "any":
        return any(_has_base(class_, value.type.kind) for class_ in trace.created_classes)
    node = value.node
    if node is None:
        return value in trace.root.graph.parameters or _may_hold_instances(trace, VARIABLES)
    op = node.op.name
    if op == "object_get_attribute":
        name = node.attributes["name"]
        if _may_hold_instances(trace, name):
            return True
        return any(_may_give_instance(getattr(class_, name, None)) for class_ in trace.created_classes)
    if op == "object_apply":
        if node.attributes["function"] not in _ITEM_RETURNING_FUNCTIONS:
            return False
        return _may_hold_instances(trace, ITEMS) or _is_handler_value(node.inputs[0], trace)
    if op in _ITEM_OPS:
        if op == "object_method" and node.attributes["name"] not in _ITEM_RETURNING_METHODS:
            return False
        return _may_hold_instances(trace, ITEMS) or _is_handler_value(value, trace)
    if op == "object_check_assigned":
        return _may_be_instance(node.inputs[0], trace)
    if op == "cond":
        position = node.results.index(value)
        return any(_may_be_instance(output, trace) for output in _arm_outputs(node, position))
    if op in ("while", "try"):
        return _may_hold_instances(trace, VARIABLES)
    return op not in _ALLOCATING_OPS


def _is_handler_value(value: Value, trace: Trace) -> bool:
    """Return whether the value may be read from the dict in which a try keeps variables for its handlers."""
    node = value.node
    is_item = node is not None and node.op.name == "object_method" and node.attributes["name"] == "get"
    return is_item and _may_hold_instances(trace, VARIABLES)


def _may_give_instance(class_attribute: object) -> bool:
    """Return whether an attribute of a class may be, or compute, an instance of a user-defined class."""
    is_constant = class_attribute is None or isinstance(class_attribute, (bool, int, float, str))
    return not is_constant and not hasattr(class_attribute, "__autoconv_maybe_missing__")


def _arm_outputs(node: Any, position: int) -> Iterator[Value]:
    for graph in node.regions:
        if position < len(graph.outputs):
            yield graph.outputs[position]


def _may_hold_instances(trace: Trace, holder: str) -> bool:
    """Return whether a holder may hold instances of user-defined classes; the trace relies on the answer."""
    if holder == ITEMS and any(isinstance(parameter.type, ObjectType) for parameter in trace.root.graph.parameters):
        return True  # an object argument may hold anything
    trace.holders_assumed_without_objects.add(holder)
    return holder in trace.holders_of_objects


install_class_lookup(lambda value, region: _possible_classes(value, list(region.trace.created_classes), region))
