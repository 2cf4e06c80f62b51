"""Classify gathers, scatters and updates by whether native loops can compute them.

Native loops need shapes that agree symbolically; otherwise the kernel runs, on arrays with their actual shapes.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.indexing import (
    form_of_positions,
    has_position_arrays,
    item_shape,
    positions,
    updates,
)
from autoconv.backends.llvm.analysis.representation import elements_of, is_dense, is_scalar
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension, Symbol, Type
from autoconv.ops.index_spec import At, Gather, NewAxis, Rest, Slice, has_only_kinds
from autoconv.ops.rules import broadcast_shapes

KnownShape = tuple[Dimension, ...]  # the shape of a type of known rank (see `shape_of`)


def classify_indexed(node: Node) -> str:
    """Return the lowering class of a node for which `has_position_arrays` holds."""
    (result,) = node.results
    if any(is_narrow(value.dtype) for value in (*node.inputs, result)):
        return "kernel"
    scatter, has_subscript = node.op.traits.scatter, form_of_positions(node) == "items"
    if not all(is_dense(value.type) for value in (result, *([] if has_subscript else positions(node)))):
        return "kernel"
    if not (_fits_subscript if has_subscript else _fits_position_array)(node):
        return "kernel"
    if scatter is None:
        return "view"
    return "kernel" if result.dtype.is_bool and scatter.combine not in (None, "add") else "scatter"


def _fits_position_array(node: Node) -> bool:
    """Return whether the part has the shape that a single array of positions implies."""
    traits, form = node.op.traits, form_of_positions(node)
    is_scatter = traits.scatter is not None
    (index_shape,) = (shape_of(value.type) for value in positions(node))
    whole_shape = shape_of((node.results[0] if is_scatter else node.inputs[0]).type)
    part_shape = shape_of((updates(node) if is_scatter else node.results[0]).type)
    batch_dims = int(node.attributes.get("batch_dims", 0))
    has_size_operand = traits.sizes is not None and len(node.inputs) > traits.sizes.position
    if index_shape[:batch_dims] != whole_shape[:batch_dims] or has_size_operand:
        return False
    if form == "vectors":
        vector_size = index_shape[-1]
        if not isinstance(vector_size, int):
            return False
        return part_shape == (*index_shape[:-1], *whole_shape[batch_dims + vector_size :])
    axis = int(node.attributes.get("axis", 0)) % len(whole_shape)
    if form == "along":
        return part_shape == index_shape == (*whole_shape[:axis], index_shape[axis], *whole_shape[axis + 1 :])
    return part_shape == (*whole_shape[:axis], *index_shape[batch_dims:], *whole_shape[axis + 1 :])


def is_update(node: Node) -> bool:
    """Return whether single indices and constant slices give the written part, and the value broadcasts into it."""
    if not has_only_kinds(node.attributes["spec"], Rest, At, Slice):
        return False
    part_shape = item_shape(node)
    if part_shape is None or None in part_shape:
        return False
    return broadcasts_to(shape_of(node.inputs[1].type), part_shape)


def is_indexed_store(node: Node) -> bool:
    """Return whether arrays of positions determine where elements go in an array in memory."""
    dtypes = [value.dtype for value in node.inputs]
    if not has_position_arrays(node) or any(is_narrow(dtype) or not is_native(dtype) for dtype in dtypes):
        return False
    return None not in shape_of(elements_of(node.inputs[0].type)) and _fits_subscript(node)


def _fits_subscript(node: Node) -> bool:
    """Return whether the part that a subscript selects has a known shape to which the updates broadcast."""
    is_supported = has_only_kinds(node.attributes["spec"], NewAxis, Rest, At, Gather, Slice)
    operands = node.inputs if node.results else node.inputs[1:]  # a store's first input is in memory
    if not is_supported or not all(is_dense(value.type) or is_scalar(value.type) for value in operands):
        return False
    part_shape = item_shape(node)
    if part_shape is None or None in part_shape:
        return False
    position_shapes = [shape_of(value.type) for value in positions(node)]
    common_shape = broadcast_shapes(*position_shapes)
    if common_shape is None or not all(broadcasts_to(shape, common_shape) for shape in position_shapes):
        return False
    if node.op.traits.scatter is None and node.results:
        return part_shape == shape_of(node.results[0].type)
    symbols = {size for value in (*node.inputs, *node.results) for size in shape_of(elements_of(value.type))}
    symbols_have_registers = all(size in symbols for size in part_shape if isinstance(size, Symbol))
    return symbols_have_registers and broadcasts_to(shape_of(node.inputs[1].type), part_shape)


def broadcasts_to(source: Sequence[Dimension], target: Sequence[Dimension]) -> bool:
    """Return whether a shape broadcasts to another one by dimensions of size 1 alone, leading ones dropped."""
    while len(source) > len(target) and source[0] == 1:
        source = source[1:]
    return len(source) <= len(target) and all(
        size in (1, other) for size, other in zip(source, target[len(target) - len(source) :], strict=True)
    )


def shape_of(type_: Type) -> KnownShape:
    """Return the shape of a type whose rank is known."""
    shape: KnownShape = type_.shape  # type: ignore[union-attr,assignment]
    return shape
