"""Of which classes of the user's an object of the graph may be: what is known of where it comes from.

A trace takes for granted that attributes of one name, items of lists, and names that hold anything, hold no such
objects, until it sees one stored there; where it went by that before, it begins anew with what it learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoconv.graph.graph import Value
from autoconv.graph.types import ObjectType
from autoconv.operators.instances import is_written
from autoconv.operators.known_classes import classes_by, origin
from autoconv.runtime.objects import SymbolicObject, box, heap_instance
from autoconv.runtime.recording import Region, Trace, current_region

# Among the names of attributes, what stands for the items of all lists, dicts and sets, and for names that hold an
# object of any class from one region to the next.
ITEMS, NAMES = "[]", "()"
_STORES = frozenset({"append", "appendleft", "insert", "add", "setdefault", "update", "extend", "setitem"})
# What of the operators and builtins may give one of the items that it is given; the others make something new.
_PICKING = frozenset({"getitem", "min", "max", "next", "sum", "last"})
_NEW = frozenset({"object_box", "object_build", "object_exception", "absent"})
_FOR_ALL_CLASSES = frozenset(
    {"object_get_attribute", "object_set_attribute", "object_isinstance", "object_build", "object_make", "name"}
)
_OF_ITEMS = frozenset({"object_current", "object_unpack", "object_method"})
# Methods of lists, dicts and the like that give one of the items; the others give numbers, None, or something new.
_PICKING_METHODS = frozenset({"pop", "popleft", "get", "setdefault"})


def kinds_of(operand: Any, names: Sequence[str]) -> list[type]:
    """The classes with one of these special methods that an operand may be of; none for what is no object of the
    graph. What inherits comes first."""
    region = current_region()
    if type(operand) is not SymbolicObject or region is None:
        return []
    kinds = [kind for kind in region.trace.made if any(is_written(getattr(kind, name, None)) for name in names)]
    kinds = _possible(operand.value_in_graph, kinds, region) if kinds else []
    return sorted(kinds, key=lambda kind: (-len(kind.__mro__), kind.__qualname__))


def is_asked(op: str, operands: Sequence[Any]) -> bool:
    """Whether an operation may be one for a method of a class of which there is no object in the graph yet."""
    if op in (
        "object_get_attribute",
        "object_set_attribute",
        "object_isinstance",
        "object_build",
        "object_make",
        "name",
    ):
        return False
    return any(type(x) is SymbolicObject and x.value_in_graph.type == ObjectType() for x in operands)


def may_be_made(operand: Any) -> bool:
    """Whether something may be an object of the user's that is in the graph."""
    region = current_region()
    if type(operand) is not SymbolicObject or region is None:
        return heap_instance(operand) is not None
    return bool(_possible(operand.value_in_graph, list(region.trace.made), region))


def note_stored(trace: Trace, op: str, name: str, operands: list[Any], attributes: dict[str, Any]) -> None:
    """Keeps in mind where objects of the user's classes are put; they are boxed, in `operands`. The trace begins anew
    where it went by there being none."""
    if op in ("object_build", "object_exception", "object_make", "name"):
        first = 0
    elif op == "object_set_attribute" or name in _STORES:
        first = 1
    else:
        return
    for position in range(first, len(operands)):
        operands[position] = box(operands[position])
    found: set[str] = set()
    for position in range(first, len(operands)):
        if may_be_made(operands[position]):
            found.add(_holder(op, position, attributes))
    for holder in found - trace.holders:
        trace.holders.add(holder)
        if holder in trace.relied and trace.begin_again is not None:
            trace.begin_again("holder", holder)


def _holder(op: str, position: int, attributes: dict[str, Any]) -> str:
    if op == "object_make":
        return str(attributes["names"][position])
    if op == "object_set_attribute":
        return str(attributes["name"])
    return NAMES if op == "name" else ITEMS


def _possible(value: Value, kinds: list[type], region: Region) -> list[type]:
    """Those of the classes that the value may be of."""
    known = value.type.kind if isinstance(value.type, ObjectType) else "any"
    if known != "any":
        kinds = [kind for kind in kinds if any(base.__name__ == known for base in kind.__mro__[:-1])]
    first = origin(value, region)
    if not kinds or not _comes_from_where_they_are(first, region.trace):
        return []
    around: Region | None = region
    while around is not None:
        for asked, classes, holds in around.known_classes:
            if asked is first:
                kinds = [kind for kind in kinds if issubclass(kind, classes) == holds]
        around = around.parent
    known_then, given = region.trace.classes_of_results.get(first, (frozenset(), frozenset()))
    return [kind for kind in kinds if kind not in known_then or kind in given]


def _comes_from_where_they_are(value: Value, trace: Trace) -> bool:
    """Whether a value may be an object of the user's, by its type and the node that gave it."""
    if not isinstance(value.type, ObjectType):
        return False
    if value.type.kind != "any":
        return any(value.type.kind == base.__name__ for kind in trace.made for base in kind.__mro__[:-1])
    node = value.node
    if node is None:
        return value in trace.root.graph.parameters or _is_holder(trace, NAMES)
    op = node.op.name
    if op == "object_get_attribute":
        name = node.attributes["name"]
        return _is_holder(trace, name) or any(not _is_plain(getattr(kind, name, None)) for kind in trace.made)
    if op == "object_apply":
        return node.attributes["function"] in _PICKING and (_is_holder(trace, ITEMS) or _is_kept(node.inputs[0], trace))
    if op in _OF_ITEMS:
        if op == "object_method" and node.attributes["name"] not in _PICKING_METHODS:
            return False
        return _is_holder(trace, ITEMS) or _is_kept(value, trace)
    if op == "object_defined":
        return _comes_from_where_they_are(node.inputs[0], trace)
    if op == "cond":
        position = node.results.index(value)
        return any(_comes_from_where_they_are(out, trace) for out in _outputs(node, position))
    if op in ("while", "try"):
        return _is_holder(trace, NAMES)
    return op not in _NEW


def _is_kept(value: Value, trace: Trace) -> bool:
    """Whether a value may be from the dict in which a try keeps its names, and one of them may be such an object."""
    node = value.node
    kept = node is not None and node.op.name == "object_method" and node.attributes["name"] == "get"
    return kept and _is_holder(trace, NAMES)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str)) or hasattr(value, "__autoconv_maybe_missing__")


def _outputs(node: Any, position: int) -> Iterator[Value]:
    for graph in node.regions:
        if position < len(graph.outputs):
            yield graph.outputs[position]


def _is_holder(trace: Trace, name: str) -> bool:
    if name == ITEMS and any(isinstance(given.type, ObjectType) for given in trace.root.graph.parameters):
        return True  # what came in as a whole may hold anything
    trace.relied.add(name)
    return name in trace.holders


classes_by(lambda value, region: _possible(value, list(region.trace.made), region))

__all__ = ["ITEMS", "is_asked", "kinds_of", "may_be_made", "note_stored"]
