"""Expand ops that move, cut or select elements into ops that have loops: rules for `expand`.

A rule returns a value or a tuple of values, or None for a node that stays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.contiguity import has_long_rows, is_rotation
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.legalize.contractions import CONTRACTION_RULE_BY_OP
from autoconv.backends.llvm.legalize.shaped_builder import (
    concatenate,
    count_elements,
    dimensions,
    make_zeros,
    reshape,
    slice_axis,
)
from autoconv.backends.llvm.legalize.small_products import small_product
from autoconv.graph.dimensions import exact_quotient, plus, times
from autoconv.graph.dtypes import float32, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Symbol
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import At, Mask
from autoconv.ops.random.permutations import row_shuffle_stream


def _shift(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Shift by one along an axis, filling with zeros."""
    (x,) = inputs
    shape = dimensions(x)
    axis = node.attributes["axis"] % len(shape)
    if not shape[axis]:
        return x
    is_reverse = node.attributes.get("reverse", False)
    remaining_size, zeros = plus(shape[axis], -1), make_zeros(b, x, (*shape[:axis], 1, *shape[axis + 1 :]))
    if remaining_size == 0:
        return zeros
    start, stop = (1, None) if is_reverse else (None, -1)
    kept_part = slice_axis(b, x, axis, start, stop, remaining_size)
    return concatenate(b, (kept_part, zeros) if is_reverse else (zeros, kept_part), axis, shape)


