"""Lists, and dicts, sets and views as lists of what they yield, as `sum`, `sorted` and other functions read them."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import Kinds
from autoconv.optimise.unboxing.kinds import DICTS, OTHER, RETURNED, ROW, SET, DictPart, Kind
from autoconv.optimise.unboxing.writer import Writer

_PART_POSITIONS = {"keys": 0, "values": 1}  # of what views yield, in an entry


def is_traversable(kind: Kind) -> bool:
    """Return whether the kind is that of a list, dict, set or view."""
    return not kind.is_iterator if isinstance(kind, DictPart) else kind in RETURNED


def _yielded_position(kind: Kind) -> int | None:
    """Return the position in an entry of what the dict, view or iterator yields; None for the whole entry."""
    return _PART_POSITIONS.get(kind.part) if isinstance(kind, DictPart) else 0 if kind in DICTS else None


def yielded_kind(kinds: Kinds, value: Value) -> Kind:
    """Return the kind of what an iteration over a list, dict, set or view yields."""
    kind, position = entry_kind(kinds, value), _yielded_position(kinds.kind(value))
    if position is None or not isinstance(kind, TupleType):
        has_lists = isinstance(kinds.kind(value), DictPart) and kinds.list_values(value) is not None
        return OTHER if has_lists else kind
    result: Kind = kind.items[position]  # type: ignore[assignment]
    return OTHER if result == ROW else result


def traversed_list(writer: Writer, node: Node, value: Value) -> Value:
    """Return a typed list of what an iteration over the list, dict, set or view yields, new or already there."""
    kind, entries = writer.kinds.kind(value), writer.dense_entries(node, value)
    element = entry_kind(writer.kinds, value)
    if kind == SET:
        return writer.add("typed_dict_keys_of_set", node, *writer.replacements(value), element=element)
    position = _yielded_position(kind)
    if position is None:
        return entries
    return writer.add("typed_list_column", node, entries, element=element, position=position)


def write_reduction(writer: Writer, node: Node) -> list[Value]:
    """Write `sum`, `min`, `max`, `any` or `all` of what a list, dict, set or view yields."""
    (value,) = node.inputs
    list_, element = traversed_list(writer, node, value), yielded_kind(writer.kinds, value)
    return writer.add_all("typed_list_reduce", node, list_, function=node.attributes["function"], element=element)
