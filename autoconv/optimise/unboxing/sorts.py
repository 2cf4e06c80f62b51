"""Rules for `sort` and `sorted` of lists of numbers or tuples, ascending and descending.

A stable descending sort is a reversal, an ascending sort and another reversal, as in CPython.
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.ops.lists.item_layout import fields
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.kind_inference import Kinds, dict_rule, rule
from autoconv.optimise.unboxing.traversal import is_traversable, yielded_kind
from autoconv.optimise.unboxing.tuples import is_orderable
from autoconv.optimise.unboxing.whole_lists import (
    add_copy,
    is_list_operation,
    mark_new_list,
    set_none_result,
    set_result_kind,
)
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule, rewrite_rule


@rule("object_method.sort", "object_apply.sorted")
@dict_rule("object_apply.sorted")
def _sort_rule(kinds: Kinds, node: Node) -> bool | None:
    """Accept a list of orderable items and a known direction; `sorted` returns a new list."""
    kind = kinds.kind_or_number_type(node.inputs[0])
    if kind is None:
        return None
    if not is_traversable(kind) or _is_descending(node) is None or not is_orderable(kinds, node):
        return False
    if node.op.name == "object_method":
        return set_none_result(kinds, node)
    return mark_new_list(kinds, node, yielded_kind(kinds, node.inputs[0]))


def _is_descending(node: Node) -> bool | None:
    """Return the constant argument `reverse`, False if there is none; None for other arguments."""
    keywords = node.attributes["keywords"]
    if not keywords:
        return False if len(node.inputs) == 1 else None
    reverse = constant_of(node.inputs[-1])
    return reverse if tuple(keywords) == ("reverse",) and type(reverse) is bool and len(node.inputs) == 2 else None


@rewrite_rule("object_method.sort", "object_apply.sorted")
@dict_rewrite_rule("object_apply.sorted")
def _write_sort(writer: Writer, node: Node) -> list[Value]:
    """Sort a copy or the list itself.

    A descending sort reverses before and after, so that equal items keep their order.
    """
    value = node.inputs[0]
    is_new, element = node.op.name == "object_apply", yielded_kind(writer.kinds, value)
    list_ = add_copy(writer, node, value) if is_new else writer.typed_list(value)
    if _is_descending(node):
        writer.add_mutation("change", node, list_, element=element, method="reverse")
        writer.add_mutation("change", node, list_, element=element, method="sort")
        last_change = "reverse"
    else:
        last_change = "sort"
    if not is_new:
        return writer.write_mutation("change", node, value, method=last_change)
    writer.add_mutation("change", node, list_, element=element, method=last_change)
    return [list_]


# ---- items with their keys, by which `sorted`, `min` and `max` with a `key` compare


@rule("object_apply.last_of_each")
def _last_of_each_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the list of the last parts of tuples."""
    is_supported = is_list_operation(kinds, node)
    item_kind = yielded_kind(kinds, node.inputs[0]) if is_supported else None
    if item_kind is None:
        return is_supported and None
    return isinstance(item_kind, TupleType) and mark_new_list(kinds, node, item_kind.items[-1])  # type: ignore[arg-type]


@rewrite_rule("object_apply.last_of_each")
def _write_last_of_each(writer: Writer, node: Node) -> list[Value]:
    (value,) = node.inputs
    return writer.add_list_op("column", node, value, position=len(yielded_kind(writer.kinds, value).items) - 1)  # type: ignore[union-attr]


@rule("object_apply.last")
def _last_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the last part of a tuple."""
    kind = kinds.kind(node.inputs[0])
    if not isinstance(kind, TupleType):
        return None if kind is None else False
    return set_result_kind(kinds, node, kind.items[-1])  # type: ignore[arg-type]


@rewrite_rule("object_apply.last")
def _write_last(writer: Writer, node: Node) -> list[Value]:
    (value,) = node.inputs
    width = len(fields(writer.kinds.kind(value).items[-1]))  # type: ignore[union-attr, arg-type]
    return [*writer.replacements(value)[-width:]]
