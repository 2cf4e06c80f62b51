"""Rules for dicts whose values are lists of numbers or tuples.

    before   %groups = object_apply(%list, function='collections.defaultdict', keywords=()): object<any>
             %group = object_apply(%groups, %key, function='getitem', keywords=()): object<any>
    after    %entries = typed_list_make(element=tuple<weak int64[], int64[]>): object<numbers>
             %index = typed_dict_index(): object<numbers>
             %lists = object_build(class_name='list'): object<list>
             %group = typed_dict_list(%entries, %index, %lists, %key, …, inserts=True): object<numbers>

The value of an entry is the position of its list in a Python list of typed lists.
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.ops import OPS
from autoconv.ops.lists.typed_lists import NUMBERS
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing import (  # noqa: F401 (register the shared rules)
    dict_iteration,
    dict_removals,
    numbers,
    sorts,
)
from autoconv.optimise.unboxing.dicts import add_entry, attributes_of, key_matches
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import DICT_RULES, LIST_VALUE_RULES, Kinds, register_in
from autoconv.optimise.unboxing.kinds import DICTS, ENTRY, LIST, LIST_DICT, ROW, DictPart
from autoconv.optimise.unboxing.whole_lists import set_result_kind
from autoconv.optimise.unboxing.writer import Writer, list_value_rewrite_rule, share_rewrite_rules

# The rules of dicts of numbers serve these: they read no values, or store them by `write_store`.
_SHARED_KEYS = (
    "object_apply.setitem", "object_apply.contains", "object_length", "object_truth", "object_check_assigned",
    "object_method.items", "object_method.keys", "object_method.values", "object_iterate", "object_advance",
    "object_apply.delitem", "object_method.clear", "object_apply.list", "object_apply.sorted", "object_apply.sum",
    "object_apply.min", "object_apply.max",
)  # fmt: skip
LIST_VALUE_RULES.update({key: DICT_RULES[key] for key in _SHARED_KEYS})
share_rewrite_rules(*_SHARED_KEYS)


def _set_list_result(kinds: Kinds, node: Node, result: Value) -> bool:
    """Note that the result is one of the lists of the first operand; return True, as a rule that supports the node."""
    lists = kinds.list_values(node.inputs[0])
    assert lists is not None
    kinds.unify(kinds.alias_class(result), lists)
    return True


def _write_list(writer: Writer, node: Node, *defaults: Value, inserts: bool) -> list[Value]:
    """Write the read of the list of a key, with or without a list for a missing one."""
    value, key = node.inputs[:2]
    entries, index, *_, lists = writer.replacements(value)
    inputs = [entries, index, lists, *writer.replacements(key), *defaults]
    attributes = {**attributes_of(writer, value), "inserts": inserts}
    op = OPS["typed_dict_list"]
    return [*writer.graph.add_replacement(node, op, inputs, attributes, types=[NUMBERS]).results]


@register_in(LIST_VALUE_RULES, ["object_apply.getitem"])
def _list_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d[key]`; a defaultdict gets the key."""
    kind = kinds.kind(node.inputs[0])
    if kind == ENTRY:
        return _part_rule(kinds, node)
    if kind not in DICTS:
        return False
    if kind == LIST_DICT:
        add_entry(kinds, node.inputs[0], node.inputs[1], ROW)
    is_supported = key_matches(kinds, node)
    if is_supported is False:
        return False
    _set_list_result(kinds, node, node.results[0])
    return is_supported


def _part_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the key or the list of an entry, by a constant index."""
    position, entry = constant_of(node.inputs[1]), entry_kind(kinds, node.inputs[0])
    if position == 1 and type(position) is int:
        return _set_list_result(kinds, node, node.results[0])
    if position != 0 or type(position) is not int:
        return False
    return None if entry is None else set_result_kind(kinds, node, entry.items[0])  # type: ignore[union-attr, arg-type]


@list_value_rewrite_rule("object_apply.getitem")
def _write_item(writer: Writer, node: Node) -> list[Value]:
    """Write the read of a list, or of a part of an entry."""
    (value, index), kinds = node.inputs, writer.kinds
    if kinds.kind(value) == ENTRY:
        *key, list_ = writer.replacements(value)
        return [list_] if constant_of(index) == 1 else key
    return _write_list(writer, node, inserts=kinds.kind(value) == LIST_DICT)


@register_in(LIST_VALUE_RULES, ["object_method.setdefault", "object_method.get"])
def _default_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d.setdefault(key, [])` and `d.get(key, [])`."""
    if len(node.inputs) != 3 or kinds.kind(node.inputs[0]) not in DICTS or node.attributes.get("keywords"):
        return False
    default_kind = kinds.kind_or_number_type(node.inputs[2])
    if default_kind != LIST:
        return None if default_kind is None else False
    is_setdefault = node.attributes["name"] == "setdefault"
    is_supported = add_entry(kinds, node.inputs[0], node.inputs[1], ROW) if is_setdefault else key_matches(kinds, node)
    if is_supported is False:
        return False
    kinds.add_list_value(node.inputs[0], node.inputs[2])
    _set_list_result(kinds, node, node.results[0])
    return is_supported


@list_value_rewrite_rule("object_method.setdefault", "object_method.get")
def _write_default(writer: Writer, node: Node) -> list[Value]:
    """Write the read of a list or of the default, which `setdefault` stores."""
    is_setdefault = node.attributes["name"] == "setdefault"
    return _write_list(writer, node, *writer.replacements(node.inputs[2]), inserts=is_setdefault)


@register_in(LIST_VALUE_RULES, ["object_current"])
def _current_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for what an iterator yields: a key, a list or an entry."""
    (value,), (result,) = node.inputs, node.results
    kind, entry = kinds.kind(value), entry_kind(kinds, value)
    if not isinstance(kind, DictPart) or not kind.is_iterator:
        return False
    if kind.part == "values":
        return _set_list_result(kinds, node, result)
    if kind.part == "keys":
        return None if entry is None else set_result_kind(kinds, node, entry.items[0])  # type: ignore[union-attr, arg-type]
    kinds.mark_derived_from_list(result, ENTRY, kinds.content(value))
    return kinds.kind(result) == ENTRY


@list_value_rewrite_rule("object_current")
def _write_current(writer: Writer, node: Node) -> list[Value]:
    """Write the numbers of a key, or the read of a list, or both."""
    (value,), kinds = node.inputs, writer.kinds
    entry, replacements = entry_kind(kinds, value), writer.replacements(value)
    *key, position = writer.add_all("typed_list_current", node, replacements[3], element=entry)
    part = kinds.kind(value).part  # type: ignore[union-attr]
    if part == "keys":
        return key
    row = writer.graph.add_replacement(node, OPS["typed_list_row"], [replacements[-1], position], {}, types=[NUMBERS])
    return [*row.results] if part == "values" else [*key, *row.results]


@register_in(LIST_VALUE_RULES, ["object_unpack"])
def _unpack_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `key, values = entry`."""
    (value,), entry = node.inputs, entry_kind(kinds, node.inputs[0])
    if kinds.kind(value) != ENTRY or node.attributes["count"] != 2 or node.attributes.get("star", -1) >= 0:
        return False
    _set_list_result(kinds, node, node.results[1])
    return None if entry is None else set_result_kind(kinds, node, entry.items[0])  # type: ignore[union-attr, arg-type]


@list_value_rewrite_rule("object_unpack")
def _write_unpack(writer: Writer, node: Node) -> list[Value]:
    return [*writer.replacements(node.inputs[0])]
