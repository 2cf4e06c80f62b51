"""Rules of `computed_sizes` for indexing: slices, positions and masks.

A rule returns None where the node's kernel has to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to
from autoconv.backends.llvm.analysis.representation import is_dense
from autoconv.backends.llvm.legalize.computed_size_rules import are_numbers_or_dense, rule
from autoconv.backends.llvm.legalize.computed_sizes import SizeRewriter, shape_of
from autoconv.backends.llvm.legalize.size_nodes import (
    SIZES_BOUND,
    SLICE_SIZES,
)
from autoconv.graph.dimensions import is_computed, plus
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value, copy_node
from autoconv.graph.types import Dimension, TensorType
from autoconv.ops import OPS
from autoconv.ops.index_spec import INPUT, At, Entry, Gather, Mask, NewAxis, Rest, Slice, align
from autoconv.ops.movement.indexing import indexed_shape
from autoconv.ops.rules import broadcast_shapes


@rule("get_item")
def _get_item(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Name the sizes of slices, and pass positions as operands, so that they are compared with the named sizes."""
    x, spec = inputs[0], node.attributes["spec"]
    if spec == (Mask(),):
        return _select_by_mask(rewriter, node, inputs)
    is_supported = all(isinstance(entry, (At, Slice, Rest, NewAxis, Gather)) for entry in spec)
    if not is_supported or not are_numbers_or_dense(inputs):
        return None
    if Gather() in spec:
        return _gather(rewriter, node, inputs)
    shape = shape_of(x)
    recorded_shape = shape_of(node.results[0])  # the result's shape without symbols for computed sizes
    entries: list[Entry] = []
    operands: list[Value] = []
    result_shape: list[Dimension] = []
    for entry, indices, axis, width in align(spec, len(shape), inputs[1:]):
        if isinstance(entry, NewAxis):
            result_shape.append(1)
        elif isinstance(entry, Rest):
            result_shape += shape[axis : axis + width]
        elif isinstance(entry, At):
            operands += indices
            # Only positions that are operands are compared with the size at run time; the kernel raises for others.
            if is_computed(shape[axis]) and not indices:
                operands.append(rewriter.add(OPS["constant"], [], {"value": np.asarray(entry.index)}, [_INT]))
                entry = At(INPUT)
        elif isinstance(entry, Slice) and not (recorded_shape[len(result_shape)] is None or is_computed(shape[axis])):
            operands += indices
            result_shape.append(recorded_shape[len(result_shape)])
        elif isinstance(entry, Slice) and not entry.is_whole:
            slice_sizes = size_slice(rewriter, shape[axis], entry, indices)
            if slice_sizes is None:
                return None
            start, length, step = slice_sizes
            result_shape.append(length)
            entry = Slice(start, plus(start, length) if step == 1 else None, step)
        else:
            result_shape.append(shape[axis])
        entries.append(entry)
    # A `Rest` that `align` adds at the end is no entry of the spec.
    return rewriter.add_with_shape(node, [x, *operands], result_shape, spec=tuple(entries[: len(spec)]))


_INT = TensorType(int64, ())


class NamedSlice(NamedTuple):
    """The start, the length and the step of a slice, with symbols for those that the graph computes."""

    start: Dimension
    length: Dimension
    step: int


def size_slice(
    rewriter: SizeRewriter, size: Dimension, entry: Slice, bounds: Sequence[Value]
) -> NamedSlice | None:
    """Return a slice of a dimension with `size` elements; `bounds` are the operands of the entry.

    Return None unless the step is a constant other than 0 whose magnitude is below 2**31.
    """
    start, stop, step = entry.with_operands(bounds)
    step = 1 if step is None else step
    if not isinstance(step, int) or not step or abs(step) >= 1 << 31:
        return None
    if isinstance(size, int) and not bounds:
        first_position, end_position, _ = slice(start, stop, step).indices(size)
        return NamedSlice(first_position, len(range(first_position, end_position, step)), step)
    length_after_cut = None
    cuts_off_ends = not bounds and (start or 0) >= 0 and (stop is None or stop < 0)
    if step == 1 and cuts_off_ends:
        # The length depends only on how much is cut off: x[1:] and x[:-1] have one symbol.
        length_after_cut = rewriter.clamp_at_zero(plus(size, (stop or 0) - (start or 0)))
        if not start:
            return NamedSlice(0, length_after_cut, 1)
    first_position, length = name_slice_sizes(rewriter, size, entry, bounds)
    length = length if length_after_cut is None else length_after_cut
    return NamedSlice(0 if start in (None, 0) and step > 0 else first_position, length, step)


def name_slice_sizes(rewriter: SizeRewriter, size: Dimension, entry: Slice, bounds: Sequence[Value]) -> tuple[Any, Any]:
    """Return the symbols of the start and the length of a slice."""

    def define(symbols: Any) -> None:
        rewriter.add(SLICE_SIZES, bounds, {"size": size, "parts": entry.parts, "defines": symbols, "reads": (size,)})

    length, start = rewriter.symbols_of(("slice", size, entry.with_operands(bounds)), define, 2)
    return start, length


def _gather(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Return the rows at arrays of positions; None unless the positions broadcast to each other by their sizes."""
    x, *operands = inputs
    types: Any = tuple(value.type for value in operands)
    spec = node.attributes["spec"]
    index_shape = broadcast_shapes(*(type_.shape for type_ in types))
    if index_shape is None or not all(broadcasts_to(type_.shape, index_shape) for type_ in types):
        return None
    if any(isinstance(entry, Slice) and not entry.is_whole for entry in spec):
        return None
    shape = indexed_shape(x.shape, types, spec)  # type: ignore[arg-type]
    return None if shape is None or None in shape else rewriter.add_with_shape(node, inputs, shape)


def _select_by_mask(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Append the selection by a mask, whose sizes have to be those of the array's first dimensions.

    Selections by one mask have one size.
    """
    x, mask = inputs
    if not is_dense(x.type) or not is_dense(mask.type):
        return None
    for axis in range(len(shape_of(mask))):
        unified = rewriter.equate_sizes(node, [x, mask], [axis, axis], inputs)
        if unified is None:
            return None
        x, mask = unified
    (result,) = copy_node(rewriter.copy, node, [x, mask]).results
    key = "selected", inputs[1]
    if key not in rewriter.results_by_key:
        named_result = rewriter.name_sizes(result)
        rewriter.results_by_key[key] = shape_of(named_result)[0]
        return named_result
    shape = (rewriter.results_by_key[key], *shape_of(x)[len(shape_of(mask)) :])
    type_: Any = result.type
    return rewriter.add(SIZES_BOUND, [result], {"defines": ()}, [type_.with_shape(shape)])  # type: ignore[no-any-return]
