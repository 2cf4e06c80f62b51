"""Rules for `sort` and `sorted` of lists of numbers or tuples, ascending and descending.

A stable descending sort is a reversal, an ascending sort and another reversal, as in CPython.
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.kind_inference import Kinds, rule
from autoconv.optimise.unboxing.kinds import LIST
from autoconv.optimise.unboxing.tuples import is_orderable
from autoconv.optimise.unboxing.whole_lists import add_copy, mark_new_list, set_none_result
from autoconv.optimise.unboxing.writer import Writer, rewrite_rule


@rule("object_method.sort", "object_apply.sorted")
def _sort_rule(kinds: Kinds, node: Node) -> bool | None:
    """Accept a list of orderable items and a known direction; `sorted` returns a new list."""
    kind = kinds.kind_or_number_type(node.inputs[0])
    if kind is None:
        return None
    if kind != LIST or _is_descending(node) is None or not is_orderable(kinds, node):
        return False
    if node.op.name == "object_method":
        return set_none_result(kinds, node)
    return mark_new_list(kinds, node, kinds.content(node.inputs[0]).kind)


def _is_descending(node: Node) -> bool | None:
    """Return the constant argument `reverse`, False if there is none; None for other arguments."""
    keywords = node.attributes["keywords"]
    if not keywords:
        return False if len(node.inputs) == 1 else None
    reverse = constant_of(node.inputs[-1])
    return reverse if tuple(keywords) == ("reverse",) and type(reverse) is bool and len(node.inputs) == 2 else None


@rewrite_rule("object_method.sort", "object_apply.sorted")
def _write_sort(writer: Writer, node: Node) -> list[Value]:
    """Sort a copy or the list itself.

    A descending sort reverses before and after, so that equal items keep their order.
    """
    value = node.inputs[0]
    is_new, element = node.op.name == "object_apply", writer.element_attribute(value)["element"]
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
