"""Rules for tuples of numbers, which are replaced by their numbers: items, unpacking, comparisons.

    before   %pair = object_build(%x, %y, class_name='tuple'): object<tuple>
             %less = object_apply(%pair, %other, function='lt', keywords=()): object<any>
    after    %first = python_less(%x, %other_0): weak bool[]
             %same = python_equal(%x, %other_0): weak bool[]
             %second = python_less(%y, %other_1): weak bool[]
             %less = logical_or(%first, logical_and(%same, %second)): weak bool[]

Python compares the items of tuples by identity before it compares them by value, which differs for a NaN. So tuples
with floats are compared as objects; lists of them can be ordered where the call can run again as plain Python.
"""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TensorType, TupleType
from autoconv.ops.lists.item_layout import fields, has_floats
from autoconv.ops.python.objects import constant_of
from autoconv.optimise.unboxing.kind_inference import Kinds
from autoconv.optimise.unboxing.kinds import BOOL, INT, OTHER, Kind, is_item, is_python_number
from autoconv.optimise.unboxing.traversal import yielded_kind
from autoconv.optimise.unboxing.writer import Writer

_EQUALITIES = ("eq", "ne")


def tuple_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for a tuple of Python's numbers, or of tuples of them."""
    kind, is_refused = _kind_of_tuple([kinds.kind_or_number_type(value) for value in node.inputs])
    kinds.widen_kind_of(node.results[0], OTHER if is_refused else kind)
    if is_refused:
        return False
    return None if kind is None else kinds.kind(node.results[0]) != OTHER


def _kind_of_tuple(item_kinds: list[Kind]) -> tuple[Kind, bool]:
    """Return the kind of a tuple, None if it is not decided yet, and whether its items are of other kinds."""
    known_kinds = [kind for kind in item_kinds if kind is not None]
    if not item_kinds or not all(isinstance(kind, TupleType) or is_python_number(kind) for kind in known_kinds):
        return None, True
    if len(known_kinds) < len(item_kinds):
        return None, False
    return TupleType(tuple(known_kinds)), False  # type: ignore[arg-type]


def unpack_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether `a, b = pair` gives numbers; record their kinds."""
    kind = _tuple_kind(kinds, node)
    if node.attributes["count"] != len(kind.items) or node.attributes.get("star", -1) >= 0:
        return False
    for value, item_kind in zip(node.results, kind.items, strict=True):
        kinds.widen_kind_of(value, item_kind)  # type: ignore[arg-type]
    return all(is_item(kinds.kind(value)) for value in node.results)


def tuple_item_rule(kinds: Kinds, node: Node) -> bool:
    """Return whether `pair[0]` with a constant index gives numbers; record their kinds."""
    position = _position(kinds, node)
    if position is None:
        return False
    kinds.widen_kind_of(node.results[0], _tuple_kind(kinds, node).items[position])  # type: ignore[arg-type]
    return is_item(kinds.kind(node.results[0]))


def write_tuple_item(writer: Writer, node: Node) -> list[Value]:
    """Return the numbers of the item."""
    position = _position(writer.kinds, node)
    assert position is not None
    kind = _tuple_kind(writer.kinds, node)
    start, stop = (len(fields(TupleType(kind.items[:count]))) for count in (position, position + 1))
    return [*writer.replacements(node.inputs[0])[start:stop]]


def _tuple_kind(kinds: Kinds, node: Node) -> TupleType:
    """Return the kind of the node's first operand, a tuple."""
    kind = kinds.kind(node.inputs[0])
    assert isinstance(kind, TupleType)
    return kind


def _position(kinds: Kinds, node: Node) -> int | None:
    """Return the constant index of an item from the start; None for any other index."""
    index, count = constant_of(node.inputs[1]), len(_tuple_kind(kinds, node).items)
    return index % count if type(index) is int and -count <= index < count else None


def comparison_rule(kinds: Kinds, node: Node) -> bool | None:
    """Rule for comparisons of two tuples of one kind without floats."""
    first, second = (kinds.kind_or_number_type(value) for value in (*node.inputs, *node.inputs)[:2])
    if len(node.inputs) != 2 or node.attributes["function"] not in ("eq", "ne", "lt", "le", "gt", "ge"):
        return False
    if None in (first, second):
        return None
    if first != second or not is_exact(first):
        return False
    kinds.widen_kind_of(node.results[0], BOOL)
    return kinds.kind(node.results[0]) != OTHER


def write_comparison(writer: Writer, node: Node) -> Value:
    """Return the result of a comparison of tuples, which the first different numbers decide."""
    function = node.attributes["function"]
    pairs = list(zip(*map(writer.replacements, node.inputs), strict=True))
    last_comparison = {"eq": "equal", "ne": "equal", "lt": "less", "le": "less_equal", "gt": "greater",
                       "ge": "greater_equal"}[function]  # fmt: skip
    first_comparison = last_comparison.removesuffix("_equal")
    result = writer.add(f"python_{last_comparison}", node, *pairs[-1])
    for pair in reversed(pairs[:-1]):
        result = writer.add("logical_and", node, writer.add("python_equal", node, *pair), result)
        if function not in _EQUALITIES:
            is_decided = writer.add(f"python_{first_comparison}", node, *pair)
            result = writer.add("logical_or", node, is_decided, result)
    return writer.add("logical_not", node, result) if function == "ne" else result


def is_exact(kind: Kind) -> bool:
    """Return whether the kind is that of ints, bools or tuples of these: equal ones are the same."""
    if isinstance(kind, TupleType):
        return not has_floats(kind)
    return isinstance(kind, TensorType) and kind in (INT, BOOL)


def is_orderable(kinds: Kinds, node: Node) -> bool:
    """Return whether the items that the first operand, a list or dict, yields can be ordered in native code.

    Tuples with floats can where a NaN makes the call run again as plain Python.
    """
    kind = yielded_kind(kinds, node.inputs[0])
    return not isinstance(kind, TupleType) or is_exact(kind) or node not in kinds.late_nodes
