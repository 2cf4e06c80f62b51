"""Rules for lists of numbers of one kind: construction, items and iteration.

For each operation, `@rule` registers the inference of kinds (see `kind_inference.Rule`), and `@rewrite_rule` the ops on
typed lists that replace it (see ops/lists/typed_lists.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.optimise.unboxing.alias_classes import find_root
from autoconv.optimise.unboxing.kind_inference import Kinds, rule
from autoconv.optimise.unboxing.kinds import (
    CURSOR,
    DEQUE,
    ENUMERATE,
    INNER_LIST_CURSOR,
    INT,
    LIST,
    PAIR,
    PAIRS,
    SLICE,
    Kind,
    is_index,
)
from autoconv.optimise.unboxing.numbers import operator_rule, write_operator
from autoconv.optimise.unboxing.tuples import tuple_item_rule, tuple_rule, unpack_rule, write_tuple_item
from autoconv.optimise.unboxing.whole_lists import (
    mark_new_list,
    replace_rule,
    set_none_result,
    set_result_kind,
    slice_rule,
    write_replace,
    write_slice,
)
from autoconv.optimise.unboxing.writer import Writer, rewrite_rule

# ---- construction


rule("object_build.tuple")(tuple_rule)


@rewrite_rule("object_build.tuple")
def _write_tuple(writer: Writer, node: Node) -> list[Value]:
    return [number for value in node.inputs for number in writer.replacements(value)]


@rule("object_build.list")
def _build_rule(kinds: Kinds, node: Node) -> bool | None:
    if not mark_new_list(kinds, node):
        return False
    for value in node.inputs:
        kinds.add_item(node.results[0], value)
    return True


@rewrite_rule("object_build.list")
def _write_build(writer: Writer, node: Node) -> list[Value]:
    """Return a typed list of the items; a list of lists stays an object."""
    attributes = writer.element_attribute(node.results[0])
    if attributes["element"] == LIST:
        return writer.copy_with_inner_lists(node)
    items = [number for value in node.inputs for number in writer.item(value, attributes["element"], node)]
    return [writer.add("typed_list_make", node, *items, **attributes)]


@rule("object_apply.mul")
def _product_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `[x] * n` and `n * [x]`; products of numbers are in `numbers`."""
    if LIST not in map(kinds.kind_or_number_type, node.inputs):
        return operator_rule(kinds, node)
    value, count = _list_and_count(kinds, node)
    if count is None:
        return False
    count_kind = kinds.kind_or_number_type(count)
    if count_kind is None:
        return None
    if not is_index(count_kind):
        return False
    return mark_new_list(kinds, node, kinds.content(value).kind)


def _list_and_count(kinds: Kinds, node: Node) -> tuple[Value, Value | None]:
    """Return the list operand and the other operand, which is None if both are lists."""
    first, second = node.inputs
    if kinds.kind_or_number_type(first) == LIST:
        return first, None if kinds.kind_or_number_type(second) == LIST else second
    return second, first


@rewrite_rule("object_apply.mul")
def _write_product(writer: Writer, node: Node) -> list[Value]:
    if LIST not in map(writer.kinds.kind_or_number_type, node.inputs):
        return [*write_operator(writer, node)]
    value, count = _list_and_count(writer.kinds, node)
    assert count is not None
    return writer.add_list_op("repeat", node, value, writer.convert(writer.number(count), INT, node))


# ---- items


