"""Promotion of the program's arrays from constants to inputs of a graph, so that calls read their present contents.

While tracing they are constants, because shapes and the like may need their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType


def make_inputs(
    graph: Graph, sources: Iterable[tuple[Node, np.ndarray]], leaves_by_id: Mapping[int, Any]
) -> list[np.ndarray]:
    """Give the graph a parameter for each array of the program; return the arrays in the order of the parameters.

    `sources` are constants and the arrays they were made of, `leaves_by_id` the arrays of the program by id. Arrays
    that the traced code made or changed stay constants.
    """
    live = {id(node): array for node, array in sources if _is_live(node, array, leaves_by_id)}
    arrays: dict[int, np.ndarray] = {}
    if live:
        _lift_constants(graph, live, arrays)
    return list(arrays.values())


def live_constants(sources: Iterable[tuple[Node, np.ndarray]], leaves_by_id: Mapping[int, Any]) -> list[Value]:
    """Return the constants that are made of arrays of the program."""
    return [node.results[0] for node, array in sources if _is_live(node, array, leaves_by_id)]


def _is_live(node: Node, array: np.ndarray, leaves_by_id: Mapping[int, Any]) -> bool:
    owner: Any = array
    while isinstance(owner, np.ndarray) and id(owner) not in leaves_by_id:
        owner = owner.base
    return isinstance(owner, np.ndarray) and array.tobytes() == node.attributes["value"].tobytes()


def _lift_constants(graph: Graph, live: Mapping[int, np.ndarray], arrays: dict[int, np.ndarray]) -> None:
    """Replace the constants in the graph and its regions by parameters; `arrays` receives the array of each."""
    values_by_array: dict[int, Value] = {}

    def parameter(array: np.ndarray, name: str) -> Value:
        if id(array) not in values_by_array:
            values_by_array[id(array)] = graph.add_parameter(TensorType(as_dtype(array.dtype), array.shape), name)
            arrays[id(array)] = array
        return values_by_array[id(array)]

    replaced: dict[Value, Value] = {}
    remaining = []
    for node in graph.nodes:
        if id(node) in live:
            graph._names.pop(node.name, None)
            replaced[node.results[0]] = parameter(live[id(node)], node.name)
            continue
        node.inputs = tuple(replaced.get(value, value) for value in node.inputs)
        if node.op.name != "call":  # a called function is a graph of its own, with inputs for its arrays
            _lift_regions(node, live, parameter)
        remaining.append(node)
    graph.nodes[:] = remaining
    graph.outputs[:] = [replaced.get(value, value) for value in graph.outputs]


def _lift_regions(node: Node, live: Mapping[int, np.ndarray], parameter: Any) -> None:
    """Lift the constants in the regions of a node; the captures for them are appended to those of all regions."""
    arrays_by_region: list[dict[int, np.ndarray]] = []
    values_by_region: list[dict[int, Value]] = []
    for region in node.regions:
        arrays: dict[int, np.ndarray] = {}
        parameter_count = len(region.parameters)
        _lift_constants(region, live, arrays)
        values_by_region.append(dict(zip(arrays, region.parameters[parameter_count:], strict=True)))
        del region.parameters[parameter_count:]
        arrays_by_region.append(arrays)
    all_arrays = {key: array for arrays in arrays_by_region for key, array in arrays.items()}
    for key, array in all_arrays.items():
        outer = parameter(array, "Const")
        node.inputs = (*node.inputs, outer)
        for region, values_by_array in zip(node.regions, values_by_region, strict=True):
            value = values_by_array.get(key)
            if value is None:
                region.add_parameter(outer.type, outer.name)
            else:
                region.parameters.append(value)


__all__ = ["live_constants", "make_inputs"]
