"""Rules for operations on whole lists of numbers: copy, slice, concatenate, sort, search, print.

For each operation, `@rule` registers the inference of kinds (see `Rule`), `@rewrite_rule` the ops that replace it.
"""

from __future__ import annotations

import numpy as np

from autoconv.graph.graph import Node, Value
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.kind_inference import Kinds, dict_rule, rule
from autoconv.optimise.unboxing.kinds import (
    BOOL,
    FLOAT,
    INT,
    LIST,
    OTHER,
    RANGE,
    SLICE,
    Kind,
    is_index,
    is_item,
    is_none,
    is_python_number,
)
from autoconv.optimise.unboxing.numbers import operator_rule, write_operator
from autoconv.optimise.unboxing.traversal import (
    is_traversable,
    traversed_list,
    write_reduction,
    yielded_kind,
)
from autoconv.optimise.unboxing.tuples import is_exact
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule, rewrite_rule

_NO_BOUNDS = (False, False, False)  # attribute `has_bounds` of a slice: whether it has a start, a stop and a step


def is_list_operation(kinds: Kinds, node: Node, operand_count: int = 1) -> bool | None:
    """Return whether the node has so many operands, none by keyword, and the first is traversable; None if undecided.
    """
    kind = kinds.kind_or_number_type(node.inputs[0])
    if kind is None:
        return None
    return is_traversable(kind) and len(node.inputs) == operand_count and not node.attributes.get("keywords")


def set_result_kind(kinds: Kinds, node: Node, kind: Kind) -> bool:
    """Raise the kind of the result; return True, as a rule that supports the node."""
    kinds.widen_kind_of(node.results[0], kind)
    return True


def set_none_result(kinds: Kinds, node: Node) -> bool:
    """Note that the result is None; return True, as a rule that supports the node."""
    return set_result_kind(kinds, node, OTHER)


def mark_new_list(kinds: Kinds, node: Node, *item_kinds: Kind) -> bool:
    """Mark the node as the allocation of a list with items of these kinds; return False if the list is banned."""
    content = kinds.mark_list(node)
    if content is None:
        return False
    for kind in item_kinds:
        kinds.raise_kind(content, kind)
    return True


def add_copy(writer: Writer, node: Node, value: Value) -> Value:
    """Add a new typed list of what the list, dict, set or view yields; return it."""
    list_, element = traversed_list(writer, node, value), yielded_kind(writer.kinds, value)
    if list_ is not writer.typed_list(value):
        return list_  # new already
    return writer.add("typed_list_slice", node, list_, has_bounds=_NO_BOUNDS, element=element)


# ---- copies and slices


@rule("object_apply.list", "object_method.copy")
@dict_rule("object_apply.list")
def _copy_rule(kinds: Kinds, node: Node) -> bool | None:
    is_call_of_list = node.attributes.get("function") == "list" and len(node.inputs) == 1
    if is_call_of_list and kinds.kind_or_number_type(node.inputs[0]) == RANGE:
        return mark_new_list(kinds, node, INT)
    return is_list_operation(kinds, node) and mark_new_list(kinds, node, yielded_kind(kinds, node.inputs[0]))


@rewrite_rule("object_apply.list", "object_method.copy")
@dict_rewrite_rule("object_apply.list")
def _write_copy(writer: Writer, node: Node) -> list[Value]:
    (value,) = node.inputs
    if writer.kinds.kind(value) == RANGE:
        return [writer.add("typed_list_range", node, *writer.replacements(value), element=INT)]
    return [add_copy(writer, node, value)]


@rule("object_apply.range")
def _range_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for a range with a constant step other than 0; it is replaced if its only uses are `list(range(…))`."""
    input_kinds = [kinds.kind_or_number_type(value) for value in node.inputs]
    if node.attributes["keywords"] or not all(kind is None or is_index(kind) for kind in input_kinds):
        return False
    if None in input_kinds:
        return None
    if len(input_kinds) == 3 and not constant_of(node.inputs[2]):
        return False
    kinds.widen_kind_of(node.results[0], RANGE)
    return kinds.kind(node.results[0]) == RANGE


@rewrite_rule("object_apply.range")
def _write_range(writer: Writer, node: Node) -> list[Value]:
    """Return start, stop and step."""
    numbers = [writer.convert(writer.number(value), INT, node) for value in node.inputs]
    if len(numbers) == 1:
        numbers = [writer.add("constant", node, value=np.array(0), weak=True), *numbers]
    if len(numbers) == 2:
        numbers = [*numbers, writer.add("constant", node, value=np.array(1), weak=True)]
    return numbers


@rule("object_apply.slice")
def _slice_object_rule(kinds: Kinds, node: Node) -> bool | None:
    """Mark a slice whose bounds are integers or None, and whose step is a constant other than 0."""
    input_kinds = [INT if is_none(value) else kinds.kind_or_number_type(value) for value in node.inputs]
    if len(input_kinds) != 3 or not all(kind is None or is_index(kind) for kind in input_kinds):
        return False
    if None in input_kinds:
        return None
    if not is_none(node.inputs[2]) and not constant_of(node.inputs[2]):
        return False  # a step that may be 0 raises an error of slices
    kinds.widen_kind_of(node.results[0], SLICE)
    return kinds.kind(node.results[0]) == SLICE


@rewrite_rule("object_apply.slice")
def _write_slice_object(writer: Writer, node: Node) -> list[Value]:
    return [writer.convert(writer.number(value), INT, node) for value in node.inputs if not is_none(value)]


def slice_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `xs[start:stop:step]`."""
    value, index = node.inputs
    if index.node is None:
        return False  # a use reads the bounds from the node that defines the slice
    return mark_new_list(kinds, node, kinds.content(value).kind)


