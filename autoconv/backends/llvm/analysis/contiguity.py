"""Contiguous views: the same elements in the same order in memory, so that consumers can read the source instead."""

from __future__ import annotations

from collections.abc import Collection

from autoconv.backends.llvm.analysis.representation import is_array, is_dense
from autoconv.graph.graph import Value
from autoconv.ops.index_spec import INPUT

_SAME_ORDER = frozenset({"reshape", "reshape_like", "expand_dims", "squeeze"})


def is_contiguous(value: Value) -> bool:
    """Return whether a view has all elements of its source, at the same offsets in memory."""
    node = value.node
    if node is None or not node.inputs or not is_dense(node.inputs[0].type):  # a number has no memory
        return False
    if node.op.name == "get_item":
        return all(entry[0] in ("newaxis", "ellipsis") or _is_whole(entry) for entry in node.attributes["spec"])
    return node.op.name in _SAME_ORDER


def _is_whole(entry: tuple[object, ...]) -> bool:
    return entry[0] == "slice" and entry[1] in (None, 0) and entry[2] is None and entry[3] in (None, 1)


def is_block(value: Value) -> bool:
    """Return whether the elements of a view are contiguous in its source.

    That holds if numbers index the first dimensions, the next one is sliced with step 1, and all others are whole.
    """
    node = value.node
    if node is None or node.op.name != "get_item" or not is_array(node.inputs[0].type):
        return False
    kinds = [entry for entry in node.attributes["spec"] if entry[0] != "ellipsis"]
    if len(kinds) < len(node.attributes["spec"]) and node.attributes["spec"][-1][0] != "ellipsis":
        return False
    while kinds and kinds[0][0] == "int":
        kinds = kinds[1:]
    if kinds and kinds[0][0] == "slice" and INPUT not in kinds[0] and kinds[0][3] in (None, 1):
        kinds = kinds[1:]
    return all(entry[0] == "slice" and _is_whole(entry) for entry in kinds)


def base_of(value: Value, views: Collection[Value]) -> Value:
    """Return the source of a contiguous view, through further views; any other value is its own base."""
    while value in views and is_contiguous(value):
        assert value.node is not None
        value = value.node.inputs[0]
    return value
