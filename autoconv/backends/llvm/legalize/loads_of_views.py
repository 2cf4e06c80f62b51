"""Take new dimensions and sizes of loaded values from the views that they are loaded from.

Fused loops read views in place; a kernel would compute `expand_dims` of a value whose sizes are known only at run time,
and a loaded value whose size is read would be a copy.

    before   %x = array_load(%part): float64[?]; %column = expand_dims(%x, axis=1): float64[?,1]
    after    %view = array_view(%part, spec=(Slice(), NewAxis())); %column = array_load(%view): float64[?,1]

    before   %x = array_load(%part): float64[?]; %n = dimension(%x, axis=0, dtype=int32): int32[]
    after    %size = array_size(%part, axis=0): int64[]; %n = cast(%size, dtype=int32): int32[]
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewriter import Rewriter
from autoconv.ops import OPS
from autoconv.ops.index_spec import NewAxis, Slice
from autoconv.ops.rules import normalised_axes


def add_dimensions_to_views(graph: Graph) -> Graph:
    """Return the graph, with its regions, in which views have the new dimensions of loaded values."""
    has_candidates = any(node.op.name in ("reshape", "expand_dims", "dimension") for node in graph.walk())
    return _ViewLoads(graph, shared=None).run() if has_candidates else graph


class _ViewLoads(Rewriter[None]):
    """Rewrite one graph; `_arrays` maps values to the arrays that they were loaded from, if these are unchanged."""

    def __init__(self, graph: Graph, shared: None, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, shared, copies)
        self._arrays: dict[Value, Value] = {}
        # Operands of products keep their `expand_dims`, since `array_reductions` finds dot products by these.
        self._product_operands = {value for node in graph.nodes if node.op.name == "matmul" for value in node.inputs}

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Load a view with the new dimension instead of reshaping the loaded value.

        A write to memory empties `_arrays`, since the loaded values may differ from the arrays then.
        """
        if node.effects.must_run and not node.op.traits.allocates:
            self._arrays.clear()
        if node.op.name == "array_load" and _has_unknown_size(node.results[0]):
            self._arrays[node.results[0]] = inputs[0]
        if node.op.name == "dimension":
            return self._size_of_load(node)
        array = self._arrays.get(node.inputs[0]) if node.inputs else None
        if array is None:
            return None
        if node.op.name == "reshape" and _is_identity_reshape(node):
            self._arrays[node.results[0]] = array
            return inputs[:1]
        if node.op.name != "expand_dims" or node.results[0] in self._product_operands:
            return None
        if not isinstance(node.attributes["axis"], int):
            return None
        rank = len(node.results[0].shape or ())
        (axis,) = normalised_axes(node.attributes["axis"], rank)
        spec = (*(Slice(None, None, None),) * axis, NewAxis())
        view = self.copy.add(OPS["array_view"], [array], {"spec": spec}, span=node.span).results[0]
        self._arrays[node.results[0]] = view
        return self.copy.add_replacement(node, OPS["array_load"], [view]).results

    def _size_of_load(self, node: Node) -> Sequence[Value] | None:
        """Replace the size of a loaded value by that of the array, which no write changes; None for other values."""
        load = node.inputs[0].node
        if load is None or load.op.name != "array_load" or not _has_unknown_size(load.results[0]):
            return None
        (axis,) = normalised_axes(node.attributes["axis"], len(load.results[0].shape or ()))
        array = self.values[load.inputs[0]]
        sizes = self.copy.add(OPS["array_size"], [array], {"axis": axis}, span=node.span).results
        return self.copy.add(OPS["cast"], sizes, {"dtype": node.results[0].dtype}, span=node.span).results


def _has_unknown_size(value: Value) -> bool:
    """Return whether a size of the array is unknown before the run."""
    return None in (value.shape or ())


def _is_identity_reshape(node: Node) -> bool:
    """Return whether a vector is reshaped to a vector."""
    return len(node.inputs) == 1 and len(node.inputs[0].shape or ()) == 1 and node.attributes["shape"] == (-1,)