@rule("object_apply.getitem")
def _item_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for an item of a tuple, list or deque, and for a slice of a list."""
    value, index = node.inputs
    if kinds.kind(value) is None or kinds.kind_or_number_type(index) is None:
        return None
    if isinstance(kinds.kind(value), TupleType):
        return tuple_item_rule(kinds, node)
    if kinds.kind(value) not in (LIST, DEQUE):
        return False
    if kinds.kind(value) == LIST and kinds.kind_or_number_type(index) == SLICE:
        return slice_rule(kinds, node)
    return is_index(kinds.kind_or_number_type(index)) and set_result_kind(kinds, node, kinds.content(value).kind)


@rewrite_rule("object_apply.getitem")
def _write_item(writer: Writer, node: Node) -> list[Value]:
    """Write a slice, an item of a tuple, or an item of a list or deque."""
    if writer.kinds.kind_or_number_type(node.inputs[1]) == SLICE:
        return write_slice(writer, node)
    if isinstance(writer.kinds.kind(node.inputs[0]), TupleType):
        return write_tuple_item(writer, node)
    index = writer.convert(writer.number(node.inputs[1]), INT, node)
    is_deque = writer.kinds.kind(node.inputs[0]) == DEQUE
    error = {"error": "deque index out of range"} if is_deque else {}
    return writer.add_list_op("get", node, node.inputs[0], index, **error)


@rule("object_apply.setitem")
def _set_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the replacement of an item of a list, or of the items in a slice."""
    value, index, item = node.inputs
    if kinds.kind(value) is None or kinds.kind_or_number_type(index) is None:
        return None
    if kinds.kind(value) == LIST and kinds.kind_or_number_type(index) == SLICE:
        return replace_rule(kinds, node)
    if kinds.kind(value) != LIST or not is_index(kinds.kind_or_number_type(index)):
        return False
    kinds.add_item(value, item)
    return set_none_result(kinds, node)


@rewrite_rule("object_apply.setitem")
def _write_set(writer: Writer, node: Node) -> list[Value]:
    value, index, item = node.inputs
    if writer.kinds.kind_or_number_type(index) == SLICE:
        return write_replace(writer, node)
    position = writer.convert(writer.number(index), INT, node)
    return writer.write_mutation("set", node, value, position, *writer.replacements(item))


@rule("object_length")
def _length_rule(kinds: Kinds, node: Node) -> bool | None:
    kind = kinds.kind(node.inputs[0])
    return None if kind is None else kind in (LIST, DEQUE) or isinstance(kind, TupleType)


@rewrite_rule("object_length")
def _write_length(writer: Writer, node: Node) -> list[Value]:
    kind = writer.kinds.kind(node.inputs[0])
    if isinstance(kind, TupleType):
        return [writer.add("constant", node, value=np.array(len(kind.items)), weak=True)]
    return writer.add_list_op("length", node, node.inputs[0])


@rule("object_method.append")
def _append_rule(kinds: Kinds, node: Node) -> bool | None:
    if kinds.kind(node.inputs[0]) not in (LIST, DEQUE) or len(node.inputs) != 2 or node.attributes["keywords"]:
        return None if kinds.kind(node.inputs[0]) is None else False
    kinds.add_item(*node.inputs)
    return set_none_result(kinds, node)


@rewrite_rule("object_method.append")
def _write_append(writer: Writer, node: Node) -> list[Value]:
    return writer.write_mutation("append", node, node.inputs[0], *writer.replacements(node.inputs[1]))


@rule("object_method.pop")
def _pop_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `pop` of a list, with or without an integer index, or of a deque, which takes no index."""
    value, *indices = node.inputs
    if kinds.kind(value) is None or (indices and kinds.kind_or_number_type(indices[0]) is None):
        return None
    if kinds.kind(value) not in (LIST, DEQUE) or len(indices) > 1 or node.attributes["keywords"]:
        return False
    if indices and kinds.kind(value) == DEQUE:
        return False
    if indices and not is_index(kinds.kind_or_number_type(indices[0])):
        return False
    return set_result_kind(kinds, node, kinds.content(value).kind)


@rewrite_rule("object_method.pop")
def _write_pop(writer: Writer, node: Node) -> list[Value]:
    value, *indices = node.inputs
    positions = [writer.convert(writer.number(index), INT, node) for index in indices]
    error = {"error": "pop from an empty deque"} if writer.kinds.kind(value) == DEQUE else {}
    return writer.add_list_op("pop", node, value, *positions, **error)


# ---- iteration


@rule("object_apply.enumerate")
def _enumerate_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `enumerate` of a list, without a start."""
    kind = kinds.kind_or_number_type(node.inputs[0])
    if kind is None:
        return None
    if kind != LIST or len(node.inputs) != 1:
        return False
    kinds.mark_derived_from_list(node.results[0], ENUMERATE, kinds.alias_class(node.inputs[0]))
    return kinds.kind(node.results[0]) == ENUMERATE


@rewrite_rule("object_apply.enumerate")
def _write_enumerate(writer: Writer, node: Node) -> list[Value]:
    return [writer.typed_list(node.inputs[0])]


