"""Rules for dicts of numbers or tuples, and for sets, with ints or tuples of ints as keys.

    before   %seen = object_build(class_name='dict'): object<dict>
             %put = object_apply(%seen, %key, %x, function='setitem', keywords=()): object<any>
    after    %entries = typed_list_make(element=tuple<weak int64[], weak float64[]>): object<numbers>
             %index = typed_dict_index(): object<numbers>
             %put = typed_dict_set(%entries, %index, %key, %x, element=…, has_values=True): ()

Equal keys have one type, so that each entry shows the key that was inserted first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ObjectType, TensorType, TupleType
from autoconv.ops import OPS
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.entries import entry_kind
from autoconv.optimise.unboxing.kind_inference import Kinds, dict_rule, rule
from autoconv.optimise.unboxing.kinds import (
    BOOL,
    COUNTER,
    DEFAULT_DICTS,
    DICT,
    DICTS,
    FLOAT,
    INT,
    LIST,
    LIST_DICT,
    OTHER,
    ROW,
    SET,
    DictPart,
    Kind,
    is_python_number,
)
from autoconv.optimise.unboxing.whole_lists import set_none_result, set_result_kind
from autoconv.optimise.unboxing.writer import Writer, dict_rewrite_rule, rewrite_rule

_FLOAT_OPERATORS = frozenset({"add", "iadd", "sub", "isub", "mul", "imul", "truediv", "itruediv",
                              "eq", "ne", "lt", "le", "gt", "ge"})  # fmt: skip
_MAX_EXACT_INT = 1 << 53  # floats hold all ints up to it
_MAX_DISPLAY = 4  # keys of a set display; Python may insert more of them at once, which gives another order


def is_key(kind: Kind) -> bool:
    """Return whether the kind is that of ints, or of tuples of ints, which may nest."""
    return all(map(is_key, kind.items)) if isinstance(kind, TupleType) else kind == INT  # type: ignore[arg-type]


def is_value(kind: Kind) -> bool:
    """Return whether the kind is that of a number of Python's, of a tuple of these, or of the place of a list."""
    return isinstance(kind, TupleType) or is_python_number(kind) or kind == ROW


def attributes_of(writer: Writer, value: Value) -> dict[str, Any]:
    """Return the attributes of an op on a dict or set, or on the dict or set of a view or an iterator."""
    kind = writer.kinds.kind(value)
    has_values = kind.part != "set" if isinstance(kind, DictPart) else kind in DICTS
    return {"element": entry_kind(writer.kinds, value), "has_values": has_values}


def default_of(kinds: Kinds, value: Value) -> TensorType | None:
    """Return the kind of the value that the dict has for missing keys; None if there is none."""
    kind = kinds.kind(value)
    return INT if kind == COUNTER else DEFAULT_DICTS.get(kind)  # type: ignore[arg-type]


def add_dict_op(
    writer: Writer, name: str, node: Node, value: Value, *operands: Value, **attributes: Any
) -> list[Value]:
    """Add an op on the entries and the index of a dict or set; return its results."""
    pair = writer.replacements(value)[:2]
    attributes |= attributes_of(writer, value)
    return writer.add_all(f"typed_dict_{name}", node, *pair, *operands, **attributes)


def write_none(writer: Writer, node: Node) -> list[Value]:
    """Return a None for each used result."""
    used_results = [value for value in node.results if value in writer.kinds.used_values]
    return [writer.add("object_constant", node, value=None) for _ in used_results]


def _numbers(writer: Writer, *values: Value) -> list[Value]:
    return [number for value in values for number in writer.replacements(value)]


# ---- construction


