"""Marks of arrays that NumPy returns read-only, such as those of `np.broadcast_to`."""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Node, Value
from autoconv.ops.index_spec import At, NewAxis, Rest, Slice
from autoconv.runtime.recording.regions import Trace, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.dispatch import graph_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def mark_read_only(result: object) -> Any:
    """Register a result that NumPy returns read-only; return it as a value of the graph being recorded."""
    region = current_region()
    if region is None or not isinstance(result, Tensor):
        return result
    value = region.lift(graph_value(region, result))
    region.trace.read_only_values.add(value)
    return SymbolicTensor(value)


def is_read_only(value: Value, trace: Trace) -> bool:
    """Return whether the value is an array that NumPy makes read-only, or a view of one."""
    if not trace.read_only_values:
        return False
    while value not in trace.read_only_values and value.node is not None and _is_view(value.node):
        value = value.node.inputs[0]
    return value in trace.read_only_values


def _is_view(node: Node) -> bool:
    """Return whether NumPy's counterpart of the node makes a view, as it does not for an index by arrays."""
    if not node.op.traits.view or node.op.traits.indexing is None:
        return node.op.traits.view
    return all(isinstance(entry, (NewAxis, Rest, At, Slice)) for entry in node.attributes.get("spec", (None,)))


def refuse_write_beside_overlapping_views() -> None:
    """Raise StagingError if a graph being recorded has a view with overlapping elements.

    Callers are about to raise NumPy's error for a write to a read-only array. Views with overlapping elements count as
    read-only, but NumPy lets programs write to them.
    """
    region = current_region()
    while region is not None:
        if any(node.attributes.get("read_only") == "overlaps" for node in region.graph.walk()):
            raise StagingError("an array is written that may be a view of overlapping elements", current_place())
        region = region.parent
