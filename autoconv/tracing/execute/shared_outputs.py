"""Outputs of a graph that have to be one and the same array, and outputs that have to be copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Value
from autoconv.graph.region_flow import without_identities
from autoconv.graph.types import TensorType


def first_equal_outputs(*graphs: Graph) -> list[int]:
    """Return for each output the position of the first output that is the same value; empty if all are different.

    Equal outputs have to be one array. `graphs` are forms of one graph, before and after optimisation: outputs count
    as equal if they are one value in any of them.
    """
    first_by_value: dict[Value, int] = {}
    positions = []
    for position, values in enumerate(zip(*(graph.outputs for graph in graphs), strict=True)):
        sources = list(map(without_identities, values))
        first_position = min((first_by_value[value] for value in sources if value in first_by_value), default=position)
        positions.append(first_position)
        first_by_value.update((value, first_position) for value in sources if value not in first_by_value)
    return positions if positions != list(range(len(positions))) else []


def copy_shared_result(result: Any, value: Value) -> Any:
    """Return a copy of the array of a tensor; return other results unchanged.

    `value` is the result in the graph. Arrays in memory, objects and read-only arrays are not copied.
    """
    creation = without_identities(value).node
    if creation is not None and creation.op.name == "numpy_read_only":
        return result
    return np.array(result) if isinstance(result, np.ndarray) and isinstance(value.type, TensorType) else result
