"""Ops that move elements by counts and shifts that are values, as ops with native code.

    before   %y = repeat(%x, %counts, axis=0)
    after    %ends = cumsum(%counts); %total = reduce_sum(%counts); %rows = range(0, %total, 1)
             %sources = searchsorted(%ends, %rows, side="right"); %y = gather(%x, %sources, axis=0)

The shifts of `roll`, the amounts of `pad` and the ids of `segment_sum` are replaced likewise. Counts below zero raise
NumPy's error. A `fill` of known shape loses its operand for the shape. In this process, these ops run by their kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import Gather
from autoconv.ops.rule_table import RuleTable

_Form = Callable[[GraphBuilder, list[Value], Mapping[str, Any]], Value]  # (b, operands, attributes) -> result
FORMS: RuleTable[_Form] = RuleTable("form of a move of elements by values")
_NEGATIVE_COUNTS = ("repeats may not contain negative values.",)


def write_movement(graph: Graph) -> Graph:
    """Return a graph in which ops with native code move elements by counts and shifts that are values."""
    return clone(graph, _replace) if any(map(_moves_by_values, graph.walk())) else graph


def _moves_by_values(node: Node) -> bool:
    """Return whether a node moves elements by counts, shifts or sizes that are operands."""
    match node.op.name:
        case "segment_sum":
            return node.attributes.get("num_segments") is None and _has_rank(node)
        case "pad":
            return len(node.inputs) > 1 and node.attributes.get("mode", "CONSTANT") == "CONSTANT" and _has_rank(node)
        case "fill":
            return len(node.inputs) > 1 and all(isinstance(size, int) for size in node.attributes["shape"] or (None,))
        case "repeat" | "roll":
            return len(node.inputs) > 1
    return False


def _has_rank(node: Node) -> bool:
    """Return whether all operands of a node have known ranks."""
    return all(getattr(value.type, "shape", None) is not None for value in node.inputs)


def _replace(copy: Graph, node: Node, inputs: list[Value]) -> list[Value] | None:
    """Record the form of a node in `copy`, and return its result; None for nodes that need none."""
    if not _moves_by_values(node):
        return None
    return [FORMS[node.op.name](GraphBuilder(copy, node.span), inputs, node.attributes)]


def _number(b: GraphBuilder, number: int) -> Value:
    """Return an int64 constant."""
    return b.constant(value=np.int64(number))  # type: ignore[no-any-return]


def _count_up(b: GraphBuilder, count: Value) -> Value:
    """Return the numbers 0, 1, … count - 1."""
    return b.range(_number(b, 0), count, _number(b, 1))  # type: ignore[no-any-return]


def _sizes(b: GraphBuilder, x: Value) -> list[Any]:
    """Return the sizes: ints, and values of those known only at run time."""
    shape: Any = x.type.shape  # type: ignore[union-attr]
    return [
        size if isinstance(size, int) else b.dimension(x, axis=axis, dtype=int64) for axis, size in enumerate(shape)
    ]


def _filled(b: GraphBuilder, number: Any, x: Value, sizes: list[Any]) -> Value:
    """Return an array of that number, in the dtype of `x`."""
    value = b.constant(value=np.asarray(number, x.dtype.numpy))
    vector = b.stack(*(_number(b, size) if isinstance(size, int) else size for size in sizes), axis=0)
    return b.fill(value, vector, shape=tuple(size if isinstance(size, int) else None for size in sizes))  # type: ignore[no-any-return]


@FORMS.of("repeat")
def _repeat(b: GraphBuilder, inputs: list[Value], attributes: Mapping[str, Any]) -> Value:
    """Gather rows by positions that `searchsorted` finds in the running totals of the counts."""
    (x, counts), axis = inputs, attributes["axis"]
    counts = b.cast(counts, dtype=int64)
    are_valid = b.reduce_all(b.greater_equal(counts, _number(b, 0)), axis=None, keepdims=False)
    b.assert_true(are_valid, message=_NEGATIVE_COUNTS, failure="ValueError")
    elements = _count_up(b, b.dimension(x, axis=axis, dtype=int64))
    counts = b.broadcast_to_shape_of(counts, elements)  # one count may serve all elements
    rows = _count_up(b, b.reduce_sum(counts, axis=None, keepdims=False))
    ends = b.cumsum(counts, axis=0, exclusive=False, reverse=False)
    sources = b.searchsorted(ends, rows, side="right", dtype=int64)
    return b.gather(x, sources, axis=axis, batch_dims=0)  # type: ignore[no-any-return]


@FORMS.of("fill")
def _fill_known_shape(b: GraphBuilder, inputs: list[Value], attributes: Mapping[str, Any]) -> Value:
    return b.fill(inputs[0], shape=attributes["shape"])  # type: ignore[no-any-return]


@FORMS.of("roll")
def _roll(b: GraphBuilder, inputs: list[Value], attributes: Mapping[str, Any]) -> Value:
    """Gather each element from the position that is `shift` before its own; position -1 is the last one."""
    x, shifts = inputs[0], b.reshape(b.cast(inputs[1], dtype=int64), shape=(-1,))
    for i, axis in enumerate(attributes["axis"]):
        size = b.maximum(b.dimension(x, axis=axis, dtype=int64), _number(b, 1))
        shift = b.modulo(b.gather(shifts, _number(b, i), axis=0, batch_dims=0), size)
        positions = b.modulo(b.subtract(_count_up(b, b.dimension(x, axis=axis, dtype=int64)), shift), size)
        x = b.gather(x, positions, axis=axis, batch_dims=0)
    return x


@FORMS.of("pad")
def _pad(b: GraphBuilder, inputs: list[Value], attributes: Mapping[str, Any]) -> Value:
    """Join the array with filled ones at both ends of each axis."""
    x, amounts = inputs[0], b.reshape(b.cast(inputs[1], dtype=int64), shape=(-1,))
    for axis in range(len(x.type.shape)):  # type: ignore[union-attr, arg-type]
        low, high = (b.gather(amounts, _number(b, 2 * axis + end), axis=0, batch_dims=0) for end in (0, 1))
        sizes = _sizes(b, x)
        before, after = (
            _filled(b, attributes.get("constant_values", 0), x, [*sizes[:axis], amount, *sizes[axis + 1 :]])
            for amount in (low, high)
        )
        x = b.concat(before, x, after, axis=axis)
    return x


@FORMS.of("segment_sum")
def _sum_segments(b: GraphBuilder, inputs: list[Value], attributes: Mapping[str, Any]) -> Value:
    """Add rows to zeros; without a number of segments the largest id is the last segment."""
    data, segments, *counts = inputs
    positions = b.reshape(b.cast(segments, dtype=int64), shape=(-1,))
    extended = b.concat(positions, b.constant(value=np.array([-1])), axis=0)  # without ids, the largest is -1
    largest = b.reduce_max(extended, axis=None, keepdims=False)
    are_valid = b.reduce_all(b.greater_equal(positions, _number(b, 0)), axis=None, keepdims=False)
    b.assert_true(are_valid, message=("segment_ids must not be negative",), failure="check")
    count = b.cast(counts[0], dtype=int64) if counts else b.add(largest, _number(b, 1))
    segment_rank = len(segments.type.shape)  # type: ignore[union-attr, arg-type]
    row_sizes = _sizes(b, data)[segment_rank:]
    if segment_rank != 1:
        shape = tuple(size if isinstance(size, int) else None for size in row_sizes)
        sizes = (_number(b, size) if isinstance(size, int) else size for size in (-1, *row_sizes))
        data = b.reshape(data, b.stack(*sizes, axis=0), shape=(None, *shape))
    zeros = _filled(b, 0, data, [count, *row_sizes])
    return b.add_at_item(zeros, data, positions, spec=(Gather(),))  # type: ignore[no-any-return]
