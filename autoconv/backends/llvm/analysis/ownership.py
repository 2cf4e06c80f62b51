"""Ownership analysis: find the outputs that the graph allocated and to whose memory nothing else refers."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.ops.numpy.list_arrays import LIST_ARRAY, TYPED_LIST_ARRAY

_ALLOCATING_CLASSES = frozenset({"element", "reduce", "matmul", "whole", "join", "search", "scatter", "scalar"})
# Ops whose kernels return new arrays: those that make an array of a list, and `numpy_read_only`, whose kernel copies.
# The trait `view` of the latter is NumPy's meaning: its result stands for a view of the operand.
_COPYING_KERNELS = frozenset({LIST_ARRAY, TYPED_LIST_ARRAY, "numpy_read_only"})


def allocated_outputs(graph: Graph, allocated_parameters: Sequence[bool] = ()) -> list[bool]:
    """Return for each output whether the graph is sure to have allocated it.

    `allocated_parameters` marks the parameters that count as allocated by the graph.
    """
    allocated_values: set[Value] = set()
    for value, is_allocated in zip(graph.parameters, allocated_parameters, strict=False):
        if is_allocated:
            allocated_values.add(value)
    for node in graph.nodes:
        flags = _allocated_results(node, allocated_values)
        allocated_values.update(value for value, is_new in zip(node.results, flags, strict=True) if is_new)
    return [value in allocated_values for value in graph.outputs]


def holds_no_arguments(graph: Graph) -> bool:
    """Return whether no parameter array escapes from a run: neither through outputs nor through side effects."""
    outputs = zip(allocated_outputs(graph), graph.outputs, strict=True)
    if not all(is_allocated or is_scalar(value.type) for is_allocated, value in outputs):
        return False
    harmless_effects = Effects.RAISE | Effects.RANDOM
    return not any(node.effects & ~harmless_effects or _handles_objects(node) for node in graph.walk())


def _handles_objects(node: Node) -> bool:
    """Return whether a node without regions takes or makes values that are no tensors."""
    return not node.regions and any(not isinstance(value.type, TensorType) for value in (*node.inputs, *node.results))


def _allocated_results(node: Node, allocated_values: set[Value]) -> list[bool]:
    """Return for each result of a node whether the graph is sure to have allocated it."""
    allocated_inputs = [value in allocated_values for value in node.inputs]
    result_count = len(node.results)
    if all(is_scalar(value.type) for value in node.results):
        return [True] * result_count
    if node.op.traits.selects and node.regions:
        arms = [allocated_outputs(region, allocated_inputs[1:]) for region in node.regions]
        return [all(flags) for flags in zip(*arms, strict=True)]
    if node.op.traits.repeats and node.regions:
        return _allocated_loop_state(node, allocated_inputs)
    if node.regions or node.op.name == "constant":
        return [False] * result_count
    if node.op.traits.generates or node.op.name in _COPYING_KERNELS:
        return [True] * result_count
    node_class = lowering_class(node)
    if node_class in _ALLOCATING_CLASSES:
        return [True] * result_count
    if node_class in ("view", "update") or node.op.traits.view:
        return [bool(allocated_inputs) and allocated_inputs[0]] * result_count
    if not all(isinstance(value.type, TensorType) for value in (*node.inputs, *node.results)):
        return [False] * result_count
    is_harmless = not node.effects & ~(Effects.RAISE | Effects.RANDOM)
    return [is_harmless and (not node.op.traits.may_alias or all(allocated_inputs))] * result_count


def _allocated_loop_state(node: Node, allocated_inputs: list[bool]) -> list[bool]:
    """Return the flags of a loop's state: the greatest fixed point over its initial values and its iterations."""
    state_count = state_size(node)
    flags = list(allocated_inputs)
    while True:
        body_flags = allocated_outputs(node.regions[1], flags)[:state_count]
        next_flags = [before and after for before, after in zip(flags[:state_count], body_flags, strict=True)]
        if next_flags == flags[:state_count]:
            return next_flags
        flags[:state_count] = next_flags
