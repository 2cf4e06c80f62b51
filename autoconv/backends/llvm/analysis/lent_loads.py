"""Strides of *lent* values: arrays loaded from memory that their readers read in place, without a copy."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import At, Rest, Slice


def is_lent_load(node: Node) -> bool:
    """Return whether a load lends its array: legalisation proved that no element changes before the last read."""
    return bool(node.attributes.get("lent"))


def strides_of(value: Value) -> tuple[int | None, ...]:
    """Return the strides in bytes of the array that a lent value was loaded from; None for strides in registers."""
    assert value.node is not None
    type_ = value.node.inputs[0].type
    assert isinstance(type_, ArrayType)
    return type_.strides


def is_contiguous_row(value: Value) -> bool:
    """Return whether the elements of a lent value lie side by side in one dimension."""
    return strides_of(value) == (value.dtype.size,)


def is_blas_matrix(value: Value) -> bool:
    """Return whether a lent value is a matrix that BLAS can read in place: a part of a C-contiguous array."""
    assert value.node is not None
    strides, array = strides_of(value), value.node.inputs[0]
    if len(strides) != 2 or strides[1] != value.dtype.size or strides[0] is None:
        return False
    while array.node is not None and array.node.op.name == "array_view":
        spec = array.node.attributes["spec"]
        entries = [entry for entry in spec if not isinstance(entry, (At, Rest))]
        if not all(isinstance(entry, Slice) and entry.step in (None, 1) for entry in entries):
            return False
        array = array.node.inputs[0]
    type_ = array.type
    return isinstance(type_, ArrayType) and type_.is_dense and type_.rank > 1 and type_.strides[-2] == strides[0]
