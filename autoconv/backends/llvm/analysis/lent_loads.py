"""Loads of arrays that are read in place: which strides their readers use."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import At, Rest, Slice


def is_marked(node: Node) -> bool:
    """Return whether legalisation has found that the elements do not change until the last reader has run."""
    return bool(node.attributes.get("lent"))


def strides_of(value: Value) -> tuple[int | None, ...]:
    """Return the strides in bytes of the array that a value lends; None for those that registers hold."""
    assert value.node is not None
    type_ = value.node.inputs[0].type
    assert isinstance(type_, ArrayType)
    return type_.strides


def is_row(value: Value) -> bool:
    """Return whether the elements of a lent value lie side by side in one dimension."""
    return strides_of(value) == (value.dtype.size,)


def is_matrix(value: Value) -> bool:
    """Return whether a lent value is a part of a C-contiguous array whose rows a BLAS can read in place."""
    assert value.node is not None
    strides, array = strides_of(value), value.node.inputs[0]
    if len(strides) != 2 or strides[1] != value.dtype.size or strides[0] is None:
        return False
    while array.node is not None and array.node.op.name == "array_view":
        spec = array.node.attributes["spec"]
        if not all(isinstance(e, (At, Rest)) or (isinstance(e, Slice) and e.step in (None, 1)) for e in spec):
            return False
        array = array.node.inputs[0]
    type_ = array.type
    return isinstance(type_, ArrayType) and type_.is_dense and type_.rank > 1 and type_.strides[-2] == strides[0]
