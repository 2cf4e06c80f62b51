"""Estimated memory of graphs, for the eviction of old traces."""

from __future__ import annotations

import numpy as np

from autoconv.graph.graph import Graph

_NODE_BYTES = 1100  # bytes per node, measured: the node, its values, and the backend's data for it


def graph_weight(graph: Graph) -> int:
    """Return an estimate of the bytes of a graph, its constants included."""
    constants = (node.attributes.get("value") for node in graph.walk())  # None for nodes that are no constants
    return sum(
        _NODE_BYTES + (constant.nbytes if isinstance(constant, (np.ndarray, np.generic)) else 0)
        for constant in constants
    )
