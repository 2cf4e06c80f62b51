"""Sizes of tensors that are loaded from arrays in memory, or from parts of arrays."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import has_computed_sizes
from autoconv.backends.llvm.ir.types import is_native
from autoconv.backends.llvm.legalize.computed_size_rules import rule
from autoconv.backends.llvm.legalize.computed_sizes import SizeRewriter, shape_of
from autoconv.backends.llvm.legalize.size_nodes import NUMBER_SIZES
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, Dimension, TensorType
from autoconv.ops import OPS
from autoconv.ops.index_spec import INPUT, At, Rest, Slice, align

_INT = TensorType(int64, ())


@rule("array_load")
def _load(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Name the unknown sizes of a loaded array by the sizes of the array in memory."""
    (x,) = inputs
    if not isinstance(x.type, ArrayType) or not is_native(x.type.dtype) or not x.type.rank:
        return None
    shape = []
    for axis, size in enumerate(x.type.shape):
        shape.append(_size_of_array(rewriter, x, axis) if size is None else size)
    return rewriter.add_with_shape(node, inputs, shape)


def _size_of_array(rewriter: SizeRewriter, x: Value, axis: int) -> Dimension:
    """Return the size of the tensor that an array was made of, or a symbol, which a node reads if it is new."""
    size = _size_of_source(rewriter, x, axis)
    if size is not None:
        return size
    key = _size_key(x, axis)

    def define(symbols: Any) -> None:
        number = rewriter.add(OPS["array_size"], [x], {"axis": axis}, [_INT])
        rewriter.add(NUMBER_SIZES, [number], {"op": "fill", "shape": (None,), "defines": symbols})

    (symbol,) = rewriter.symbols_of(key, define)
    return symbol  # type: ignore[no-any-return]


def _size_of_source(rewriter: SizeRewriter, x: Value, axis: int) -> Dimension:
    """Return the named size of the tensor from which an array was made, directly or by sizes of another array.

    None if there is no such tensor.
    """
    while x in rewriter.outer_arrays or (x.node is not None and x.node.op.name == "array_part"):
        x = rewriter.outer_arrays[x] if x.node is None else x.node.inputs[0]
    node = x.node
    if node is not None and node.op.name == "array_of":
        source = node.inputs[0]
        return shape_of(source)[axis] if has_computed_sizes(source.type) else None
    if node is not None and node.op.name == "array_new":
        shape = node.attributes["shape"]
        number = node.inputs[shape[:axis].count(INPUT)].node if shape[axis] == INPUT else None
        if number is not None and number.op.name == "array_size":
            return _size_of_source(rewriter, number.inputs[0], number.attributes["axis"])
    return None


def _size_key(x: Value, axis: int) -> tuple[Any, ...]:
    """Return a key of an array's size; it is equal for arrays that are sliced alike from dimensions of equal size."""
    node = x.node
    if node is not None and node.op.name == "array_part":
        return _size_key(node.inputs[0], axis)
    if node is not None and node.op.name == "array_view":
        source: Any = node.inputs[0].type
        result_axis = 0
        for entry, operands, source_axis, width in align(node.attributes["spec"], source.rank, node.inputs[1:]):
            if isinstance(entry, At):
                continue
            if result_axis <= axis < result_axis + (width if isinstance(entry, Rest) else 1):
                if isinstance(entry, (Slice, Rest)):
                    sliced_axis = source_axis + axis - result_axis
                    size = source.shape[sliced_axis]
                    whole_key = ("size", size) if size is not None else _size_key(node.inputs[0], sliced_axis)
                    is_whole = isinstance(entry, Rest) or entry.is_whole
                    bounds = entry.with_operands(operands)
                    return whole_key if is_whole else ("array slice", whole_key, _slice_key(bounds))
                break
            result_axis += width if isinstance(entry, Rest) else 1
    return "array", x, axis


def _slice_key(bounds: tuple[Any, Any, Any]) -> Any:
    """Return a key of a slice's length: the number of elements cut off, as in `x[1:]` and `x[:-1]`, or its bounds."""
    start, stop, step = bounds
    are_numbers = all(bound is None or isinstance(bound, int) for bound in bounds)
    if not are_numbers or step not in (None, 1):
        return bounds
    cuts_off_ends = (start or 0) >= 0 and (stop is None or stop < 0)
    if not cuts_off_ends:
        return bounds
    return (start or 0) - (stop or 0)
