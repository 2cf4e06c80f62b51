"""Promotion of the program's arrays from constants to inputs of a graph, so that calls read their current contents.

While tracing, the arrays are constants, because shapes and the like may depend on their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType


def lift_captured_arrays(
    graph: Graph, sources: Iterable[tuple[Node, np.ndarray]], arrays_by_id: Mapping[int, Any]
) -> list[np.ndarray]:
    """Give the graph a parameter for each array of the program; return the arrays in the order of the parameters.

    `sources` are the graph's constant nodes, each with the array that it was made of; `arrays_by_id` are the arrays of
    the program. Arrays that the traced code created or changed stay constants.
    """
    arrays_by_node_id = {
        id(node): array for node, array in sources if _is_made_of_captured_array(node, array, arrays_by_id)
    }
    lifted_arrays: dict[int, np.ndarray] = {}  # id -> array, in the order of the parameters
    if arrays_by_node_id:
        _lift_constants(graph, arrays_by_node_id, lifted_arrays)
    return list(lifted_arrays.values())


def find_captured_constants(sources: Iterable[tuple[Node, np.ndarray]], arrays_by_id: Mapping[int, Any]) -> list[Value]:
    """Return the constants among `sources` (see `lift_captured_arrays`) that are made of arrays of the program."""
    return [node.results[0] for node, array in sources if _is_made_of_captured_array(node, array, arrays_by_id)]


def _is_made_of_captured_array(node: Node, array: np.ndarray, arrays_by_id: Mapping[int, Any]) -> bool:
    """Return whether an array is, or is a view of, one of the program's, and the constant still has its contents."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and id(owner) not in arrays_by_id:
        owner = owner.base
    return isinstance(owner, np.ndarray) and array.tobytes() == node.attributes["value"].tobytes()


def _lift_constants(graph: Graph, arrays_by_node_id: Mapping[int, np.ndarray], arrays: dict[int, np.ndarray]) -> None:
    """Replace the constants in the graph and its regions by parameters; add their arrays, by id, to `arrays`."""
    parameters_by_id: dict[int, Value] = {}

    def get_parameter(array: np.ndarray, name: str) -> Value:
        """Return the parameter for an array; it is added, with the name, for an array that has none yet."""
        if id(array) not in parameters_by_id:
            parameters_by_id[id(array)] = graph.add_parameter(TensorType(as_dtype(array.dtype), array.shape), name)
            arrays[id(array)] = array
        return parameters_by_id[id(array)]

    parameters_by_constant: dict[Value, Value] = {}
    kept_nodes = []
    for node in graph.nodes:
        if id(node) in arrays_by_node_id:
            graph._names.pop(node.name, None)  # frees the name for the parameter
            parameters_by_constant[node.results[0]] = get_parameter(arrays_by_node_id[id(node)], node.name)
            continue
        node.inputs = tuple(parameters_by_constant.get(value, value) for value in node.inputs)
        if node.op.name != "call":  # a called function is a graph of its own, with inputs for its arrays
            _lift_regions(node, arrays_by_node_id, get_parameter)
        kept_nodes.append(node)
    graph.nodes[:] = kept_nodes
    graph.outputs[:] = [parameters_by_constant.get(value, value) for value in graph.outputs]


def _lift_regions(node: Node, arrays_by_node_id: Mapping[int, np.ndarray], get_parameter: Any) -> None:
    """Replace the constants in the regions of a node by captures; each region gets the captures of all regions."""
    arrays_by_region: list[dict[int, np.ndarray]] = []  # for each region: id of an array -> the array
    values_by_region: list[dict[int, Value]] = []  # for each region: id of an array -> the region's parameter
    for region in node.regions:
        arrays: dict[int, np.ndarray] = {}
        parameter_count = len(region.parameters)
        _lift_constants(region, arrays_by_node_id, arrays)
        values_by_region.append(dict(zip(arrays, region.parameters[parameter_count:], strict=True)))
        del region.parameters[parameter_count:]
        arrays_by_region.append(arrays)
    all_arrays = {key: array for arrays in arrays_by_region for key, array in arrays.items()}
    for key, array in all_arrays.items():
        outer_value = get_parameter(array, "Const")  # TensorFlow's name of constants
        node.inputs = (*node.inputs, outer_value)
        for region, values_by_array in zip(node.regions, values_by_region, strict=True):
            value = values_by_array.get(key)
            if value is None:
                region.add_parameter(outer_value.type, outer_value.name)
            else:
                region.parameters.append(value)
