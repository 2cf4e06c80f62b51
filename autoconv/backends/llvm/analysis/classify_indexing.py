"""Classify gathers, scatters and updates: which of them have loops.

Symbolic shapes must agree; else the kernel runs, which sees arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.indexing import form_of_positions, is_indexed, item_shape, positions, updates
from autoconv.backends.llvm.analysis.representation import elements_of, is_dense, is_scalar
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension, Symbol, Type
from autoconv.ops.index_spec import At, Gather, NewAxis, Rest, Slice, is_fixed
from autoconv.ops.rules import broadcast_shapes

Known = tuple[Dimension, ...]


def indexed_role(node: Node) -> str:
    """Return the role of a node for which `is_indexed` holds."""
    (result,) = node.results
    if any(is_narrow(value.dtype) for value in (*node.inputs, result)):
        return "kernel"
    scatter, by_items = node.op.traits.scatter, form_of_positions(node) == "items"
    if not all(is_dense(value.type) for value in (result, *([] if by_items else positions(node)))):
        return "kernel"
    if not (_items if by_items else _arrays)(node):
        return "kernel"
    if scatter is None:
        return "view"
    return "kernel" if result.dtype.is_bool and scatter.combine not in (None, "add") else "scatter"


def _arrays(node: Node) -> bool:
    """Return whether the part has the shape that a single array of positions implies."""
    traits, by = node.op.traits, form_of_positions(node)
    scatters = traits.scatter is not None
    (shape,) = (shape_of(value.type) for value in positions(node))
    whole = shape_of((node.results[0] if scatters else node.inputs[0]).type)
    part = shape_of((updates(node) if scatters else node.results[0]).type)
    batch = int(node.attributes.get("batch_dims", 0))
    has_size_operand = traits.sizes is not None and len(node.inputs) > traits.sizes.position
    if shape[:batch] != whole[:batch] or has_size_operand:
        return False
    if by == "vectors":
        depth = shape[-1]
        return isinstance(depth, int) and part == (*shape[:-1], *whole[batch + depth :])
    axis = int(node.attributes.get("axis", 0)) % len(whole)
    if by == "along":
        return part == shape == (*whole[:axis], shape[axis], *whole[axis + 1 :])
    return part == (*whole[:axis], *shape[batch:], *whole[axis + 1 :])


def is_update(node: Node) -> bool:
    """Return whether single indices and constant slices give the written part, and the value broadcasts into it."""
    if not is_fixed(node.attributes["spec"], Rest, At, Slice):
        return False
    part = item_shape(node)
    return part is not None and None not in part and goes_into(shape_of(node.inputs[1].type), part)


def is_indexed_store(node: Node) -> bool:
    """Return whether arrays of positions determine where elements go in an array in memory."""
    dtypes = [value.dtype for value in node.inputs]
    if not is_indexed(node) or any(is_narrow(dtype) or not is_native(dtype) for dtype in dtypes):
        return False
    return None not in shape_of(elements_of(node.inputs[0].type)) and _items(node)


def _items(node: Node) -> bool:
    """Return whether a subscript's part has known shape, and the updates go into it by broadcasting ones alone."""
    entries = is_fixed(node.attributes["spec"], NewAxis, Rest, At, Gather, Slice)
    operands = node.inputs if node.results else node.inputs[1:]
    if not entries or not all(is_dense(value.type) or is_scalar(value.type) for value in operands):
        return False
    part = item_shape(node)
    if part is None or None in part:
        return False
    arrays = [shape_of(value.type) for value in positions(node)]
    common = broadcast_shapes(*arrays)
    if common is None or not all(goes_into(shape, common) for shape in arrays):
        return False
    if node.op.traits.scatter is None and node.results:
        return part == shape_of(node.results[0].type)
    symbols = {size for value in (*node.inputs, *node.results) for size in shape_of(elements_of(value.type))}
    registers = all(size in symbols for size in part if isinstance(size, Symbol))
    return registers and goes_into(shape_of(node.inputs[1].type), part)


def goes_into(own: Sequence[Dimension], whole: Sequence[Dimension]) -> bool:
    """Return whether a shape broadcasts to another one by dimensions of size 1 alone, leading ones dropped."""
    while len(own) > len(whole) and own[0] == 1:
        own = own[1:]
    return len(own) <= len(whole) and all(
        size in (1, other) for size, other in zip(own, whole[len(whole) - len(own) :], strict=True)
    )


def shape_of(type_: Type) -> Known:
    shape: Known = type_.shape  # type: ignore[union-attr,assignment]
    return shape
