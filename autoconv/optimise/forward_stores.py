"""Forward stores to loads, for new arrays that are only loaded and stored as a whole.

A load becomes the value that was stored last. Before another use of the array (a view, a region, an output), the array
is materialised: a new array is made from its current contents.

    before   graph f(%x: float64[4]) {
               %square = square(%x): float64[4]
               %new = array_of(%square): array<float64[4], [8]>
               %load = array_load(%new): float64[4]
               %add = add(%load, %x): float64[4]
               %store = array_store(%new, %add): ()
               %again = array_load(%new): float64[4]
               %sin = sin(%again): float64[4]
               return %sin, %new
             }
    after    graph f(%x: float64[4]) {
               %square = square(%x): float64[4]
               %add = add(%square, %x): float64[4]
               %sin = sin(%add): float64[4]
               %new = array_of(%add): array<float64[4], [8]>
               return %sin, %new
             }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops import OPS
from autoconv.ops.analysis.extents import Extents
from autoconv.ops.rules import is_known_to_broadcast


def forward_array_stores(graph: Graph, contract: str = "function") -> Graph:
    """Forward stores in a graph and its regions, each on its own."""
    return _Forwarder(graph, shared=None).run() if any(map(_creates_forwardable_array, graph.walk())) else graph


class _Forwarder(Rewriter[None]):
    """The pass over one graph. `_contents` maps arrays that are not materialised to their contents.

    `_materialised_before` maps a node to the arrays that have to be materialised before it.
    """

    def __init__(self, graph: Graph, shared: None, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, shared, copies)
        self._contents: dict[Value, Value] = {}
        self._materialised_before = _materialisation_points(graph)
        self._forwarded_arrays = {array for arrays in self._materialised_before.values() for array in arrays}

    def append_rewritten(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._materialise(self._materialised_before.get(node, ()))
            super().append_rewritten([node])

    def rebuild(self) -> Graph:
        self.append_rewritten(self.graph.nodes)
        self._materialise(value for value in dict.fromkeys(self.graph.outputs) if value in self._contents)
        self.copy.outputs = [self.rewritten_output(i, value) for i, value in enumerate(self.graph.outputs)]
        return self.copy

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace a load by the contents stored last, and leave out the array and its stores."""
        name = node.op.name
        if name in ("array_of", "array_new") and node.results[0] in self._forwarded_arrays:
            contents = inputs[0] if inputs else self._add_fill(node)
            self._contents[node.results[0]] = contents
            return [contents]
        if name == "array_load" and node.inputs[0] in self._contents:
            return [self._contents[node.inputs[0]]]
        if name == "array_store" and node.inputs[0] in self._contents:
            self._contents[node.inputs[0]] = self._convert_stored(node, inputs[1])
            return []
        if name == "numpy_shapes" and not self._contents.keys().isdisjoint(node.inputs):
            return []  # the sizes are known to be equal
        return None

    def _materialise(self, arrays: Iterable[Value]) -> None:
        """Add nodes that make these arrays from their contents; skips arrays that are materialised already."""
        for array in arrays:
            contents = self._contents.pop(array, None)
            if contents is not None:
                creation = array.node
                assert creation is not None
                copy = self.copy.add(OPS["array_of"], [contents], name=creation.name, span=creation.span)
                self.values[array] = copy.results[0]

    def _add_fill(self, node: Node) -> Value:
        """Add the contents of a new array that is filled with a number; return them."""
        shape, dtype, fill = (node.attributes[key] for key in ("shape", "dtype", "fill"))
        attributes = {"value": np.array(fill, dtype.numpy), "weak": False}
        fill_values = self.copy.add(OPS["constant"], (), attributes, span=node.span).results
        return self.copy.add(OPS["fill"], fill_values, {"shape": shape}, span=node.span).results[0]

    def _convert_stored(self, node: Node, value: Value) -> Value:
        """Return the value with the dtype and the shape of the array."""
        array: Any = node.inputs[0].type
        stored_type: Any = value.type
        if stored_type.weak or stored_type.dtype is not array.dtype:
            op = OPS["python_cast" if stored_type.weak else "cast"]
            value = self.copy.add(op, [value], {"dtype": array.dtype}, span=node.span).results[0]
        if stored_type.shape != array.shape:
            value = self.copy.add(OPS["broadcast_to"], [value], {"shape": array.shape}, span=node.span).results[0]
        return value


def _materialisation_points(graph: Graph) -> dict[Node | None, list[Value]]:
    """Return the arrays whose stores are forwarded, by the node before which they are materialised.

    The key None holds the arrays that no node of the graph needs in memory.
    """
    extents = Extents(graph)
    stored_arrays: set[Value] = set()
    # The first node that needs the array in memory, None if none does so far:
    first_use_by_array: dict[Value, Node | None] = {}
    for node in graph.nodes:
        for array in node.inputs:
            is_unused = array in first_use_by_array and first_use_by_array[array] is None
            if is_unused and not _needs_only_contents(node, array, extents):
                first_use_by_array[array] = node
        if node.op.name == "array_store" and first_use_by_array.get(node.inputs[0], node) is None:
            stored_arrays.add(node.inputs[0])
        if _creates_forwardable_array(node):
            first_use_by_array[node.results[0]] = None
    arrays_by_node: dict[Node | None, list[Value]] = {}
    for array in first_use_by_array:
        if array in stored_arrays:
            arrays_by_node.setdefault(first_use_by_array[array], []).append(array)
    return arrays_by_node


def _creates_forwardable_array(node: Node) -> bool:
    """Return whether the node makes a writable array of static shape with known contents."""
    if node.op.name == "array_of":
        type_ = node.inputs[0].type
        return isinstance(type_, TensorType) and not type_.weak and not node.attributes.get("read_only")
    if node.op.name != "array_new" or node.inputs or node.attributes["fill"] is None:
        return False
    return all(isinstance(size, int) for size in node.attributes["shape"])


def _needs_only_contents(node: Node, array: Value, extents: Extents) -> bool:
    """Return whether the node loads the array, stores a value that is known to fit all of it, or compares sizes."""
    if node.op.name == "array_load":
        return True
    if node.op.name == "numpy_shapes":
        return extents.are_equal(*node.inputs)
    if node.op.name != "array_store" or node.inputs[1] is array:
        return False
    target_type, value_type = array.type, node.inputs[1].type
    if not isinstance(target_type, ArrayType) or not isinstance(value_type, TensorType):
        return False
    if not np.can_cast(value_type.dtype.numpy, target_type.dtype.numpy, "safe" if not value_type.weak else "same_kind"):
        return False
    if value_type.shape == target_type.shape:
        return None not in target_type.shape or extents.are_equal(array, node.inputs[1])
    has_known_shape = all(isinstance(size, int) for size in target_type.shape)
    return has_known_shape and is_known_to_broadcast(target_type.shape, value_type.shape)
