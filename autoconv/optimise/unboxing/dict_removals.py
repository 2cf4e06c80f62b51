"""Rules for removals from dicts and sets: `del d[key]`, `pop`, `popitem`, `remove`, `discard` and `clear`.

    before   %found = object_method(%seen, %key, %zero, name='pop', keywords=()): object<any>
    after    %found = typed_dict_remove(%entries, %index, %key, %zero, …, has_result=True): weak int64[]

A call is repeated as plain Python where a loop over the dict or set removes entries and adds as many. A set from which
entries are removed is no result: a set made of its keys would have another order.
"""

from __future__ import annotations

from typing import Any

from autoconv.graph.graph import Node, Value
from autoconv.ops.lists.set_tables import has_reused_slots
from autoconv.optimise.unboxing.alias_classes import find_root
from autoconv.optimise.unboxing.dicts import add_dict_op, is_value, key_matches, write_none
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import RUN_CHECKS, Kinds, dict_rule
from autoconv.optimise.unboxing.kinds import COUNTER, DICTS, OTHER, SET, DictPart
from autoconv.optimise.unboxing.whole_lists import set_none_result, set_result_kind
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule


def _note_removal(kinds: Kinds, node: Node) -> bool:
    """Note that the node removes entries; return whether the call can be repeated after it, and is supported."""
    kind = kinds.kind(node.inputs[0])
    kinds.removal_nodes.add(node)
    return node not in kinds.late_nodes and not isinstance(kind, DictPart) and (kind != SET or has_reused_slots())


def _has_no_result(kinds: Kinds, node: Node) -> bool:
    return node.results[0] not in kinds.used_values


@dict_rule("object_apply.delitem", "object_method.remove", "object_method.discard")
def _remove_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `del d[key]`, `s.remove(key)` and `s.discard(key)`."""
    is_of_dict = kinds.kind(node.inputs[0]) in DICTS
    if len(node.inputs) != 2 or is_of_dict != ("function" in node.attributes) or not _note_removal(kinds, node):
        return False
    is_supported = key_matches(kinds, node)
    return is_supported and set_none_result(kinds, node)


@dict_rewrite_rule("object_apply.delitem", "object_method.remove", "object_method.discard")
def _write_remove(writer: Writer, node: Node) -> list[Value]:
    """Write the removal of a key; a Counter has no error for a missing one."""
    value, key = node.inputs
    is_checked = node.attributes.get("name") != "discard" and writer.kinds.kind(value) != COUNTER
    _add_removal(writer, node, is_checked, False, *writer.replacements(key))
    return write_none(writer, node)


def _add_removal(writer: Writer, node: Node, is_checked: bool, has_result: bool, *numbers: Value) -> list[Value]:
    attributes: dict[str, Any] = {"is_checked": is_checked, "has_result": has_result}
    return add_dict_op(writer, "remove", node, node.inputs[0], *numbers, **attributes)


@dict_rule("object_method.pop")
def _pop_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d.pop(key)`, `d.pop(key, default)` and `s.pop()`."""
    value, *operands = node.inputs
    kind = kinds.kind(value)
    operand_counts = (0,) if kind == SET else (1, 2)
    if len(operands) not in operand_counts or node.attributes["keywords"] or not _note_removal(kinds, node):
        return False
    entry = entry_kind(kinds, value)
    if kind == SET:
        return None if entry is None else entry != OTHER and set_result_kind(kinds, node, entry)
    is_supported = key_matches(kinds, node)
    if not is_supported:
        return is_supported
    if _has_no_result(kinds, node):
        return set_none_result(kinds, node)
    if len(operands) == 2:
        default_kind = kinds.kind_or_number_type(operands[1])
        if default_kind is None or not is_value(default_kind):
            return None if default_kind is None else False
        kinds.widen_kind_of(node.results[0], default_kind)
    set_result_kind(kinds, node, entry.items[1])  # type: ignore[arg-type, union-attr]
    return kinds.kind(node.results[0]) != OTHER


@dict_rewrite_rule("object_method.pop")
def _write_pop(writer: Writer, node: Node) -> list[Value]:
    """Write the removal of a key, whose value is the result if it is used, or of an entry of a set."""
    value, *operands = node.inputs
    if writer.kinds.kind(value) == SET:
        return add_dict_op(writer, "popitem", node, value)
    numbers = [*writer.replacements(operands[0])]
    if _has_no_result(writer.kinds, node):
        return _add_removal(writer, node, len(operands) == 1, False, *numbers)
    numbers += [number for default in operands[1:] for number in writer.replacements(default)]
    return _add_removal(writer, node, True, True, *numbers)


@dict_rule("object_method.popitem")
def _popitem_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d.popitem()`."""
    if kinds.kind(node.inputs[0]) not in DICTS or len(node.inputs) != 1 or not _note_removal(kinds, node):
        return False
    entry = entry_kind(kinds, node.inputs[0])
    return None if entry is None else entry != OTHER and set_result_kind(kinds, node, entry)


@dict_rewrite_rule("object_method.popitem")
def _write_popitem(writer: Writer, node: Node) -> list[Value]:
    return add_dict_op(writer, "popitem", node, node.inputs[0])


@dict_rule("object_method.clear")
def _clear_rule(kinds: Kinds, node: Node) -> bool:
    return len(node.inputs) == 1 and _note_removal(kinds, node) and set_none_result(kinds, node)


@dict_rewrite_rule("object_method.clear")
def _write_clear(writer: Writer, node: Node) -> list[Value]:
    add_dict_op(writer, "clear", node, node.inputs[0])
    return write_none(writer, node)


def _ban_returned_sets(kinds: Kinds) -> None:
    """Keep as Python's the sets that are results and from which entries are removed."""
    classes = [
        kinds.alias_class(node.inputs[0]) for node in kinds.removal_nodes
        if node in kinds.rewritable_nodes and kinds.kind(node.inputs[0]) == SET and node.attributes["name"] != "clear"
    ]  # fmt: skip
    for value in kinds.graph.outputs:
        if kinds.alias_class(value) in map(find_root, classes):
            kinds.ban(kinds.alias_class(value).sites)


RUN_CHECKS.append(_ban_returned_sets)
