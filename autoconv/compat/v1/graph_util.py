"""Extraction of subgraphs of GraphDefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """Return a GraphDef with the nodes `dest_nodes` and those on which they depend, in the order of `graph_def`.

    Raises ValueError for a name that the GraphDef lacks.

    >>> with autoconv.Graph().as_default() as graph:
    ...     x = autoconv.constant(1.0, name="x")
    ...     y = autoconv.math.tanh(x, name="y")
    ...     z = autoconv.math.exp(x, name="z")
    >>> [node.name for node in autoconv.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["y"]).node]
    ['x', 'y']
    """
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings.")
    node_by_name = {node.name: node for node in graph_def.node}
    worklist = list(dest_nodes)
    names: set[str] = set()
    while worklist:
        name = worklist.pop()
        if name not in node_by_name:
            raise ValueError(f"{name} is not in graph")
        if name not in names:
            names.add(name)
            worklist += [reference.lstrip("^").partition(":")[0] for reference in node_by_name[name].input]
    result = type(graph_def)()
    result.node.extend(node for node in graph_def.node if node.name in names)
    result.versions.CopyFrom(graph_def.versions)
    return result
