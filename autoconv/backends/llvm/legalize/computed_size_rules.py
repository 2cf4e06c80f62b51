"""Rules of `computed_sizes`: the result shapes of ops on arrays whose sizes a graph computes.

A rule returns None where the node's kernel has to run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from autoconv.backends.llvm.analysis.classify import COMPUTED_SIZE_OPS
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar
from autoconv.backends.llvm.legalize.computed_sizes import RULES, Rule, SizeRewriter, shape_of
from autoconv.backends.llvm.legalize.size_nodes import (
    COUNTED_RANGE,
    NUMBER_SIZES,
    RANGE_SIZE,
    RESHAPE_SIZES,
    RESHAPED,
)
from autoconv.graph.dimensions import is_computed, plus, product
from autoconv.graph.dtypes import int32, int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, TensorType


def rule(*names: str) -> Any:
    """Register the decorated function as the rule of these ops."""

    def register(size_rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, size_rule))
        COMPUTED_SIZE_OPS.update(names)
        return size_rule

    return register


# Further ops with native code for arrays of computed sizes. They need no rule: the sizes of their results are known, or
# only the elements determine them.
COMPUTED_SIZE_OPS.update(("dimension", "size", "shape", "where_indices"))


def are_numbers_or_dense(inputs: Sequence[Value]) -> bool:
    """Return whether native code represents all operands, as numbers or as dense arrays."""
    return all(is_scalar(value.type) or is_dense(value.type) for value in inputs)


# ---- shapes


@rule("expand_dims")
def _expand_dims(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    shape, axis = shape_of(inputs[0]), node.attributes["axis"]
    if not are_numbers_or_dense(inputs) or not isinstance(axis, int):
        return None
    new_axis = axis % (len(shape) + 1)
    return rewriter.add_with_shape(node, inputs, (*shape[:new_axis], 1, *shape[new_axis:]))


@rule("squeeze")
def _squeeze(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Drop dimensions of size 1; None for a size with a name, and where no dimension is left."""
    axes = node.attributes.get("axis")
    if axes is None or not are_numbers_or_dense(inputs):
        return None
    shape = shape_of(inputs[0])
    dropped_axes = {axis % len(shape) for axis in ((axes,) if isinstance(axes, int) else axes)}
    if any(shape[axis] != 1 for axis in dropped_axes):
        return None
    kept_sizes = [size for axis, size in enumerate(shape) if axis not in dropped_axes]
    return rewriter.add_with_shape(node, inputs, kept_sizes) if kept_sizes else None