@rule("object_build.dict", "object_build.set")
def _display_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for displays of dicts and sets."""
    class_name = node.attributes["class_name"]
    if _may_serve_handlers(node) or kinds.mark_list(node, class_name) is None:
        return False
    if class_name == SET:
        has_known_order = len(node.inputs) <= _MAX_DISPLAY
        return has_known_order and _join_answers(_add_key(kinds, node.results[0], key) for key in node.inputs)
    pairs = zip(node.inputs[::2], node.inputs[1::2], strict=True)
    return _join_answers(_add_entry(kinds, node.results[0], *pair) for pair in pairs)


def _may_serve_handlers(node: Node) -> bool:
    """Return whether a `try` captures an empty dict, which may hold values for its handlers.

    Backends promote the values of such dicts to cells.
    """
    value = node.results[0]
    readers = [reader for reader in value.graph.nodes if value in reader.inputs] if not node.inputs else []
    return any(len(reader.regions) == 3 and not reader.op.traits.selects for reader in readers)


def _join_answers(answers: Any) -> bool | None:
    """Return the answer for several conditions of a rule: False if one is False, else None if one is undecided."""
    found = set(answers)
    return False if False in found else None if None in found else True


@rewrite_rule("object_build.dict", "object_build.set")
def _write_display(writer: Writer, node: Node) -> list[Value]:
    """Write a new dict or set, and its entries."""
    target = node.results[0]
    writer.values[target] = write_empty(writer, node)
    step = 2 if writer.kinds.kind(target) in DICTS else 1
    for start in range(0, len(node.inputs), step):
        write_store(writer, node, target, *node.inputs[start : start + step])
    return [*writer.replacements(target)]


def write_empty(writer: Writer, node: Node) -> tuple[Value, ...]:
    """Write a new dict or set; return its entries, their index, and the lists of a dict of lists."""
    (target,) = node.results
    entries = writer.add("typed_list_make", node, **writer.element_attribute(target))
    index = writer.add("typed_dict_index", node)
    if writer.kinds.kind(target) == SET or writer.kinds.list_values(target) is None:
        return entries, index
    attributes = {"class_name": "list"}
    lists = writer.graph.add_replacement(node, OPS["object_build"], [], attributes, types=[ObjectType("list")])
    return entries, index, *lists.results


@rule("object_apply.dict")
def _dict_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether the node is `dict()`; mark its result."""
    return not node.inputs and kinds.mark_list(node, DICT) is not None


@rewrite_rule("object_apply.dict")
def _write_dict(writer: Writer, node: Node) -> list[Value]:
    return [*write_empty(writer, node)]


# ---- entries


def _add_key(kinds: Kinds, target: Value, key: Value) -> bool | None:
    """Note that a key is added to a set; return a rule's answer (see `Rule`)."""
    kind = kinds.kind_or_number_type(key)
    if kind is None or not is_key(kind):
        return None if kind is None else False
    kinds.raise_kind(kinds.content(target), kind)
    return kinds.content(target).kind != OTHER


def _add_entry(kinds: Kinds, target: Value, key: Value, value: Value) -> bool | None:
    """Note that a dict gets an entry; return a rule's answer."""
    kind = kinds.kind_or_number_type(value)
    if kind != LIST:
        return add_entry(kinds, target, key, kind)
    if kinds.kind(target) not in (DICT, LIST_DICT):
        return False
    is_supported = add_entry(kinds, target, key, ROW)
    if is_supported:
        kinds.add_list_value(target, value)
    return is_supported


def add_entry(kinds: Kinds, target: Value, key: Value, value_kind: Kind) -> bool | None:
    """Note that a dict gets an entry with a value of the kind; return a rule's answer."""
    key_kind = kinds.kind_or_number_type(key)
    if (key_kind is not None and not is_key(key_kind)) or (value_kind is not None and not is_value(value_kind)):
        return False
    if None in (key_kind, value_kind):
        return None
    kinds.raise_kind(kinds.content(target), TupleType((key_kind, value_kind)))  # type: ignore[arg-type]
    return kinds.content(target).kind != OTHER


