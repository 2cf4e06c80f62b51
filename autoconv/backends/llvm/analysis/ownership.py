"""Ownership analysis of outputs: which arrays were allocated by the graph, with memory that nothing else refers to."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.ops.numpy.list_arrays import OF_NUMBERS, OF_OBJECTS

_ALLOCATING_CLASSES = frozenset({"element", "reduce", "matmul", "whole", "join", "search", "scatter", "scalar"})
# Kernels that copy: arrays of lists, and read-only arrays.
_COPYING_KERNELS = frozenset({OF_OBJECTS, OF_NUMBERS, "numpy_read_only"})


def allocated_outputs(graph: Graph, made: Sequence[bool] = ()) -> list[bool]:
    """Return for each output whether the graph allocated it (conservative).

    `made` marks the parameters that count as allocated here.
    """
    known: set[Value] = set()
    for value, is_made in zip(graph.parameters, made, strict=False):
        if is_made:
            known.add(value)
    for node in graph.nodes:
        found = _allocated_results(node, known)
        known.update(value for value, is_made in zip(node.results, found, strict=True) if is_made)
    return [value in known for value in graph.outputs]


def holds_no_arguments(graph: Graph) -> bool:
    """Return whether no parameter array escapes from a run: neither through outputs nor through side effects."""
    given_out = zip(allocated_outputs(graph), graph.outputs, strict=True)
    if not all(made or is_scalar(value.type) for made, value in given_out):
        return False
    harmless = Effects.RAISE | Effects.RANDOM
    return not any(node.effects & ~harmless or _handles_objects(node) for node in graph.walk())


def _handles_objects(node: Node) -> bool:
    return not node.regions and any(not isinstance(value.type, TensorType) for value in (*node.inputs, *node.results))


def _allocated_results(node: Node, known: set[Value]) -> list[bool]:
    given = [value in known for value in node.inputs]
    count = len(node.results)
    if all(is_scalar(value.type) for value in node.results):
        return [True] * count
    if node.op.traits.selects and node.regions:
        arms = [allocated_outputs(region, given[1:]) for region in node.regions]
        return [all(one) for one in zip(*arms, strict=True)]
    if node.op.traits.repeats and node.regions:
        return _through_loop(node, given)
    if node.regions or node.op.name == "constant":
        return [False] * count
    if node.op.traits.generates or node.op.name in _COPYING_KERNELS:
        return [True] * count
    kind = lowering_class(node)
    if kind in _ALLOCATING_CLASSES:
        return [True] * count
    if kind in ("view", "update") or node.op.traits.view:
        return [bool(given) and given[0]] * count
    if not all(isinstance(value.type, TensorType) for value in (*node.inputs, *node.results)):
        return [False] * count
    harmless = not node.effects & ~(Effects.RAISE | Effects.RANDOM)
    return [harmless and (not node.op.traits.may_alias or all(given))] * count


def _through_loop(node: Node, given: list[bool]) -> list[bool]:
    """Return the flags of a loop's state: the greatest fixed point over its initial values and its iterations."""
    state = state_size(node)
    made = list(given)
    while True:
        found = allocated_outputs(node.regions[1], made)[:state]
        after = [a and b for a, b in zip(made[:state], found, strict=True)]
        if after == made[:state]:
            return after
        made[:state] = after


__all__ = ["holds_no_arguments", "allocated_outputs"]
