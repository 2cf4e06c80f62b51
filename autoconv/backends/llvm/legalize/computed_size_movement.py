"""Rules of `computed_sizes` for ops that move, look up or count elements: pads, repetitions, gathers, searches.

A rule returns None where the op has no native code for open sizes; then its kernel runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar
from autoconv.backends.llvm.legalize.computed_size_rules import are_numbers_or_dense, rule
from autoconv.backends.llvm.legalize.computed_sizes import SizeRewriter, shape_of
from autoconv.graph.dimensions import plus, times
from autoconv.graph.graph import Node, Value, copy_node
from autoconv.graph.types import Dimension
from autoconv.ops.index_spec import Gather


def _add_if_native(rewriter: SizeRewriter, node: Node, inputs: list[Value], shape: Sequence[Dimension]) -> Value | None:
    """Append a copy of the node whose result has that shape; None if its kernel would run."""
    result = rewriter.add_with_shape(node, inputs, [rewriter.clamp_at_zero(size) for size in shape])
    assert result.node is not None
    if lowering_class(result.node) != "kernel":
        return result
    rewriter.copy.nodes.pop()
    return None


def _add_data_sized(rewriter: SizeRewriter, node: Node, inputs: Sequence[Value]) -> Value | None:
    """Append a copy of the node, whose result's size depends on operands' values; None if its kernel would run."""
    result = copy_node(rewriter.copy, node, inputs).results[0]
    assert result.node is not None
    if lowering_class(result.node) != "kernel":
        return rewriter.name_sizes(result)
    rewriter.copy.nodes.pop()
    return None


@rule("pad")
def _pad(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Pad with constants by known, nonnegative amounts."""
    paddings, has_constant = node.attributes["paddings"], node.attributes.get("mode", "CONSTANT") == "CONSTANT"
    if paddings is None or not has_constant or len(inputs) > 1 or not is_dense(inputs[0].type):
        return None
    if not all(isinstance(amount, int) and amount >= 0 for pair in paddings for amount in pair):
        return None
    pairs = zip(shape_of(inputs[0]), paddings, strict=True)
    return _add_if_native(rewriter, node, inputs, [plus(size, before + after) for size, (before, after) in pairs])


