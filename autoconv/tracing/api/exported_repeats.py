"""Repetitions by counts that are values, as ops with native code.

    before   %y = repeat(%x, %counts, axis=0)
    after    %ends = cumsum(%counts); %total = reduce_sum(%counts); %rows = range(0, %total, 1)
             %sources = searchsorted(%ends, %rows, side="right"); %y = gather(%x, %sources, axis=0)

Counts below zero are NumPy's error. In this process NumPy's own routine is called.
"""

from __future__ import annotations

import numpy as np

from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.ops.builder import GraphBuilder

_NEGATIVE_COUNTS = ("repeats may not contain negative values.",)


def write_repeats(graph: Graph) -> Graph:
    """Return a graph in which elements are repeated by ops with native code."""
    return clone(graph, _repeat_by_gather) if any(map(_has_counts, graph.walk())) else graph


def _has_counts(node: Node) -> bool:
    return node.op.name == "repeat" and len(node.inputs) > 1


def _repeat_by_gather(copy: Graph, node: Node, inputs: list[Value]) -> list[Value] | None:
    if not _has_counts(node):
        return None
    b, (x, given_counts), axis = GraphBuilder(copy, node.span), inputs, node.attributes["axis"]
    zero, one = (b.constant(value=np.int64(number)) for number in (0, 1))
    counts = b.cast(given_counts, dtype=int64)
    are_valid = b.reduce_all(b.greater_equal(counts, zero), axis=None, keepdims=False)
    b.assert_true(are_valid, message=_NEGATIVE_COUNTS, failure="ValueError")
    elements = b.range(zero, b.dimension(x, axis=axis, dtype=int64), one)
    counts = b.broadcast_to_shape_of(counts, elements)  # one count may serve all elements
    rows = b.range(zero, b.reduce_sum(counts, axis=None, keepdims=False), one)
    ends = b.cumsum(counts, axis=0, exclusive=False, reverse=False)
    sources = b.searchsorted(ends, rows, side="right", dtype=int64)
    return [b.gather(x, sources, axis=axis, batch_dims=0)]


__all__ = ["write_repeats"]
