"""Unroll short last dimensions: vectors of two to four numbers are computed component by component.

Such vectors are places in space, colours, or parts of complex numbers. Each component becomes an array without the last
dimension, and all of them share one loop.

    before   graph f(%x: float32[9,9,2]) {
               %square = square(%x): float32[9,9,2]
               %reduce_sum = reduce_sum(%square, axis=(2,), keepdims=False): float32[9,9]
               return %reduce_sum
             }
    after    the squares of %x[..., 0] and of %x[..., 1], added up

A loop over so short a dimension does not fill vector registers. A sum along it also ends the loop that computes its
terms, so that later nodes reread them from memory. After the rewrite everything is in one loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis.classify import lowering_class, reduced_axes, reduction_of
from autoconv.backends.llvm.analysis.contiguity import is_whole_source
from autoconv.backends.llvm.analysis.representation import is_scalar, is_static_array, sizes
from autoconv.backends.llvm.legalize.dead_nodes import remove_dead_nodes
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import At, Rest
from autoconv.ops.traits import PROD, SUM

_MAX_COMPONENTS = 4  # largest length of the last dimension
_MIN_VECTORS = 16  # the number of vectors from which the rewrite pays off
_COMPONENT_REDUCTIONS = (SUM, PROD)  # reductions over the components


def unroll_components(graph: Graph) -> Graph:
    """Return the graph, regions included, with elementwise nodes over short vectors split into components.

    A node is split only if all readers of its result are split nodes or reductions.
    """
    nodes = {node for subgraph in graph.subgraphs() for node in _unrollable_nodes(subgraph)}
    if not nodes:
        return graph
    components_by_value: dict[Value, list[Value]] = {}

    def rewrite(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Compute the components one by one; reductions of such values combine their components."""
        b = GraphBuilder(copy, node.span)
        if node in nodes:
            component_count = sizes(node.results[0].type)[-1]
            pairs = zip(node.inputs, inputs, strict=True)
            operands = [components_by_value.get(value) or _components(b, new, component_count) for value, new in pairs]
            components = [
                getattr(b, node.op.name)(*(x[k] for x in operands), **node.attributes) for k in range(component_count)
            ]
            components_by_value[node.results[0]] = components
            return components[:1]  # a placeholder: all readers take the components
        if node.inputs and node.inputs[0] in components_by_value:
            return [_reduce(b, node, components_by_value[node.inputs[0]])]
        return None

    copy = clone(graph, rewrite)
    for subgraph in copy.subgraphs():
        remove_dead_nodes(subgraph)
    return copy


def _unrollable_nodes(graph: Graph) -> set[Node]:
    """Return the elementwise nodes whose results are vectors that only such nodes and reductions read."""
    result = {node for node in graph.nodes if _computes_short_vectors(node)}
    readers: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            readers.setdefault(value, []).append(node)
    outputs = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node in result:
            (value,) = node.results
            users = readers.get(value, ())
            if value in outputs or not users or not all(reader in result or _can_reduce(reader) for reader in users):
                result.discard(node)
    return result


def _computes_short_vectors(node: Node) -> bool:
    """Return whether a node computes many short vectors elementwise."""
    if not node.op.traits.elementwise or node.effects is not Effects.PURE or len(node.results) != 1:
        return False
    (result,) = node.results
    if not is_static_array(result.type) or not result.type.shape:
        return False
    *vector_shape, count = sizes(result.type)
    has_fit_sizes = 2 <= count <= _MAX_COMPONENTS and math.prod(vector_shape) >= _MIN_VECTORS
    return has_fit_sizes and lowering_class(node) == "element"


def _can_reduce(node: Node) -> bool:
    """Return whether a node is a reduction that can be computed from components."""
    reduction = node.op.traits.reduction
    if reduction is None or node.op.name == "sum_to_shape_of" or lowering_class(node) != "reduce":
        return False
    last_axis = len(sizes(node.inputs[0].type)) - 1
    keeps_dtype = node.results[0].dtype is node.inputs[0].dtype
    return keeps_dtype and (reduction in _COMPONENT_REDUCTIONS or last_axis not in reduced_axes(node))


def _components(b: GraphBuilder, value: Value, count: int) -> list[Value]:
    """Return the operand of each component of the result, for a value that broadcasts to it."""
    if is_scalar(value.type):
        return [value] * count
    if sizes(value.type)[-1] == 1:
        return [_drop_last_dimension(b, value)] * count
    return [b.get_item(value, spec=(Rest(), At(k))) for k in range(count)]


def _drop_last_dimension(b: GraphBuilder, value: Value) -> Value:
    """Drop the last dimension, of size 1; return the operand of the node that added it, if there is one."""
    node, shape = value.node, sizes(value.type)[:-1]
    if node is not None and is_whole_source(value) and sizes(node.inputs[0].type) == shape:
        return node.inputs[0]
    return b.get_item(value, spec=(Rest(), At(0)))


def _reduce(b: GraphBuilder, node: Node, components: list[Value]) -> Value:
    """Reduce a value that is given by its components, as `node` does with the whole value."""
    (result,) = node.results
    axes, last_axis = reduced_axes(node), len(sizes(node.inputs[0].type)) - 1
    shape: Any = sizes(result.type)
    other_axes = tuple(sorted(axes - {last_axis}))
    reduce, keepdims = getattr(b, node.op.name), bool(node.attributes.get("keepdims"))
    if last_axis in axes:
        combine = getattr(b, reduction_of(node).combine)
        total = components[0]
        for component in components[1:]:
            total = combine(total, component)
        total_over_all = reduce(total, axis=other_axes, keepdims=keepdims) if other_axes else total
        return total_over_all if sizes(total_over_all.type) == shape else b.reshape(total_over_all, shape=shape)
    reduced_components = [reduce(component, axis=other_axes, keepdims=keepdims) for component in components]
    component_shape = (*shape[:-1], 1)
    reshaped_components = [
        b.fill(x, shape=component_shape) if is_scalar(x.type) else b.reshape(x, shape=component_shape)
        for x in reduced_components
    ]
    return b.concat(*reshaped_components, axis=len(shape) - 1)
