"""Rules for the functions of `heapq` on lists of numbers or tuples, and for deques of these.

For each operation, `@rule` registers the inference of kinds, `@rewrite_rule` the ops on typed lists that replace it. A
deque is a typed list too; it stays in the graph, and only the operations with a rule here or in `lists` are applied.
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.ops.lists.queues import FUNCTIONS_WITHOUT_RESULT
from autoconv.optimise.unboxing.kind_inference import Kinds, rule
from autoconv.optimise.unboxing.kinds import DEQUE, LIST, OTHER, is_item
from autoconv.optimise.unboxing.tuples import is_orderable
from autoconv.optimise.unboxing.whole_lists import set_none_result, set_result_kind
from autoconv.optimise.unboxing.writer import Writer, rewrite_rule

_OPERAND_COUNTS = {"heappush": 2, "heappop": 1, "heapify": 1, "heapreplace": 2, "heappushpop": 2}
_HEAP_FUNCTIONS = tuple(f"object_apply.heapq.{name}" for name in _OPERAND_COUNTS)


def _heap_function(node: Node) -> str:
    return str(node.attributes["function"]).removeprefix("heapq.")


@rule(*_HEAP_FUNCTIONS)
def _heap_rule(kinds: Kinds, node: Node) -> bool | None:
    """Add the items to the list, and give the result its kind; items have to be orderable."""
    value, *items = node.inputs
    kind, function = kinds.kind(value), _heap_function(node)
    if kind is None:
        return None
    if kind != LIST or len(node.inputs) != _OPERAND_COUNTS[function] or node.attributes["keywords"]:
        return False
    for item in items:
        kinds.add_item(value, item)
    item_kind = kinds.content(value).kind
    if item_kind is None:
        return None
    if not is_item(item_kind) or not is_orderable(kinds, node):
        return False
    if function in FUNCTIONS_WITHOUT_RESULT:
        return set_none_result(kinds, node)
    return set_result_kind(kinds, node, item_kind) and kinds.kind(node.results[0]) != OTHER


@rewrite_rule(*_HEAP_FUNCTIONS)
def _write_heap(writer: Writer, node: Node) -> list[Value]:
    """Write the function on the list's items: with a result, or as a change of the list."""
    value, *items = node.inputs
    kind, function = writer.kinds.content(value).kind, _heap_function(node)
    operands = [number for item in items for number in writer.item(item, kind, node)]
    if function in FUNCTIONS_WITHOUT_RESULT:
        return writer.write_mutation("heap", node, value, *operands, function=function)
    return writer.add_list_op("heap", node, value, *operands, function=function)


@rule("object_apply.collections.deque")
def _deque_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for a deque without `maxlen`, empty or of a list's items."""
    if len(node.inputs) > 1 or node.attributes["keywords"]:
        return False
    kind = kinds.kind(node.inputs[0]) if node.inputs else LIST
    if kind != LIST:
        return None if kind is None else False
    item_class = kinds.mark_list(node, DEQUE)
    if item_class is None:
        return False
    if node.inputs:
        kinds.raise_kind(item_class, kinds.content(node.inputs[0]).kind)
    return True


@rewrite_rule("object_apply.collections.deque")
def _write_deque(writer: Writer, node: Node) -> list[Value]:
    if not node.inputs:
        return [writer.add("typed_list_make", node, **writer.element_attribute(node.results[0]))]
    return writer.add_list_op("slice", node, node.inputs[0], has_bounds=(False, False, False))


@rule("object_method.appendleft", "object_method.popleft")
def _left_rule(kinds: Kinds, node: Node) -> bool | None:
    """Add the item to the deque, or give the popped one its kind."""
    kind, is_append = kinds.kind(node.inputs[0]), node.attributes["name"] == "appendleft"
    if kind != DEQUE or len(node.inputs) != 1 + is_append or node.attributes["keywords"]:
        return None if kind is None else False
    if is_append:
        kinds.add_item(*node.inputs)
        return set_none_result(kinds, node)
    return set_result_kind(kinds, node, kinds.content(node.inputs[0]).kind)


@rewrite_rule("object_method.appendleft", "object_method.popleft")
def _write_left(writer: Writer, node: Node) -> list[Value]:
    value, *items = node.inputs
    if node.attributes["name"] == "popleft":
        return writer.add_list_op("pop_left", node, value)
    return writer.write_mutation("push_left", node, value, *writer.replacements(items[0]))
