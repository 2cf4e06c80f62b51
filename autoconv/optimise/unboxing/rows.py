"""Rules for lists of lists of numbers: the outer list stays a Python list; the inner lists are typed lists.

A rule sets the kinds of a node's results. It returns True if it supports the node, False if it does not, and None if
that is not decided yet. After False the lists stay Python lists.
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.optimise.unboxing.kind_inference import Kinds, nested_rule
from autoconv.optimise.unboxing.kinds import INNER_LIST_CURSOR, OTHER, SLICE, is_index


def _is_nested_list_with_index(kinds: Kinds, node: Node) -> bool | None:
    """Return whether the first operand is a list of lists and the second an index; None if not decided yet."""
    index = kinds.kind_or_number_type(node.inputs[1])
    if not kinds.is_nested_list(node.inputs[0]):
        return False
    return None if index is None else is_index(index)


def _mark_inner_list_result(kinds: Kinds, node: Node) -> bool:
    """Note that the result is an inner list of the first operand; return True, as a rule that supports the node."""
    kinds.unify(kinds.alias_class(node.results[0]), kinds.content(node.inputs[0]))
    return True


def _mark_list_of_same_inner_lists(kinds: Kinds, node: Node, value: Value) -> bool:
    """Note that the result is a new list of the inner lists of `value`; return False if that list is banned."""
    item_class = kinds.mark_list(node)
    if item_class is None:
        return False
    kinds.unify(item_class, kinds.content(value))
    return True


@nested_rule("object_apply.getitem")
def _getitem_rule(kinds: Kinds, node: Node) -> bool | None:
    if kinds.kind_or_number_type(node.inputs[1]) == SLICE and kinds.is_nested_list(node.inputs[0]):
        return False  # the outer list stays a Python list, which needs a slice object, and a SLICE is none
    is_supported = _is_nested_list_with_index(kinds, node)
    return _mark_inner_list_result(kinds, node) if is_supported else is_supported


@nested_rule("object_method.pop")
def _pop_rule(kinds: Kinds, node: Node) -> bool | None:
    if len(node.inputs) > 2 or node.attributes["keywords"]:
        return False
    has_index = len(node.inputs) == 2
    is_supported = _is_nested_list_with_index(kinds, node) if has_index else kinds.is_nested_list(node.inputs[0])
    return _mark_inner_list_result(kinds, node) if is_supported else is_supported


@nested_rule("object_apply.setitem", "object_method.insert")
def _setitem_rule(kinds: Kinds, node: Node) -> bool | None:
    is_supported = _is_nested_list_with_index(kinds, node) if len(node.inputs) == 3 else False
    if is_supported:
        kinds.add_item(node.inputs[0], node.inputs[2])
        kinds.widen_kind_of(node.results[0], OTHER)
    return is_supported


@nested_rule("object_method.append")
def _append_rule(kinds: Kinds, node: Node) -> bool | None:
    if len(node.inputs) != 2 or not kinds.is_nested_list(node.inputs[0]):
        return False
    kinds.add_item(*node.inputs)
    kinds.widen_kind_of(node.results[0], OTHER)
    return True


@nested_rule("object_length", "object_truth")
def _length_rule(kinds: Kinds, node: Node) -> bool | None:
    return True


@nested_rule("object_method.reverse", "object_method.clear", "object_apply.delitem")
def _change_rule(kinds: Kinds, node: Node) -> bool | None:
    """Accept a change of the outer list, which remains a Python list; an index has to be an integer."""
    if not kinds.is_nested_list(node.inputs[0]):
        return False
    is_supported = _is_nested_list_with_index(kinds, node) if len(node.inputs) == 2 else True
    if is_supported:
        kinds.widen_kind_of(node.results[0], OTHER)
    return is_supported


@nested_rule("object_method.copy", "object_apply.list")
def _copy_rule(kinds: Kinds, node: Node) -> bool | None:
    return len(node.inputs) == 1 and _mark_list_of_same_inner_lists(kinds, node, node.inputs[0])


@nested_rule("object_apply.mul")
def _mul_rule(kinds: Kinds, node: Node) -> bool | None:
    is_supported = _is_nested_list_with_index(kinds, node)
    return _mark_list_of_same_inner_lists(kinds, node, node.inputs[0]) if is_supported else is_supported


@nested_rule("object_check_assigned")
def _check_assigned_rule(kinds: Kinds, node: Node) -> bool | None:
    kinds.unify(kinds.alias_class(node.results[0]), kinds.alias_class(node.inputs[0]))
    return True


@nested_rule("object_iterate")
def _iterate_rule(kinds: Kinds, node: Node) -> bool | None:
    kinds.mark_derived_from_list(node.results[0], INNER_LIST_CURSOR, kinds.alias_class(node.inputs[0]))
    return kinds.kind(node.results[0]) == INNER_LIST_CURSOR