@rule("transpose")
def _transpose(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    if not are_numbers_or_dense(inputs):
        return None
    shape, perm = shape_of(inputs[0]), node.attributes.get("perm")
    order = range(len(shape))[::-1] if perm is None else [axis % len(shape) for axis in perm]
    return rewriter.add_with_shape(node, inputs, [shape[axis] for axis in order])


@rule("matrix_transpose")
def _matrix_transpose(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    if not are_numbers_or_dense(inputs):
        return None
    *batch, rows, columns = shape_of(inputs[0])
    return rewriter.add_with_shape(node, inputs, (*batch, columns, rows))


@rule("reshape")
def _reshape(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Reshape; one size may be -1, and some may be numbers of the graph, which a node computes and checks."""
    x, target_shape = inputs[0], node.attributes["shape"]
    if not is_dense(x.type) or target_shape is None:
        return None
    numbers: list[Value] = []
    if len(inputs) > 1:
        elements = _elements(inputs[1])
        if elements is None or len(elements) != len(target_shape):
            return None
        numbers = [number for number, size in zip(elements, target_shape, strict=True) if size is None]
        if not all(is_scalar(number.type) and number.dtype.is_integer for number in numbers):
            return None
    target_shape, total = tuple(target_shape), product(shape_of(x))
    if target_shape == (-1,):
        target_shape = (rewriter.clamp_at_zero(total),)
    if {None, -1}.isdisjoint(target_shape) and product(target_shape) in (total, rewriter.clamp_at_zero(total)):
        return _reshape_to(rewriter, node, x, target_shape)

    def define(symbols: Any) -> None:
        read_sizes = tuple(size for size in (*shape_of(x), *target_shape) if is_computed(size))
        attributes = {"count": total, "requested": target_shape, "defines": symbols, "reads": read_sizes}
        if node.attributes.get("infers_without_zeros"):
            attributes["old_sizes"] = shape_of(x)
        rewriter.add(RESHAPE_SIZES, [x, *numbers], attributes)

    unknown_count = sum(size is None or size == -1 for size in target_shape)
    symbols = iter(rewriter.symbols_of(("reshape", total, target_shape, tuple(numbers)), define, unknown_count))
    shape = [next(symbols) if size is None or size == -1 else size for size in target_shape]
    return _reshape_to(rewriter, node, x, shape)


@rule("reshape_like")
def _reshape_like(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Reshape to the shape of another array if both have the same number of elements."""
    x, model = inputs
    if not are_numbers_or_dense(inputs) or is_scalar(x.type):
        return None
    shape = shape_of(model)
    total = product(shape)
    is_total_equal = product(shape_of(x)) in (total, rewriter.clamp_at_zero(total))
    return _reshape_to(rewriter, node, x, shape) if is_total_equal else None


def _reshape_to(rewriter: SizeRewriter, node: Node, x: Value, shape: Sequence[Dimension]) -> Value:
    """Name the sizes of a reshaped array: those of `shape`."""
    type_: Any = node.results[0].type
    return rewriter.add(RESHAPED, [x], {}, [type_.with_shape(tuple(shape))])  # type: ignore[no-any-return]


@rule("reverse", "zeros_like", "ones_like", "real", "imag", "numpy_round")
def _keep_shape(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    return rewriter.add_with_shape(node, inputs, shape_of(inputs[0])) if are_numbers_or_dense(inputs) else None


@rule("roll")
def _roll(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    has_operand_distances = len(inputs) > 1  # these have no index map
    return None if has_operand_distances else _keep_shape(rewriter, node, inputs)


@rule("cumsum", "cumprod", "numpy_cumsum", "numpy_cumprod", "cummax", "cummin")
def _scan(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    shape = shape_of(inputs[0])
    if not are_numbers_or_dense(inputs) or (node.attributes["axis"] is None and len(shape) != 1):
        return None
    return rewriter.add_with_shape(node, inputs, shape)


@rule("concat")
def _concat(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Concatenate along an axis, whose sizes are added; other sizes are compared at run time."""
    if not are_numbers_or_dense(inputs):
        return None
    shapes = [shape_of(value) for value in inputs]
    axis = node.attributes["axis"] % len(shapes[0])
    for other_axis in range(len(shapes[0])):
        if other_axis != axis and len({shape[other_axis] for shape in shapes}) > 1:
            unified_inputs = rewriter.equate_sizes(node, inputs, [other_axis] * len(inputs))
            if unified_inputs is None:
                return None
            inputs = unified_inputs
    total = rewriter.clamp_at_zero(reduce(plus, (shape[axis] for shape in shapes)))
    first_shape = shape_of(inputs[0])
    return rewriter.add_with_shape(node, inputs, (*first_shape[:axis], total, *first_shape[axis + 1 :]))


# ---- reductions and products


def _reduce(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Reduce along axes; extremes require elements at run time, and positions without an axis are those of a vector."""
    (x,) = inputs
    if not is_dense(x.type) or not isinstance(node.results[0].type, TensorType):
        return None
    shape, axis = shape_of(x), node.attributes.get("axis")
    if node.op.name.endswith(("argmax", "argmin")) and axis is None and len(shape) != 1:
        if node.attributes.get("keepdims", False):
            return None
        shape = (rewriter.clamp_at_zero(product(shape)),)  # the position is that in the elements as a vector
        x = rewriter.add(RESHAPED, [x], {}, [replace(x.type, shape=shape)])
        inputs = [x]
    axes = range(len(shape)) if axis is None else [a % len(shape) for a in ((axis,) if isinstance(axis, int) else axis)]
    if node.op.name.endswith(("max", "min")):
        rewriter.require_elements(node, inputs, [shape[axis] for axis in axes])
    keepdims = node.attributes.get("keepdims", False)
    result_shape = [1 if a in axes else size for a, size in enumerate(shape) if keepdims or a not in axes]
    return rewriter.add_with_shape(node, inputs, result_shape)


_REDUCTIONS = ("sum", "prod", "mean", "max", "min", "any", "all")
rule(
    *(f"{family}_{kind}" for family in ("reduce", "numpy") for kind in _REDUCTIONS), "numpy_var", "numpy_std",
    "numpy_argmax", "numpy_argmin", "argmax", "argmin",
)(_reduce)  # fmt: skip


@rule("matmul")
def _matmul(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Multiply matrices; inner sizes that differ by name are compared at run time."""
    x, y = inputs
    if not are_numbers_or_dense(inputs) or len(shape_of(x)) != 2 or len(shape_of(y)) != 2:
        return None
    transposes_x, transposes_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    operands = rewriter.equate_sizes(node, inputs, (0 if transposes_x else 1, 1 if transposes_y else 0))
    if operands is None:
        return None
    rows, columns = shape_of(x)[1 if transposes_x else 0], shape_of(y)[0 if transposes_y else 1]
    return rewriter.add_with_shape(node, operands, (rows, columns))


# ---- arrays of computed sizes


@rule("range")
def _range(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Return the range of integers whose length a node computes."""
    start, _, delta = inputs
    if not all(is_scalar(value.type) and value.dtype in (int32, int64) for value in inputs):
        return None

    def define(symbols: Any) -> None:
        rewriter.add(RANGE_SIZE, inputs, {"op": "range", "options": (), "defines": symbols})

    (length,) = rewriter.symbols_of(("range", *inputs), define)
    result: Any = node.results[0].type
    return rewriter.add(COUNTED_RANGE, [start, delta], {}, [result.with_shape((length,))])  # type: ignore[no-any-return]


@rule("fill")
def _fill(rewriter: SizeRewriter, node: Node, inputs: list[Value]) -> Value | None:
    """Fill an array whose sizes are numbers of the graph."""
    if len(inputs) != 2 or not is_scalar(inputs[0].type):
        return None
    numbers = _elements(inputs[1])
    shape = node.attributes["shape"]
    if numbers is None or shape is None or len(numbers) != len(shape):
        return None
    size_numbers = [number for number, size in zip(numbers, shape, strict=True) if size is None]
    if not all(is_scalar(number.type) and number.dtype.is_integer for number in size_numbers):
        return None
    if not size_numbers:
        return rewriter.add_with_shape(node, inputs[:1], shape, shape=shape)

    def define(symbols: Any) -> None:
        attributes = {"op": "fill", "shape": tuple(shape), "defines": symbols}
        rewriter.add(NUMBER_SIZES, size_numbers, attributes)

    key = ("numbers", tuple(shape), tuple(size_numbers))
    remaining_symbols = iter(rewriter.symbols_of(key, define, len(size_numbers)))
    result_shape = tuple(next(remaining_symbols) if size is None else size for size in shape)
    return rewriter.add_with_shape(node, inputs[:1], result_shape, shape=result_shape)


def _elements(vector: Value) -> list[Value] | None:
    """Return a value for each element of a vector: its number, or where no node has that, the vector that contains it.

    None if the length of a vector of unknown numbers is unknown.
    """
    node = vector.node
    if node is None:
        return _unknown_elements(vector)
    if node.op.name in ("cast", "python_cast", "identity"):
        return _elements(node.inputs[0])
    if node.op.name == "stack":
        return list(node.inputs)
    if node.op.name in ("fill", "expand_dims", "reshape") and vector.shape == (1,) and node.inputs[0].shape == ():
        return [node.inputs[0]]
    if node.op.name != "concat":
        return _unknown_elements(vector)
    result: list[Value] = []
    for part in node.inputs:
        elements = _elements(part)
        if elements is None:
            return None
        result += elements
    return result


def _unknown_elements(vector: Value) -> list[Value] | None:
    length = vector.shape[0] if vector.shape else None
    return [vector] * length if isinstance(length, int) else None