@rule("object_iterate")
def _iterate_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the iterator over a list, or over an `enumerate` that starts at 0."""
    (value,) = node.inputs
    kind = kinds.kind(value)
    if kind is None:
        return None
    has_pairs = kind == ENUMERATE and not node.attributes.get("start")
    if kind != LIST and not has_pairs:
        return False
    list_class = kinds.content(value) if has_pairs else kinds.alias_class(value)
    kinds.mark_derived_from_list(node.results[0], PAIRS if has_pairs else CURSOR, list_class)
    return kinds.kind(node.results[0]) in (CURSOR, PAIRS)


@rewrite_rule("object_iterate")
def _write_iterate(writer: Writer, node: Node) -> list[Value]:
    start = writer.add("constant", node, value=np.array(node.attributes.get("start", 0)), weak=True)
    cursor = writer.add("typed_list_cursor", node, start, **_yielded_element_attribute(writer, node.results[0]))
    return [writer.typed_list(node.inputs[0]), cursor]


@rule("object_advance")
def _advance_rule(kinds: Kinds, node: Node) -> bool | None:
    kind = kinds.kind(node.inputs[0])
    return None if kind is None else kind in (CURSOR, PAIRS, INNER_LIST_CURSOR)


@rewrite_rule("object_advance")
def _write_advance(writer: Writer, node: Node) -> list[Value]:
    if writer.kinds.kind(node.inputs[0]) == INNER_LIST_CURSOR:
        return writer.copy_with_inner_lists(node)
    (value,) = node.inputs
    attributes = _yielded_element_attribute(writer, value)
    return [writer.add("typed_list_advance", node, *writer.replacements(value), **attributes)]


@rule("object_current")
def _current_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the current item of an iterator: a number, a pair, or an inner list."""
    (value,) = node.inputs
    kind = kinds.kind(value)
    if kind == PAIRS:
        kinds.mark_derived_from_list(node.results[0], PAIR, kinds.content(value))
        return kinds.kind(node.results[0]) == PAIR
    if kind == INNER_LIST_CURSOR:
        content = kinds.content(value).content
        assert content is not None
        kinds.unify(kinds.alias_class(node.results[0]), content)
        return True
    if kind != CURSOR:
        return None if kind is None else False
    return set_result_kind(kinds, node, _yielded_kind(kinds, value))


@rewrite_rule("object_current")
def _write_current(writer: Writer, node: Node) -> list[Value]:
    """Return the current item of a cursor; a pair is replaced by the cursor, from which it is read."""
    if writer.kinds.kind(node.inputs[0]) == INNER_LIST_CURSOR:
        return writer.copy_with_inner_lists(node)
    _, cursor = writer.replacements(node.inputs[0])
    if writer.kinds.kind(node.inputs[0]) == PAIRS:
        return [cursor]
    return writer.add_all("typed_list_current", node, cursor, **_yielded_element_attribute(writer, node.inputs[0]))


@rule("object_unpack")
def _unpack_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for the unpacking of a tuple, or of a pair of an `enumerate`, which has an int and an item of the list."""
    (value,) = node.inputs
    kind = kinds.kind(value)
    if isinstance(kind, TupleType):
        return unpack_rule(kinds, node)
    if kind != PAIR or node.attributes["count"] != 2 or node.attributes.get("star", -1) >= 0:
        return None if kind is None else False
    kinds.widen_kind_of(node.results[0], INT)
    kinds.widen_kind_of(node.results[1], _yielded_kind(kinds, value))
    return True


@rewrite_rule("object_unpack")
def _write_unpack(writer: Writer, node: Node) -> list[Value]:
    """Return the numbers of a tuple, or the position and the current item of a cursor over pairs."""
    (value,) = node.inputs
    if writer.kinds.kind(value) != PAIR:
        return [*writer.replacements(value)]
    (cursor,) = writer.replacements(value)
    current = writer.add_all("typed_list_current", node, cursor, **_yielded_element_attribute(writer, value))
    return [writer.add("typed_list_position", node, cursor), *current]


def _yielded_kind(kinds: Kinds, value: Value) -> Kind:
    """Return the kind of the numbers in the list that an iterator, or its current pair, comes from."""
    content = kinds.content(value).content
    return None if content is None else find_root(content).kind


def _yielded_element_attribute(writer: Writer, value: Value) -> dict[str, Any]:
    """Return the attribute `element` of an op on the iterator that replaces the value."""
    return {"element": _yielded_kind(writer.kinds, value)}