def _unpad(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Slice the inner part, the gradient of a padding by a constant; None for other modes."""
    if node.attributes.get("mode", "CONSTANT") != "CONSTANT" or len(inputs) > 1:
        return None
    (result,) = inputs
    for axis, (before, after) in enumerate(node.attributes["paddings"]):
        size = dimensions(result)[axis]
        if before or after:
            # A stop of -0 would be the first element.
            stop = plus(size, times(after, -1)) if isinstance(after, Symbol) else (-after or None)
            result = slice_axis(b, result, axis, before, stop, plus(size, times(plus(before, after), -1)))
    return result


def _split(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Slice by the sizes of the results; None where the kernel has to check that these add up to the operand's size."""
    has_lengths = node.op.name == "split" and len(inputs) > 1
    if has_lengths and (inputs[1].node is None or inputs[1].node.op.name != "constant"):
        return None
    x, axis = inputs[0], node.attributes.get("axis", 0) % len(dimensions(inputs[0]))
    parts: list[Any] = []
    start: Dimension = 0
    for value in node.results:
        size = dimensions(value)[axis]
        stop = plus(start, size)
        parts.append(slice_axis(b, x, axis, start, stop, size))
        start = stop
    if start != dimensions(x)[axis] and (has_lengths or node.op.name == "split_like"):
        return None
    return tuple(parts) if len(parts) > 1 else parts[0] if parts else None


def _sum_tiles(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Sum the tiles of an array, which have the shape of the result; None if that does not divide the array's."""
    x, tile_shape = inputs[0], dimensions(node.results[0])
    if 0 in tile_shape or x.dtype.is_bool:
        return None
    shape: list[Dimension] = []
    for full_size, size in zip(dimensions(x), tile_shape, strict=True):
        shape += [exact_quotient(full_size, size), size]
    if None in shape:
        return None
    return b.reduce_sum(reshape(b, x, shape), axis=tuple(range(0, len(shape), 2)), keepdims=False)


def _shuffle(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Gather the rows in the order of a permutation."""
    x = inputs[-1]
    if is_scalar(x.type):
        return None
    # The node's attributes include the seed of a random shuffle, or the algorithm of a stateless one.
    options = {"shape": dimensions(x)[:1], **node.attributes}
    if node.op.name == "random_shuffle":
        order = b.random_permutation(stream=row_shuffle_stream(x.dtype), **options)
    else:
        order = b.stateless_permutation(inputs[0], **options)
    return b.gather(x, order, axis=0, batch_dims=0)


def _roll(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Roll one axis after the other: long rows by copies, others by a gather from `shift` positions before.

    Return None for constant shifts, and for a node that is a single copy of long rows already.
    """
    x, *operands = inputs
    shape, axes = sizes(x.type), node.attributes["axis"]
    if not operands or 0 in shape or math.prod(sizes(operands[0].type)) != len(axes) or is_rotation(node):
        return None
    shifts = reshape(b, b.cast(operands[0], dtype=int64), (len(axes),))
    for i, axis in enumerate(axes):
        shift = b.get_item(shifts, spec=(At(i),))
        if has_long_rows(x.type, axis):
            x = b.roll(x, shift, axis=(axis,))
            continue
        positions, size = b.constant(value=np.arange(shape[axis])), b.constant(value=np.int64(shape[axis]))
        shift = b.modulo(shift, size)  # the difference below cannot overflow
        sources = b.modulo(b.subtract(positions, shift), size)
        x = b.gather(x, sources, axis=axis, batch_dims=0)
    return x


def _set_where(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Replace the elements for which a mask holds by a number."""
    spec, operands = node.attributes["spec"], list(inputs)
    if spec != (Mask(),) or not is_scalar(operands[1].type):
        return None
    x, value, mask = operands
    missing_rank = len(sizes(x.type)) - len(sizes(mask.type))
    mask = b.reshape(mask, shape=(*sizes(mask.type), *[1] * missing_rank))
    return b.select(mask, value if value.dtype is x.dtype else b.cast(value, dtype=x.dtype), x)


def _clip(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Clip by maximum and minimum.

    For -0.0 and 0.0, NumPy's clip keeps x if the bounds are numbers; maximum and minimum keep their second operand. For
    floats and arrays of bounds the choice depends on NumPy's iteration, so the kernel runs.
    """
    x, low, high = inputs
    are_bounds_numbers = all(dimensions(bound) == () for bound in (low, high))
    return b.minimum(high, b.maximum(low, x)) if x.dtype.is_integer or are_bounds_numbers else None


def _log_sum_exp(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Compute the logarithm of a sum of exponentials from the differences to the largest element."""
    (x,), axis = inputs, node.attributes.get("axis")
    if 0 in dimensions(x):
        return None
    highest = b.reduce_max(x, axis=axis, keepdims=True)
    zero = b.constant(value=np.zeros((), x.dtype.numpy))
    highest = b.select(b.is_finite(highest), highest, zero)  # the difference of two infinities would be nan
    total = b.reduce_sum(b.exp(b.subtract(x, highest)), axis=axis, keepdims=True)
    return reshape(b, b.add(b.log(total), highest), dimensions(node.results[0]))


def _zero_preserving_rule(name: str) -> Any:
    """Return the rule for x times log(y), or x over y: the result is zero where x is zero and y is no nan."""

    def rule(b: GraphBuilder, node: Node, inputs: Any) -> Any:
        x, y = inputs
        result_of_nonzero = b.multiply(x, b.log(y)) if name == "xlogy" else b.divide(x, y)
        zero = b.constant(value=np.zeros((), x.dtype.numpy))
        return b.select(b.logical_and(b.equal(x, zero), b.logical_not(b.is_nan(y))), zero, result_of_nonzero)

    return rule


def _log_add_exp(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Follow NumPy: equal operands, which may be infinite, give the operand plus log(2)."""
    x, y = inputs
    gap, log_two = b.subtract(x, y), b.constant(value=np.asarray(np.log(2.0), x.dtype.numpy))
    zero = b.constant(value=np.zeros((), x.dtype.numpy))
    larger = b.select(b.greater(gap, zero), x, y)
    log_sum = b.add(larger, b.log1p(b.exp(b.negative(b.abs(gap)))))
    return b.select(b.equal(x, y), b.add(x, log_two), log_sum)


def _integer_mean(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Divide the sum towards zero; the mean of no elements is left to the kernel."""
    (x,), dtype = inputs, inputs[0].dtype
    if not dtype.is_integer:
        return None
    axis = node.attributes.get("axis")
    total = b.reduce_sum(x, axis=axis, keepdims=node.attributes.get("keepdims", False))
    if not is_known(sizes(x.type)):
        if dtype.size < 4:
            return None  # the number of elements may not fit the dtype
        axes = range(len(sizes(x.type))) if axis is None else (axis,) if isinstance(axis, int) else axis
        return _divide_towards_zero(b, total, count_elements(b, x, axes, dtype))
    element_count = math.prod(sizes(x.type)) // max(math.prod(sizes(total.type)), 1)
    divisor = int(np.asarray(element_count, np.int64).astype(dtype.numpy))
    if element_count == 0 or divisor == 0:
        return None
    return _divide_towards_zero(b, total, b.constant(value=np.asarray(divisor, dtype.numpy)))


def _divide_towards_zero(b: GraphBuilder, total: Any, divisor: Any) -> Any:
    """Divide integers by a positive one: take the floor of the quotient, plus 1 for a negative inexact quotient."""
    dtype = total.dtype
    floor_quotient = b.floor_divide(total, divisor)
    zero, one = (b.constant(value=np.asarray(number, dtype.numpy)) for number in (0, 1))
    remainder = b.subtract(total, b.multiply(floor_quotient, divisor))
    needs_increment = b.logical_and(b.not_equal(remainder, zero), b.less(total, zero))
    return b.add(floor_quotient, b.select(needs_increment, one, zero))


def _round(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Round to `decimals` digits after the point as NumPy does: scale by a power of ten, round, scale back."""
    (x,), decimals = inputs, node.attributes.get("decimals", 0)
    dtype = node.results[0].dtype
    if dtype.is_integer and x.dtype is dtype and decimals >= 0:
        return b.numpy_copy(x, method="copy", copy_id=0)
    if x.dtype is not dtype or dtype not in (float32, float64) or abs(decimals) > _MAX_DECIMALS:
        return None
    if decimals == 0:
        return b.rint(x)
    power = b.constant(value=np.asarray(10.0 ** abs(decimals), dtype.numpy))
    scale, unscale = (b.multiply, b.divide) if decimals > 0 else (b.divide, b.multiply)
    return unscale(b.rint(scale(x, power)), power)


_MAX_DECIMALS = 22  # the largest n for which a float64 holds 10**n exactly


def _matmul(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Fold transposes of the operands into the attributes of the product, or write a small product out.

    An operand that is computed from a transpose and numbers, such as `0.5 * A.T`, is recomputed from `A`.
    """
    sources = list(inputs)
    are_transposed = [node.attributes.get(name, False) for name in ("transpose_a", "transpose_b")]
    for i, value in enumerate(inputs):
        source = _transpose_source(b, value) if len(sizes(value.type)) >= 2 else None
        if source is not None:
            sources[i], are_transposed[i] = source, not are_transposed[i]
    flags = dict(zip(("transpose_a", "transpose_b"), are_transposed, strict=True))
    product = small_product(b, *sources, **flags)
    if product is not None:
        return product
    return None if sources == list(inputs) else b.matmul(*sources, **flags)


def _transpose_source(b: GraphBuilder, value: Value) -> Value | None:
    """Return the transpose of the value if a node has it: `A` for `A.T`, a new `0.5 * A` for `0.5 * A.T`; else None.

    Matrices in batches are transposed one by one: the transpose exchanges the last two dimensions.
    """
    node = value.node
    if node is None:
        return None
    if node.op.name == "matrix_transpose":
        return node.inputs[0]
    if node.op.name == "transpose":
        rank = len(sizes(value.type))
        perm = [axis % rank for axis in node.attributes.get("perm") or reversed(range(rank))]
        is_transpose = len(node.inputs) == 1 and perm == [*range(rank - 2), rank - 1, rank - 2]
        return node.inputs[0] if is_transpose else None
    arrays = [operand for operand in node.inputs if not is_scalar(operand.type)]
    if not node.op.traits.elementwise or node.effects is not Effects.PURE or len(arrays) != 1 or node.regions:
        return None
    if arrays[0].shape != value.shape or len(node.results) != 1:
        return None
    source = _transpose_source(b, arrays[0])
    if source is None:
        return None
    inputs = [source if operand is arrays[0] else operand for operand in node.inputs]
    types = [value.type.with_shape(dimensions(source))]  # type: ignore[union-attr]
    return b.graph.add(node.op, inputs, node.attributes, types=types, span=b.span).results[0]


def _ungather(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Replace a single position by a vector of one, whose `ungather` joins the loops over its result."""
    updates, position, like = inputs
    if not is_scalar(position.type):
        return None
    shape = dimensions(node.results[0])
    axis = node.attributes.get("axis", 0) % len(shape)
    part_shape = (*shape[:axis], 1, *shape[axis + 1 :])
    rows = reshape(b, updates, part_shape) if len(shape) > 1 else b.fill(updates, shape=(1,))
    return b.ungather(rows, b.fill(position, shape=(1,)), like, axis=axis)


def _sort_bools(b: GraphBuilder, node: Node, inputs: Any) -> Any:
    """Sort bools by their number: the true ones come last, or in descending order first."""
    (x,), shape = inputs, sizes(node.results[0].type)
    if not x.dtype.is_bool or 0 in shape:
        return None
    axis = node.attributes.get("axis", -1) % len(shape)
    true_count = b.reduce_sum(b.cast(x, dtype=int64), axis=axis, keepdims=True)
    positions = np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
    if node.attributes.get("descending"):
        return b.less(b.constant(value=positions), true_count)
    return b.greater_equal(b.constant(value=positions - shape[axis]), b.negative(true_count))


COMPOSITE_RULE_BY_OP: dict[str, Any] = {
    "shift": _shift, "unpad": _unpad, "split": _split, "split_like": _split, "sum_tiles": _sum_tiles,
    "stateless_shuffle": _shuffle, "random_shuffle": _shuffle, "set_item": _set_where, "numpy_round": _round,
    "numpy_clip": _clip, "matmul": _matmul, "reduce_logsumexp": _log_sum_exp, "xlogy": _zero_preserving_rule("xlogy"),
    "xdivy": _zero_preserving_rule("xdivy"), "logaddexp": _log_add_exp, "reduce_mean": _integer_mean,
    "ungather": _ungather, "roll": _roll, "sort": _sort_bools, **CONTRACTION_RULE_BY_OP,
}  # fmt: skip