def write_slice(writer: Writer, node: Node) -> list[Value]:
    """Return the slice of a typed list."""
    bounds, has_bounds = _bounds_of_slice(writer, node)
    return writer.add_list_op("slice", node, node.inputs[0], *bounds, has_bounds=has_bounds)


def _bounds_of_slice(writer: Writer, node: Node) -> tuple[list[Value], tuple[bool, ...]]:
    """Return the bounds of the slice object that is the node's second operand, and the attribute `has_bounds`."""
    index = node.inputs[1]
    slice_node = index.node
    assert slice_node is not None
    if slice_node.op.name == "object_constant":
        slice_object = slice_node.attributes["value"]
        bounds = [slice_object.start, slice_object.stop, slice_object.step]
        bound_values = [
            writer.add("constant", node, value=np.array(int(bound)), weak=True) for bound in bounds if bound is not None
        ]
        return bound_values, tuple(bound is not None for bound in bounds)
    return [*writer.values.get(index, ())], tuple(not is_none(bound) for bound in slice_node.inputs)


def replace_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `xs[start:stop:step] = ys` with a list of numbers of the same kind."""
    value, index, items = node.inputs
    items_kind = kinds.kind_or_number_type(items)
    if index.node is None or items_kind != LIST:
        return None if items_kind is None else False
    kinds.raise_kind(kinds.content(value), kinds.content(items).kind)
    return set_none_result(kinds, node) and _have_items_of_one_kind(kinds, value, items)


def write_replace(writer: Writer, node: Node) -> list[Value]:
    """Write the replacement of the items in a slice; return a None if the node's result is used."""
    value, _, items = node.inputs
    bounds, has_bounds = _bounds_of_slice(writer, node)
    return writer.write_mutation("replace", node, value, writer.typed_list(items), *bounds, has_bounds=has_bounds)


@rule("object_apply.add", "object_apply.iadd")
def _sum_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `xs + ys` and `xs += ys`; sums of numbers are in `numbers`."""
    first, second = (kinds.kind_or_number_type(value) for value in node.inputs)
    if LIST not in (first, second):
        return operator_rule(kinds, node)
    if None in (first, second):
        return None
    if first != second:
        return False
    first_item, second_item = (kinds.content(value) for value in node.inputs)
    if node.attributes["function"] == "add":
        is_new = mark_new_list(kinds, node, first_item.kind, second_item.kind)
        return is_new and _have_items_of_one_kind(kinds, *node.inputs)
    kinds.raise_kind(first_item, second_item.kind)
    kinds.unify(kinds.alias_class(node.inputs[0]), kinds.alias_class(node.results[0]))
    return _have_items_of_one_kind(kinds, *node.inputs)


def _have_items_of_one_kind(kinds: Kinds, *lists: Value) -> bool:
    """Return whether two lists have items of one kind, as far as known."""
    first, second = (kinds.content(value).kind for value in lists)
    return first == second or None in (first, second)


@rewrite_rule("object_apply.add", "object_apply.iadd")
def _write_sum(writer: Writer, node: Node) -> list[Value]:
    """Extend a copy, or for `+=` the list itself, by the second list."""
    first, second = node.inputs
    if writer.kinds.kind(first) != LIST:
        return [*write_operator(writer, node)]
    is_new = node.attributes["function"] == "add"
    list_ = add_copy(writer, node, first) if is_new else writer.typed_list(first)
    writer.add_mutation("extend", node, list_, writer.typed_list(second), **writer.element_attribute(first))
    return [list_]


@rule("object_method.extend")
def _extend_rule(kinds: Kinds, node: Node) -> bool | None:
    is_supported, other_kind = is_list_operation(kinds, node, 2), kinds.kind_or_number_type(node.inputs[1])
    if not is_supported or other_kind != LIST:
        return None if is_supported is None or other_kind is None else False
    kinds.raise_kind(kinds.content(node.inputs[0]), kinds.content(node.inputs[1]).kind)
    return set_none_result(kinds, node) and _have_items_of_one_kind(kinds, *node.inputs)


@rewrite_rule("object_method.extend")
def _write_extend(writer: Writer, node: Node) -> list[Value]:
    return writer.write_mutation("extend", node, node.inputs[0], writer.typed_list(node.inputs[1]))


# ---- in-place changes


@rule("object_method.reverse", "object_method.clear")
def _change_rule(kinds: Kinds, node: Node) -> bool | None:
    return is_list_operation(kinds, node) and set_none_result(kinds, node)


@rewrite_rule("object_method.reverse", "object_method.clear")
def _write_change(writer: Writer, node: Node) -> list[Value]:
    method = node.attributes["name"]
    if method == "clear":
        return writer.write_mutation("clear", node, node.inputs[0])
    return writer.write_mutation("change", node, node.inputs[0], method=method)


@rule("object_apply.delitem")
def _delete_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `del xs[i]` with an integer i."""
    is_supported, index_kind = is_list_operation(kinds, node, 2), kinds.kind_or_number_type(node.inputs[1])
    if not is_supported:
        return is_supported
    if index_kind is None:
        return None
    return is_index(index_kind) and set_none_result(kinds, node)


