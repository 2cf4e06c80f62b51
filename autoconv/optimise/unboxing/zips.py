"""Rules for `zip` of lists of numbers or tuples.

A zip is replaced by the lists, and an iterator over it by a list and a cursor for each of them. As in Python, an
iteration sees changes of the lists that are made meanwhile.
"""

from __future__ import annotations

import numpy as np

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.optimise.unboxing.alias_classes import find_root
from autoconv.optimise.unboxing.kind_inference import Kinds, rule, zip_rule
from autoconv.optimise.unboxing.kinds import LIST, Kind, Zip, is_python_number
from autoconv.optimise.unboxing.whole_lists import set_result_kind
from autoconv.optimise.unboxing.writer import Writer, rewrite_rule, zip_rewrite_rule


def _zip_kind(kinds: Kinds, node: Node) -> Zip:
    """Return the kind of the first operand."""
    kind = kinds.kind(node.inputs[0])
    assert isinstance(kind, Zip)
    return kind


def _item_kinds(kind: Zip) -> list[Kind]:
    """Return the kinds of the items of the zipped lists."""
    contents = [find_root(each).content for each in kind.list_classes]
    return [None if content is None else find_root(content).kind for content in contents]


@rule("object_apply.zip")
def _make_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for a zip, which keeps the kind that it got first: the lists' alias classes may be joined later."""
    input_kinds = [kinds.kind_or_number_type(value) for value in node.inputs]
    if not input_kinds or node.attributes["keywords"] or any(kind not in (LIST, None) for kind in input_kinds):
        return False
    if None in input_kinds:
        return None
    if kinds.kind(node.results[0]) is None:
        kinds.widen_kind_of(node.results[0], Zip(tuple(map(kinds.alias_class, node.inputs)), is_iterator=False))
    return isinstance(kinds.kind(node.results[0]), Zip)


@rewrite_rule("object_apply.zip")
def _write_make(writer: Writer, node: Node) -> list[Value]:
    return [writer.typed_list(value) for value in node.inputs]


@zip_rule("object_iterate")
def _iterate_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether the node is the start of an iteration over a zip; mark its result."""
    kind = _zip_kind(kinds, node)
    if node.attributes.get("start") or kind.is_iterator:
        return False
    kinds.widen_kind_of(node.results[0], kind._replace(is_iterator=True))
    return isinstance(kinds.kind(node.results[0]), Zip)


@zip_rewrite_rule("object_iterate")
def _write_iterate(writer: Writer, node: Node) -> list[Value]:
    """Write a cursor for each list."""
    start = writer.add("constant", node, value=np.array(0), weak=True)
    lists, elements = writer.replacements(node.inputs[0]), _item_kinds(_zip_kind(writer.kinds, node))
    cursors = [writer.add("typed_list_cursor", node, start, element=element) for element in elements]
    return [value for pair in zip(lists, cursors, strict=True) for value in pair]


@zip_rule("object_advance")
def _advance_rule(kinds: Kinds, node: Node) -> bool:
    return _zip_kind(kinds, node).is_iterator


@zip_rewrite_rule("object_advance")
def _write_advance(writer: Writer, node: Node) -> list[Value]:
    """Write a step of all cursors; the iteration ends with the shortest list."""
    values = writer.replacements(node.inputs[0])
    pairs = zip(values[::2], values[1::2], _item_kinds(_zip_kind(writer.kinds, node)), strict=True)
    has_items, *further = [writer.add("typed_list_advance", node, *pair, element=element) for *pair, element in pairs]
    for has_item in further:
        has_items = writer.add("logical_and", node, has_items, has_item)
    return [has_items]


@zip_rule("object_current")
def _current_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the tuple of the lists' current items."""
    kind = _zip_kind(kinds, node)
    item_kinds = _item_kinds(kind)
    if not kind.is_iterator or not all(each is None or _is_part(each) for each in item_kinds):
        return False
    return None if None in item_kinds else set_result_kind(kinds, node, TupleType(tuple(item_kinds)))  # type: ignore


def _is_part(kind: Kind) -> bool:
    """Return whether items of the kind can be in a tuple."""
    return isinstance(kind, TupleType) or is_python_number(kind)


@zip_rewrite_rule("object_current")
def _write_current(writer: Writer, node: Node) -> list[Value]:
    """Write the numbers of the current items."""
    cursors, elements = writer.replacements(node.inputs[0])[1::2], _item_kinds(_zip_kind(writer.kinds, node))
    return [
        number for cursor, element in zip(cursors, elements, strict=True)
        for number in writer.add_all("typed_list_current", node, cursor, element=element)
    ]  # fmt: skip
