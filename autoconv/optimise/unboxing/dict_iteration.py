"""Rules for iterations over dicts, sets and views of dicts.

    before   %iterator = object_iterate(%seen): object<iterator>
             %more = object_advance(%iterator): weak bool[]
    after    %cursor = typed_list_cursor(%zero, element=tuple<weak int64[], weak float64[]>): object<cursor>
             %size = typed_list_length(%entries, element=tuple<weak int64[], weak float64[]>): weak int64[]
             typed_dict_check_size(%entries, %index, %size, element=…, has_values=True): ()
             %more = typed_list_advance(%entries, %cursor, element=…): weak bool[]
"""

from __future__ import annotations

import numpy as np

from autoconv.graph.graph import Node, Value
from autoconv.ops import OPS
from autoconv.ops.lists.item_layout import fields
from autoconv.optimise.unboxing.dicts import add_dict_op, attributes_of, dict_length
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import Kinds, dict_rule
from autoconv.optimise.unboxing.kinds import DICTS, OTHER, SET, DictPart
from autoconv.optimise.unboxing.traversal import traversed_list, yielded_kind
from autoconv.optimise.unboxing.whole_lists import set_result_kind
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule


@dict_rule("object_method.items", "object_method.keys", "object_method.values")
def _view_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for views of dicts, which show their content at the time of each use."""
    kind = kinds.kind(node.inputs[0])
    if kind not in DICTS:
        return None if kind is None else False
    view = DictPart(node.attributes["name"], is_iterator=False)
    kinds.mark_derived_from_list(node.results[0], view, kinds.alias_class(node.inputs[0]))
    return kinds.kind(node.results[0]) == view


@dict_rewrite_rule("object_method.items", "object_method.keys", "object_method.values")
def _write_view(writer: Writer, node: Node) -> list[Value]:
    return [*writer.replacements(node.inputs[0])]


@dict_rule("object_iterate")
def _iteration_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether the node is the start of an iteration over a dict, set or view; mark its result."""
    (value,) = node.inputs
    kind = kinds.kind(value)
    if node.attributes.get("start") or (isinstance(kind, DictPart) and kind.is_iterator):
        return False
    is_view = isinstance(kind, DictPart)
    iterator = DictPart(kind.part if is_view else "keys" if kind in DICTS else "set", is_iterator=True)  # type: ignore
    kinds.mark_derived_from_list(
        node.results[0], iterator, kinds.content(value) if is_view else kinds.alias_class(value)
    )
    return kinds.kind(node.results[0]) == iterator


@dict_rewrite_rule("object_iterate")
def _write_iteration(writer: Writer, node: Node) -> list[Value]:
    """Write the start of an iteration, over a copy of a set's keys in its order."""
    (value,) = node.inputs
    is_set = writer.kinds.kind(value) == SET
    entries = writer.dense_entries(node, value)
    traversed = traversed_list(writer, node, value) if is_set else entries
    start = writer.add("constant", node, value=np.array(0), weak=True)
    cursor = writer.add("typed_list_cursor", node, start, element=entry_kind(writer.kinds, value))
    removals = add_dict_op(writer, "removals", node, value) if writer.kinds.removal_nodes else [start]
    _, index, *lists = writer.replacements(value)
    return [entries, index, traversed, cursor, dict_length(writer, node, value), *removals, *lists]


@dict_rule("object_advance")
def _step_rule(kinds: Kinds, node: Node) -> bool:
    kind = kinds.kind(node.inputs[0])
    return isinstance(kind, DictPart) and kind.is_iterator


@dict_rewrite_rule("object_advance")
def _write_step(writer: Writer, node: Node) -> list[Value]:
    """Write a step of an iteration, which raises if entries were added or removed."""
    (value,) = node.inputs
    entries, index, traversed, cursor, size, removals, *_ = writer.replacements(value)
    attributes = attributes_of(writer, value)
    operands = (entries, index, size, *[removals][: bool(writer.kinds.removal_nodes)])
    writer.graph.add_replacement(node, OPS["typed_dict_check_size"], operands, attributes)
    return [writer.add("typed_list_advance", node, traversed, cursor, element=attributes["element"])]


@dict_rule("object_current")
def _current_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for what an iterator yields."""
    kind, yielded = kinds.kind(node.inputs[0]), yielded_kind(kinds, node.inputs[0])
    if not isinstance(kind, DictPart) or not kind.is_iterator or yielded == OTHER:
        return False
    return None if yielded is None else set_result_kind(kinds, node, yielded)


@dict_rewrite_rule("object_current")
def _write_current(writer: Writer, node: Node) -> list[Value]:
    """Write the numbers of what an iterator yields."""
    (value,) = node.inputs
    entry, yielded = entry_kind(writer.kinds, value), yielded_kind(writer.kinds, value)
    cursor = writer.replacements(value)[3]
    numbers = writer.add_all("typed_list_current", node, cursor, element=entry)
    width = len(fields(yielded))  # type: ignore[arg-type]
    return numbers[-width:] if writer.kinds.kind(value).part == "values" else numbers[:width]  # type: ignore[union-attr]
