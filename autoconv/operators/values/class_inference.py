"""Class inference: the user-defined classes that a graph object may have, derived from its origin.

A trace assumes optimistically that attributes of one name, items of containers, and names carried between regions
hold no such objects. When it records a store that violates an assumption it has used, it restarts with that fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType
from autoconv.operators.support.narrowed_classes import install_class_lookup, origin
from autoconv.operators.values.instances import is_user_defined
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box, graph_object
from autoconv.runtime.recording.regions import Region, Trace, current_region

# Keys of what may hold objects, besides names of attributes: the items of all containers, and the names of variables
# that carry objects between regions.
ITEMS, NAMES = "[]", "()"
# Methods and operators that store operands, all but the first, in a container.
_STORING_FUNCTIONS = frozenset({"append", "appendleft", "insert", "add", "setdefault", "update", "extend", "setitem"})
# Operators and builtins that may return one of their items; the others return new objects.
_ITEM_RETURNING_FUNCTIONS = frozenset({"getitem", "min", "max", "next", "sum", "last"})
_ALLOCATING_OPS = frozenset({"object_box", "object_build", "object_exception", "absent"})
# Ops whose result may be an item of a container.
_ITEM_OPS = frozenset({"object_current", "object_unpack", "object_method"})
# Methods of containers that return one of the items; the others return numbers, None or new objects.
_ITEM_RETURNING_METHODS = frozenset({"pop", "popleft", "get", "setdefault"})


def kinds_of(operand: Any, names: Sequence[str]) -> list[type]:
    """Return the user-defined classes that an operand may have and that define one of these special methods.

    Subclasses come first. The list is empty for an operand that is no graph object.
    """
    region = current_region()
    if type(operand) is not SymbolicObject or region is None:
        return []
    classes = region.trace.created_classes
    kinds = [kind for kind in classes if any(is_user_defined(getattr(kind, name, None)) for name in names)]
    kinds = _possible_classes(operand.value_in_graph, kinds, region) if kinds else []
    return sorted(kinds, key=lambda kind: (-len(kind.__mro__), kind.__qualname__))


def may_call_unseen_method(op: str, operands: Sequence[Any]) -> bool:
    """Return whether the operation may call a method of a class that has no instance in the graph yet."""
    ops_without_calls = (
        "object_get_attribute", "object_set_attribute", "object_isinstance", "object_build", "object_make", "name",
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

    `op` is "name" for variables that carry the operands between regions; `name` is the function or method that is
    called. The stored values in `operands` are boxed in place.
    """
    if op in ("object_build", "object_exception", "object_make", "name"):
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
    for holder in holders - trace.attributes_holding_objects:
        trace.attributes_holding_objects.add(holder)
        if holder in trace.attributes_assumed_without_objects:
            trace.contract.restart("holder", holder)


def _holder(op: str, position: int, attributes: dict[str, Any]) -> str:
    """Return the key of what holds the operand at that position after the op."""
    if op == "object_make":
        return str(attributes["names"][position])
    if op == "object_set_attribute":
        return str(attributes["name"])
    return NAMES if op == "name" else ITEMS


def _possible_classes(value: Value, kinds: list[type], region: Region) -> list[type]:
    """Return those of the classes that the value may have."""
    known_kind = value.type.kind if isinstance(value.type, ObjectType) else "any"
    if known_kind != "any":
        kinds = [kind for kind in kinds if any(base.__name__ == known_kind for base in kind.__mro__[:-1])]
    origin_value = origin(value, region)
    if not kinds or not _may_be_instance(origin_value, region.trace):
        return []
    enclosing_region: Region | None = region
    while enclosing_region is not None:
        for tested_value, classes, is_instance in enclosing_region.known_classes:
            if tested_value is origin_value:
                kinds = [kind for kind in kinds if issubclass(kind, classes) == is_instance]
        enclosing_region = enclosing_region.parent
    classes_before, possible_classes = region.trace.classes_of_results.get(origin_value, (frozenset(), frozenset()))
    return [kind for kind in kinds if kind not in classes_before or kind in possible_classes]


def _may_be_instance(value: Value, trace: Trace) -> bool:
    """Return whether, by its type and defining node, the value may be an instance of a user-defined class."""
    if not isinstance(value.type, ObjectType):
        return False
    if value.type.kind != "any":
        return any(value.type.kind == base.__name__ for kind in trace.created_classes for base in kind.__mro__[:-1])
    node = value.node
    if node is None:
        return value in trace.root.graph.parameters or _may_hold_instances(trace, NAMES)
    op = node.op.name
    if op == "object_get_attribute":
        name = node.attributes["name"]
        if _may_hold_instances(trace, name):
            return True
        return any(not _is_plain_attribute(getattr(kind, name, None)) for kind in trace.created_classes)
    if op == "object_apply":
        if node.attributes["function"] not in _ITEM_RETURNING_FUNCTIONS:
            return False
        return _may_hold_instances(trace, ITEMS) or _is_handler_value(node.inputs[0], trace)
    if op in _ITEM_OPS:
        if op == "object_method" and node.attributes["name"] not in _ITEM_RETURNING_METHODS:
            return False
        return _may_hold_instances(trace, ITEMS) or _is_handler_value(value, trace)
    if op == "object_defined":
        return _may_be_instance(node.inputs[0], trace)
    if op == "cond":
        position = node.results.index(value)
        return any(_may_be_instance(output, trace) for output in _arm_outputs(node, position))
    if op in ("while", "try"):
        return _may_hold_instances(trace, NAMES)
    return op not in _ALLOCATING_OPS


def _is_handler_value(value: Value, trace: Trace) -> bool:
    """Return whether the value may be read from the dict of names that a try keeps for its handlers."""
    node = value.node
    is_item = node is not None and node.op.name == "object_method" and node.attributes["name"] == "get"
    return is_item and _may_hold_instances(trace, NAMES)


def _is_plain_attribute(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str)) or hasattr(value, "__autoconv_maybe_missing__")


def _arm_outputs(node: Any, position: int) -> Iterator[Value]:
    for graph in node.regions:
        if position < len(graph.outputs):
            yield graph.outputs[position]


def _may_hold_instances(trace: Trace, name: str) -> bool:
    """Return whether attributes of that name, ITEMS or NAMES may hold instances; the trace relies on the answer."""
    if name == ITEMS and any(isinstance(parameter.type, ObjectType) for parameter in trace.root.graph.parameters):
        return True  # an object argument may hold anything
    trace.attributes_assumed_without_objects.add(name)
    return name in trace.attributes_holding_objects


install_class_lookup(lambda value, region: _possible_classes(value, list(region.trace.created_classes), region))
