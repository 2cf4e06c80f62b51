"""Positions that are known while compiling, and lie inside of the indexed array."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.graph import Node


def has_valid_positions(node: Node) -> bool:
    """Return whether the node indexes by constant positions from 0 to the size - 1, so that it cannot raise."""
    indexing = node.op.traits.indexing
    if indexing is None or indexing.form not in ("rows", "along"):
        return False
    source = node.inputs[indexing.first_operand].node
    indexed_type: Any = node.inputs[0].type if node.op.traits.scatter is None else node.results[0].type
    size = None if indexed_type.shape is None else indexed_type.shape[node.attributes.get("axis", 0)]
    if source is None or source.op.name != "constant" or not isinstance(size, int):
        return False
    positions = np.asarray(source.attributes["value"])
    return bool(((positions >= 0) & (positions < size)).all())
