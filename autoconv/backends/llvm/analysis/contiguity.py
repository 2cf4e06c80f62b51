"""Views that are their whole source or a contiguous part of it, so that consumers can read the memory of the source."""

from __future__ import annotations

import math
from collections.abc import Collection

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, is_static_array, sizes
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Type
from autoconv.ops.index_spec import At, Entry, NewAxis, Rest, Slice

_LONG_ROW_BYTES = 256  # least size of a long row


def is_whole_source(value: Value) -> bool:
    """Return whether a view has all elements of its source, of known or open sizes, at the same offsets in memory."""
    node = value.node
    if node is None or not node.inputs or not is_dense(node.inputs[0].type):  # scalars are in registers
        return False
    if node.op.name == "get_item":
        return all(isinstance(entry, (NewAxis, Rest)) or _is_whole(entry) for entry in node.attributes["spec"])
    return node.op.traits.same_order


def _is_whole(entry: Entry) -> bool:
    """Return whether an entry of an index selects a whole dimension."""
    return isinstance(entry, Slice) and entry.is_whole


def is_contiguous_part(value: Value) -> bool:
    """Return whether the elements of a view are contiguous in its source, whose sizes are known.

    That holds if numbers index the first dimensions, the next one is sliced with step 1 between constant bounds, and
    all others are whole.
    """
    node = value.node
    if node is None or node.op.name != "get_item" or not is_static_array(node.inputs[0].type):
        return False
    spec = node.attributes["spec"]
    if Rest() in spec[:-1]:
        return False
    entries = [entry for entry in spec if entry != Rest()]
    while entries and isinstance(entries[0], At):
        entries = entries[1:]
    first = entries[0] if entries else None
    if isinstance(first, Slice) and not first.operand_count and first.step in (None, 1):
        entries = entries[1:]
    return all(map(_is_whole, entries))


def base_of(value: Value, views: Collection[Value]) -> Value:
    """Return the source of a view of its whole source, through further views; any other value is its own base.

    `views` are the plan's views: values that consumers read in their source.
    """
    while value in views and is_whole_source(value):
        assert value.node is not None
        value = value.node.inputs[0]
    return value


def has_long_rows(type_: Type, axis: int) -> bool:
    """Return whether the elements from an axis on are so many that copies of parts of them are quick."""
    if not is_static_array(type_) or not is_native(type_.dtype) or is_narrow(type_.dtype):  # type: ignore[union-attr]
        return False
    shape = sizes(type_)
    return math.prod(shape[axis % len(shape) :]) * type_.dtype.size >= _LONG_ROW_BYTES  # type: ignore[union-attr]


def is_rotation(node: Node) -> bool:
    """Return whether a roll rotates long rows along one axis, by a shift that is an operand."""
    if len(node.inputs) != 2 or len(node.attributes["axis"]) != 1 or not is_scalar(node.inputs[1].type):
        return False
    return has_long_rows(node.inputs[0].type, node.attributes["axis"][0])
