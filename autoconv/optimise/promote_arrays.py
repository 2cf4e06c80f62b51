"""Promotion of read-only arrays: loads of an array that is never written become the stored value.

An argument that is never written is loaded once, where the graph starts; native code reads it in place.
A loop that makes a new array in each iteration carries the array's contents instead. Where the array itself is used
after the loop, it is made there; after zero iterations it is the initial array.

    before   graph f(%A: array<float64[4], [8]>, %B: array<float64[4], [8]>) {
               %load = array_load(%A): float64[4]
               %square = square(%load): float64[4]
               %new = array_of(%square): array<float64[4], [8]>
               %again = array_load(%new): float64[4]
               %store = array_store(%B, %again): ()
               return
             }
    after    graph f(%A: array<float64[4], [8]>, %B: array<float64[4], [8]>) {
               %array_load = array_load(%A): float64[4]
               %square = square(%array_load): float64[4]
               %store = array_store(%B, %square): ()
               return
             }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Node, Value, append_copy, clone, copy_regions
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import ArrayType, TensorType, Type
from autoconv.ops import OPS
from autoconv.optimise.memory_to_value import ReadOnlyArrays


def promote_read_only_arrays(graph: Graph, contract: str = "function") -> Graph:
    """Replace arrays that are created from a tensor and only read, as a whole or by static slices, by tensors.

    Regions take and return the contents instead of the arrays.
    """
    arrays = ReadOnlyArrays(graph)
    return _Promotion(graph, arrays).run() if arrays.values else graph


class _Promotion(Rewriter[ReadOnlyArrays]):
    """The pass over one graph or region. `values` maps promoted arrays to their contents, tensors of the copy."""

    def __init__(self, graph: Graph, shared: ReadOnlyArrays, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, shared, copies)
        self._rebuilt_arrays: dict[Value, Value] = {}  # results of loops that are also used as arrays

    def type_of(self, value: Value) -> Type:
        type_ = value.type
        if value not in self.shared.values or value in self.shared.arguments:
            return type_
        assert isinstance(type_, ArrayType)
        return TensorType(type_.dtype, type_.shape)

    def rebuild(self) -> Graph:
        for value in self.graph.parameters:
            if value in self.shared.arguments:
                self.values[value] = self.copy.add(OPS["array_load"], [self.values[value]]).results[0]
        return super().rebuild()

    def rewritten_output(self, position: int, value: Value) -> Value:
        is_array = value in self._rebuilt_arrays and not self.shared.is_passed_on(self.graph, position)
        return self._rebuilt_arrays[value] if is_array else self.values[value]

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value]:
        if node.op.name == "array_load" and node.inputs[0] in self.shared.values:
            return inputs[:1]
        if node.results and node.results[0] in self.shared.values and not node.regions:
            return [self._add_contents(node)]
        return self._copy_node(node)

    def _add_contents(self, node: Node) -> Value:
        """Add the nodes that compute the contents of the promoted array that `node` makes; return the contents."""
        name = node.op.name
        if name == "array_of":
            return self.values[node.inputs[0]]
        if name == "array_new":
            shape, dtype, fill = (node.attributes[key] for key in ("shape", "dtype", "fill"))
            attributes = {"value": np.array(fill, dtype.numpy), "weak": False}
            fill_values = self.copy.add(OPS["constant"], (), attributes, span=node.span).results
            return self.copy.add_replacement(node, OPS["fill"], fill_values, {"shape": shape}).results[0]
        op = OPS[node.op.traits.op_on_tensors]
        selected = self.copy.add_replacement(node, op, [self.values[node.inputs[0]]], node.attributes)
        return selected.results[0]

    def _copy_node(self, node: Node) -> Sequence[Value]:
        """Add a copy of a node that takes and returns contents of promoted arrays; return its results."""
        inputs = [self._convert_input(node, i) for i in range(len(node.inputs))]
        regions = self.rewritten_regions(node, inputs)
        types = [self.type_of(value) for value in node.results]
        rebuilt_results = [value for value in node.results if value in self.shared.rebuilt_results]
        # The loop test is evaluated before the loop, which may write to the test's operands.
        must_test_first = any(map(self._may_be_initial, rebuilt_results))
        has_iterated = _append_region(self.copy, regions[0], inputs) if must_test_first else None
        loop_copy = self.copy.add_replacement(node, node.op, inputs, node.attributes, regions, types)
        self.values.update(zip(node.results, loop_copy.results, strict=True))
        for value in rebuilt_results:
            self._rebuilt_arrays[value] = self._rebuild_array(value, has_iterated)
        return loop_copy.results

    def _may_be_initial(self, result: Value) -> bool:
        """Return whether the result may be the initial array itself."""
        assert result.node is not None
        return result.node.inputs[result.index] not in self.shared.values

    def _convert_input(self, node: Node, position: int) -> Value:
        """Return an operand in the copy: a promoted array's contents if the node needs only these, else the array."""
        value = node.inputs[position]
        if value in self._rebuilt_arrays and not self.shared.is_read(node, position):
            return self._rebuilt_arrays[value]
        result = self.values[value]
        if node.op.traits.repeats and node.regions[1].parameters[position] in self.shared.values:
            if not isinstance(result.type, ArrayType):
                return result
            if result.node is not None and result.node.op.name == "absent":  # an absent value has no contents
                attributes = {"type": TensorType(result.dtype, result.shape)}
                return self.copy.add(OPS["absent"], (), attributes, span=node.span).results[0]
            return self.copy.add(OPS["array_load"], [result], span=node.span).results[0]
        return result

    def _rebuild_array(self, result: Value, has_iterated: Value | None) -> Value:
        """Add the array for a promoted result of a loop, and return it: a new one, or the initial one.

        `has_iterated` tells at run time whether the loop has an iteration; None where the initial array is promoted.
        """
        loop = result.node
        assert loop is not None
        contents = self.values[result]
        if not self._may_be_initial(result):
            return self.copy.add(OPS["array_of"], [contents], _array_attributes(result.type), span=loop.span).results[0]
        assert has_iterated is not None
        contents_and_initial = [contents, self.values[loop.inputs[result.index]]]
        arms = [_build_arm(contents_and_initial, position) for position in range(2)]
        return self.copy.add(
            OPS["cond"], [has_iterated, *contents_and_initial], regions=arms, types=[result.type], span=loop.span
        ).results[0]


def _append_region(copy: Graph, region: Graph, arguments: Sequence[Value]) -> Value:
    """Append a region's nodes to `copy`, with `arguments` for its first parameters; return its single output."""
    values = dict(zip(region.parameters, arguments, strict=False))
    for node in region.nodes:
        regions = copy_regions(node, {}, lambda graph: clone(graph, lambda *_: None))
        append_copy(copy, node, values, regions)
    return values[region.outputs[0]]


def _array_attributes(array: Type) -> dict[str, Any]:
    """Return the attributes of the array_of node that makes an array of this type."""
    return {"read_only": True} if isinstance(array, ArrayType) and array.read_only else {}


def _build_arm(contents_and_initial: Sequence[Value], position: int) -> Graph:
    """Return an arm of the cond on whether the loop had an iteration.

    The arm at position 0 makes an array from the contents; the arm at position 1 returns the initial array.
    """
    arm = Graph(("iterated", "not_iterated")[position])
    parameters = [arm.add_parameter(value.type, value.name) for value in contents_and_initial]
    contents, initial = parameters
    attributes = _array_attributes(initial.type)
    arm.outputs = [initial if position else arm.add(OPS["array_of"], [contents], attributes).results[0]]
    return arm