@rule("tile")
def _tile(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    counts = node.attributes["multiples"]
    if counts is None or None in counts or len(inputs) > 1 or not is_dense(inputs[0].type):
        return None
    return _add_if_native(rewriter, node, inputs, list(map(times, shape_of(inputs[0]), counts)))


@rule("repeat")
def _repeat(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Repeat along an axis a fixed number of times, or by a count for each element."""
    count, shape = node.attributes.get("repeats"), list(shape_of(inputs[0]))
    axis = node.attributes["axis"] % len(shape)
    if len(inputs) > 1:
        has_count_per_element = all(is_dense(value.type) for value in inputs) and shape_of(inputs[1]) != (1,)
        operands = rewriter.equate_sizes(node, inputs, [axis, 0]) if has_count_per_element else None
        return _add_data_sized(rewriter, node, operands) if operands else None
    if not isinstance(count, int) or not is_dense(inputs[0].type):
        return None
    shape[axis] = times(shape[axis], count)
    return _add_if_native(rewriter, node, inputs, shape)


@rule("gather")
def _gather_rows(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Return the elements or rows at the positions along an axis."""
    x, positions = inputs
    if node.attributes.get("batch_dims") or not is_dense(x.type) or not are_numbers_or_dense(inputs):
        return None
    shape = shape_of(x)
    axis = node.attributes.get("axis", 0) % len(shape)
    return _add_if_native(rewriter, node, inputs, [*shape[:axis], *shape_of(positions), *shape[axis + 1 :]])


@rule("searchsorted")
def _search(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    return _add_if_native(rewriter, node, inputs, shape_of(inputs[1])) if are_numbers_or_dense(inputs) else None


@rule("segment_sum")
def _sum_segments(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Return totals of a known number of segments; None if the data's leading sizes are not those of the segments."""
    data, segments = inputs[:2]
    count = node.attributes.get("num_segments")
    if len(inputs) > 2 or not isinstance(count, int) or not are_numbers_or_dense(inputs):
        return None
    rank = len(shape_of(segments))
    if shape_of(data)[:rank] != shape_of(segments):
        return None
    return _add_if_native(rewriter, node, inputs, (count, *shape_of(data)[rank:]))


@rule("broadcast_to_shape_of")
def _broadcast_to_shape_of(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    x, like = inputs
    if not are_numbers_or_dense(inputs) or (is_dense(x.type) and shape_of(x) != shape_of(like)):
        return None
    return x if is_dense(x.type) else _add_if_native(rewriter, node, inputs, shape_of(like))


@rule("numpy_bincount")
def _count_numbers(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Count the numbers; the inputs are the numbers, the least length of the result, and perhaps weights."""
    vectors = [inputs[0], *inputs[2:]]
    if not all(is_dense(value.type) for value in vectors):
        return None
    operands = rewriter.equate_sizes(node, vectors, [0] * len(vectors), inputs)
    return _add_data_sized(rewriter, node, [operands[0], inputs[1], *operands[1:]]) if operands else None


@rule("add_at_item")
def _add_at_items(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Add to the rows that a vector of positions names; the updates have one row, or as many as the vector."""
    x, value = inputs[:2]
    value_shape = shape_of(value)
    is_vector_of_rows = node.attributes["spec"] == (Gather(),) and all(map(is_dense, (x.type, inputs[2].type)))
    if not is_vector_of_rows or not are_numbers_or_dense(inputs) or len(value_shape) > len(shape_of(x)):
        # Native code adds at vectors of rows only.
        kernel_call = copy_node(rewriter.copy, node, list(map(rewriter.forget_sizes, inputs)))
        return rewriter.name_sizes(kernel_call.results[0])
    (positions,) = inputs[2:]
    if len(shape_of(positions)) == 1 and len(value_shape) == len(shape_of(x)) and isinstance(value_shape[0], int):
        operands = rewriter.equate_sizes(node, [value, positions], [0, 0], inputs) if value_shape[0] != 1 else None
        inputs = [x, *operands] if operands else inputs
    return _add_if_native(rewriter, node, inputs, shape_of(x))


@rule(*(f"tensor_scatter_nd_{name}" for name in ("add", "sub", "min", "max", "update")))
def _scatter_elements(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    return _add_if_native(rewriter, node, inputs, shape_of(inputs[0])) if are_numbers_or_dense(inputs) else None


@rule("numpy_clip")
def _clip(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    x, *bounds = inputs
    are_numbers = is_dense(x.type) and all(is_scalar(bound.type) for bound in bounds)
    return rewriter.add_with_shape(node, inputs, shape_of(x)) if are_numbers else None


@rule("numpy_call")
def _call(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Return the result in the operand's shape, which NumPy's routines for sorting and selection keep."""
    name = node.attributes["function"]
    if name not in ("argsort", "partition", "argpartition") or not is_dense(inputs[0].type):
        return None
    has_same_rank = len(node.results) == 1 and len(shape_of(node.results[0])) == len(shape_of(inputs[0]))
    return _add_if_native(rewriter, node, inputs, shape_of(inputs[0])) if has_same_rank else None


@rule("numpy_copy")
def _copy(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    shape = shape_of(inputs[0])
    if node.attributes["method"] == "astype":
        return rewriter.add_with_shape(node, inputs, shape)
    return _add_if_native(rewriter, node, inputs, shape) if node.attributes["method"] == "copy" else None


@rule("sort", "argsort")
def _sort(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    return _add_if_native(rewriter, node, inputs, shape_of(inputs[0])) if is_dense(inputs[0].type) else None


@rule("diag")
def _diag(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    if not is_dense(inputs[0].type) or len(inputs) > 1:
        return None
    *batch, last = shape_of(inputs[0])
    size = plus(last, abs(node.attributes.get("offset", 0)))
    return _add_if_native(rewriter, node, inputs, (*batch, size, size))


@rule("stack")
def _stack(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Stack arrays of one shape; sizes that differ by name are compared at run time."""
    if not all(is_dense(value.type) for value in inputs):
        return None
    rank = len(shape_of(inputs[0]))
    operands: list[Value] | None = list(inputs)
    for axis in range(rank):
        assert operands is not None
        if len({shape_of(value)[axis] for value in operands}) > 1:
            operands = rewriter.equate_sizes(node, operands, [axis] * len(operands))
            if operands is None:
                return None
    assert operands is not None
    shape, axis = list(shape_of(operands[0])), node.attributes.get("axis", 0) % (rank + 1)
    return rewriter.add_with_shape(node, operands, (*shape[:axis], len(operands), *shape[axis:]))