@dict_rule("object_apply.setitem")
def _entry_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d[key] = value`."""
    if kinds.kind(node.inputs[0]) not in DICTS:
        return False
    return _join_answers([_add_entry(kinds, *node.inputs), set_none_result(kinds, node)])


@dict_rewrite_rule("object_apply.setitem", "object_method.add")
def _write_entry(writer: Writer, node: Node) -> list[Value]:
    """Write the store of an entry."""
    write_store(writer, node, *node.inputs)
    return write_none(writer, node)


def write_store(writer: Writer, node: Node, target: Value, *operands: Value) -> None:
    """Write the store of a key in a set, or of a key and its value, which may be a list, in a dict."""
    numbers = _numbers(writer, *operands)
    if writer.kinds.kind(target) != SET and writer.kinds.list_values(target) is not None:
        add_dict_op(writer, "set_list", node, target, writer.replacements(target)[-1], *numbers)
    else:
        add_dict_op(writer, "set", node, target, *numbers)


@dict_rule("object_method.add")
def _add_rule(kinds: Kinds, node: Node) -> bool | None:
    kind = kinds.kind(node.inputs[0])
    if kind != SET or len(node.inputs) != 2:
        return None if kind is None else False
    return _join_answers([_add_key(kinds, *node.inputs), set_none_result(kinds, node)])


def key_matches(kinds: Kinds, node: Node) -> bool | None:
    """Return whether the second operand is a key of the kind that the dict or set, the first one, has."""
    kind, entry = kinds.kind_or_number_type(node.inputs[1]), entry_kind(kinds, node.inputs[0])
    if kind is None or entry is None:
        return None
    if entry == OTHER:
        return False
    return kind == (entry.items[0] if kinds.kind(node.inputs[0]) in DICTS else entry)  # type: ignore[union-attr]


@dict_rule("object_apply.getitem")
def _value_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d[key]`."""
    if kinds.kind(node.inputs[0]) not in DICTS:
        return False
    default_kind = default_of(kinds, node.inputs[0])
    if default_kind is not None and kinds.kind(node.inputs[0]) != COUNTER:
        add_entry(kinds, node.inputs[0], node.inputs[1], default_kind)
    if default_kind is not None:
        kinds.widen_kind_of(node.results[0], default_kind)
    is_supported = key_matches(kinds, node)
    if not is_supported:
        return is_supported
    value_kind = entry_kind(kinds, node.inputs[0]).items[1]  # type: ignore[union-attr]
    return default_kind in (None, value_kind) and set_result_kind(kinds, node, value_kind)  # type: ignore[arg-type]


@dict_rewrite_rule("object_apply.getitem")
def _write_value(writer: Writer, node: Node) -> list[Value]:
    """Write the read of a value, or of the default of the dict."""
    value, *operands = node.inputs
    numbers, default_kind = _numbers(writer, *operands), default_of(writer.kinds, value)
    if default_kind is None:
        return add_dict_op(writer, "get", node, value, *numbers)
    assert isinstance(default_kind, TensorType)
    default = writer.add("constant", node, value=np.zeros((), default_kind.dtype.numpy), weak=True)
    inserts = writer.kinds.kind(value) != COUNTER
    return add_dict_op(writer, "get", node, value, *numbers, default, inserts=inserts)


@dict_rule("object_method.get", "object_method.setdefault")
def _default_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `d.get(key, default)` and `d.setdefault(key, default)`."""
    kind = kinds.kind(node.inputs[0])
    if kind not in DICTS or len(node.inputs) != 3 or node.attributes.get("keywords"):
        return None if kind is None else False
    default_kind, is_setdefault = kinds.kind_or_number_type(node.inputs[2]), node.attributes["name"] == "setdefault"
    if default_kind == LIST:  # the list makes the dict a dict of lists, for which another rule is the next
        return _join_answers([None, _add_entry(kinds, *node.inputs)]) if is_setdefault else None
    if default_kind is not None and not is_value(default_kind):
        return False
    entry = entry_kind(kinds, node.inputs[0])
    value_kind = entry.items[1] if isinstance(entry, TupleType) else None
    is_float = default_kind == INT and value_kind in (FLOAT, None) and _meets_floats(kinds, node)
    if is_float and (value_kind == FLOAT or kinds.assumes_floats):
        kinds.widen_kind_of(node.results[0], FLOAT)
    elif is_float is False or kinds.assumes_floats:
        kinds.widen_kind_of(node.results[0], default_kind)
    is_supported = key_matches(kinds, node)
    if is_setdefault:
        is_supported = _add_entry(kinds, *node.inputs)
    if not is_supported:
        return is_supported
    set_result_kind(kinds, node, entry_kind(kinds, node.inputs[0]).items[1])  # type: ignore[arg-type, union-attr]
    return kinds.kind(node.results[0]) != OTHER