@rewrite_rule("object_apply.delitem")
def _write_delete(writer: Writer, node: Node) -> list[Value]:
    value, index = node.inputs
    position = writer.convert(writer.number(index), INT, node)
    return writer.write_mutation("change", node, value, position, method="delete")


@rule("object_method.insert")
def _insert_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `xs.insert(i, item)` with an integer i."""
    is_supported, index_kind = is_list_operation(kinds, node, 3), kinds.kind_or_number_type(node.inputs[1])
    if not is_supported:
        return is_supported
    if index_kind is None:
        return None
    if not is_index(index_kind):
        return False
    kinds.add_item(node.inputs[0], node.inputs[2])
    return set_none_result(kinds, node)


@rewrite_rule("object_method.insert")
def _write_insert(writer: Writer, node: Node) -> list[Value]:
    value, index, item = node.inputs
    operands = (writer.convert(writer.number(index), INT, node), *writer.replacements(item))
    return writer.write_mutation("change", node, value, *operands, method="insert")


# ---- searches and reductions


@rule("object_method.index", "object_method.count", "object_apply.contains", "object_method.remove")
def _find_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for lists of ints, bools and tuples of these: in a list of floats, a NaN is found by identity."""
    is_supported, sought_kind = is_list_operation(kinds, node, 2), kinds.kind_or_number_type(node.inputs[1])
    if not is_supported:
        return is_supported
    if sought_kind is None:
        return None
    item_kind = kinds.content(node.inputs[0]).kind
    if item_kind is None:
        return None
    if not is_exact(item_kind) or sought_kind != item_kind:
        return False
    is_method = "name" in node.attributes  # `contains` is an operator
    result_kind = INT if is_method else BOOL
    return set_result_kind(kinds, node, OTHER if node.attributes.get("name") == "remove" else result_kind)


@rewrite_rule("object_method.index", "object_method.count", "object_apply.contains", "object_method.remove")
def _write_find(writer: Writer, node: Node) -> list[Value]:
    value, item = node.inputs
    method = node.attributes.get("name", "__contains__")
    if method == "remove":
        return writer.write_mutation("change", node, value, *writer.replacements(item), method=method)
    return writer.add_list_op("find", node, value, *writer.replacements(item), method=method)


@rule("object_apply.sum", "object_apply.any", "object_apply.all")
@dict_rule("object_apply.sum", "object_apply.any", "object_apply.all")
def _reduce_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for Python's numbers: the result of `any` and `all` is a bool, that of `sum` an int or a float."""
    is_supported = is_list_operation(kinds, node)
    if not is_supported:
        return is_supported
    item_kind = yielded_kind(kinds, node.inputs[0])
    if item_kind is None:
        return None
    if node.attributes["function"] != "sum":
        return is_python_number(item_kind) and set_result_kind(kinds, node, BOOL)
    # The call reruns for an int beyond 64 bits, and for an empty list of floats, whose sum is an int.
    if not is_python_number(item_kind) or node in kinds.late_nodes:
        return False
    return set_result_kind(kinds, node, FLOAT if item_kind == FLOAT else INT)


rewrite_rule("object_apply.sum", "object_apply.any", "object_apply.all")(write_reduction)
dict_rewrite_rule("object_apply.sum", "object_apply.any", "object_apply.all")(write_reduction)


# ---- readers of all items


@rule("object_apply.tuple", "object_apply.set", "object_apply.frozenset", "object_apply.str", "object_apply.repr")
def _read_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for operations that only read: their operand becomes a Python list of the current items."""
    return is_list_operation(kinds, node) and set_result_kind(kinds, node, OTHER)


@rewrite_rule(
    "object_apply.tuple", "object_apply.set", "object_apply.frozenset", "object_apply.str", "object_apply.repr",
)  # fmt: skip
def _write_read(writer: Writer, node: Node) -> list[Value]:
    return writer.copy(node)


@rule("object_print")
def _print_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for prints of lists of numbers, also among numbers, tuples and objects."""
    input_kinds = [kinds.kind_or_number_type(value) for value in node.inputs]
    if LIST not in input_kinds or not all(
        kind in (None, LIST, OTHER) or is_item(kind) for kind in input_kinds
    ):
        return False
    return None if None in input_kinds else True


@rewrite_rule("object_print")
def _write_print(writer: Writer, node: Node) -> list[Value]:
    return writer.copy(node)
