"""Evaluate traced values for the call that caused the trace: initial values of variables created in a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.backends import REFERENCE
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import Region, Trace
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tracing.key.cache_key import TensorKey, VariableKey
from autoconv.tracing.key.call import Call


def make_evaluator(trace: Trace, call: Call, outer_region: Region | None) -> Callable[[Value], Any]:
    """Return a function that takes a value of the root graph and returns its array in this call.

    The function returns None if the array is not available: the value depends on an unknown argument or an earlier
    write, or belongs to a branch or a loop. `outer_region` is the region of the surrounding trace that makes the call,
    if any.
    """

    def evaluate(value: Value) -> Any:
        """Return the array of a value in this call; None if it is not available."""
        graph = trace.root.graph
        nodes = _backward_slice(graph, value)
        if nodes is None:
            return None
        needed_values = {operand for node in nodes for operand in node.inputs} | {value}
        values = _collect_arguments(call, graph, needed_values, outer_region)
        if values is None:
            return None
        for captured, parameter in trace.captures.values():
            values[parameter] = captured._array if isinstance(captured, EagerTensor) else captured
        slice_graph = Graph("initial value", list(graph.parameters), nodes, [value])
        (array,) = REFERENCE.compile(slice_graph)([values.get(parameter) for parameter in graph.parameters])
        return array

    return evaluate


def _backward_slice(graph: Graph, value: Value) -> list[Node] | None:
    """Return the backward slice of a value, in program order; None if it is in a region or has effects."""
    if value.graph is not graph:
        return None
    needed_values, nodes = {value}, []
    for node in reversed(graph.nodes):
        if needed_values.intersection(node.results):
            nodes.append(node)
            needed_values.update(node.inputs)
    has_side_effects = any(node.effects & (Effects.WRITE | Effects.OUTPUT) for node in nodes)
    reads = any(node.effects & Effects.READ for node in nodes)
    graph_writes = any(node.effects & Effects.WRITE for node in graph.nodes)
    if has_side_effects or (reads and graph_writes):
        return None
    return nodes[::-1]


def _collect_arguments(
    call: Call, graph: Graph, values: set[Value], outer_region: Region | None
) -> dict[Value, Any] | None:
    """Return the arrays of the parameters for arguments that are among `values`; None if one is unknown."""
    arrays: dict[Value, Any] = {}
    parameters = iter(graph.parameters)
    for leaf, key in zip(call.leaves, call.key.leaves, strict=True):
        if not isinstance(key, (TensorKey, VariableKey)):
            continue
        parameter = next(parameters)
        if parameter not in values:
            continue
        array = _leaf_array(leaf, outer_region)
        if array is None:
            return None
        arrays[parameter] = array
    return arrays


def _leaf_array(leaf: Any, outer_region: Region | None) -> Any:
    """Return the array or storage of a leaf at trace time; None if it has none."""
    if isinstance(leaf, SymbolicTensor):
        return None if outer_region is None else outer_region.contract.evaluate(leaf.value_in_graph)
    if isinstance(leaf, Variable):
        return leaf.storage
    if isinstance(leaf, EagerTensor):
        return leaf._array
    return np.asarray(leaf) if isinstance(leaf, (np.ndarray, np.generic, bool, int, float)) else None