def _meets_floats(kinds: Kinds, node: Node) -> bool | None:
    """Return whether `d.get(key, 0)` meets only floats, so that it may give 0.0; None if that is undecided."""
    (result,) = node.results
    default = constant_of(node.inputs[2])
    if node.attributes["name"] != "get" or type(default) is not int or abs(default) > _MAX_EXACT_INT:
        return False
    graph = result.graph
    readers = [reader for reader in graph.nodes if result in reader.inputs]
    if result in graph.outputs:
        return False
    return _join_answers(_is_float_arithmetic(kinds, reader, result) for reader in readers)


def _is_float_arithmetic(kinds: Kinds, node: Node, value: Value) -> bool | None:
    """Return whether the node is a sum, difference, product, quotient or comparison of the value and a float."""
    if node.op.name != "object_apply" or node.attributes["function"] not in _FLOAT_OPERATORS or len(node.inputs) != 2:
        return False
    operands = [operand for operand in node.inputs if operand is not value]
    if not operands:  # the value meets itself
        return False
    kind = kinds.kind_or_number_type(operands[0])
    return None if kind is None else kind == FLOAT


@dict_rewrite_rule("object_method.get", "object_method.setdefault")
def _write_default(writer: Writer, node: Node) -> list[Value]:
    """Write the read of a value or of the default, which `setdefault` stores."""
    value, key, default = node.inputs
    value_kind: Kind = entry_kind(writer.kinds, value).items[1]  # type: ignore[assignment, union-attr]
    numbers = writer.item(default, value_kind, node)
    result = add_dict_op(writer, "get", node, value, *writer.replacements(key), *numbers)
    if node.attributes["name"] == "setdefault":
        add_dict_op(writer, "set", node, value, *writer.replacements(key), *result)
    return result


@dict_rule("object_apply.contains")
def _membership_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for `key in d`."""
    if isinstance(kinds.kind(node.inputs[0]), DictPart):
        return False
    is_supported = key_matches(kinds, node)
    return is_supported and set_result_kind(kinds, node, BOOL)


@dict_rewrite_rule("object_apply.contains")
def _write_membership(writer: Writer, node: Node) -> list[Value]:
    """Write the test of a key."""
    return add_dict_op(writer, "contains", node, node.inputs[0], *writer.replacements(node.inputs[1]))


def dict_length(writer: Writer, node: Node, value: Value) -> Value:
    """Return the number of entries of a dict or set, or of the dict of a view; removals may leave holes in the list."""
    if writer.kinds.removal_nodes:
        return add_dict_op(writer, "length", node, value)[0]
    return writer.add("typed_list_length", node, writer.typed_list(value), element=entry_kind(writer.kinds, value))


@dict_rule("object_length", "object_truth")
def _length_rule(kinds: Kinds, node: Node) -> bool:
    return True


@dict_rewrite_rule("object_length", "object_truth")
def _write_length(writer: Writer, node: Node) -> list[Value]:
    (value,) = node.inputs
    length = dict_length(writer, node, value)
    return [length if node.op.name == "object_length" else writer.convert(length, BOOL, node)]


@dict_rule("object_check_assigned")
def _check_assigned_rule(kinds: Kinds, node: Node) -> bool:
    kinds.unify(kinds.alias_class(node.inputs[0]), kinds.alias_class(node.results[0]))
    return True


@dict_rewrite_rule("object_check_assigned")
def _write_check_assigned(writer: Writer, node: Node) -> list[Value]:
    return [*writer.replacements(node.inputs[0])]
