"""Replace lists by arrays where they keep the length that they begin with and their elements have one size.

A loop over a TensorArray then runs in place, without objects. Elements that were never written are zeros, as in lists.

    before   graph f(%i: int32[], %x: float32[3]) {
               %n = constant(value=array(int32[], 4)): int32[]
               %list = list_reserve(%n, dtype=float32, shape=(3,)): list<float32[3]>
               %set = list_set(%list, %i, %x): list<float32[3]>
               %rows = list_stack(%set, shape=(3,)): float32[?,3]
               return %rows
             }
    after    graph f(%i: int32[], %x: float32[3]) {
               %n = constant(value=array(int32[], 4)): int32[]
               %constant = constant(value=array(float32[], 0.0)): float32[]
               %fill = fill(%constant, shape=(4, 3)): float32[4,3]
               %constant_1 = constant(value=array(int64[], 4)): int64[]
               %list_position = list_position(%i, %constant_1, wrap=False, writes=True): int64[]
               %set_item = set_item(%fill, %x, %list_position, spec=(At('input'),)): float32[4,3]
               return %set_item
             }
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autoconv.graph.dtypes import DType, int32, int64
from autoconv.graph.graph import Graph, Node, Value, copy_node
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import Dimension, TensorType, Type
from autoconv.ops import OPS
from autoconv.ops.index_spec import INPUT, At
from autoconv.optimise.list_elements import array_types
from autoconv.optimise.specialise import CannotSpecialise, generalise, specialise
from autoconv.optimise.symbolic.driver import has_symbols

ArrayTypes = dict[Value, TensorType]


def replace_lists_by_arrays(graph: Graph, contract: str = "function") -> Graph:
    """Return the graph with arrays in place of lists of fixed length with elements of one size."""
    if not any(node.op.name in ("list_reserve", "list_from_tensor") for node in graph.walk()):
        return graph
    try:
        # Infers element types and lengths.
        parameter_types = [value.type for value in graph.parameters]
        if any(map(has_symbols, parameter_types)):  # the graph has the preconditions already
            specialised_graph, _ = generalise(graph, parameter_types)
        else:
            specialised_graph = specialise(graph, parameter_types)
    except CannotSpecialise:
        return graph
    # For an array of unknown length, items are read and written by kernels, which are slower than those of lists.
    all_types = array_types(specialised_graph).items()
    types = {value: type_ for value, type_ in all_types if _is_length((type_.shape or (None,))[0])}
    return _ListReplacer(specialised_graph, types).run() if types else graph


class _ListReplacer(Rewriter[ArrayTypes]):
    """The pass over one graph or region. `shared` maps each list that an array replaces to the array's type."""

    def type_of(self, value: Value) -> Type:
        return self.shared.get(value, value.type)

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace the ops of a list that became an array by ops of arrays."""
        if node.regions:
            copy = copy_node(self.copy, node, inputs, self.rewritten_regions(node, inputs))
            for result_copy, result in zip(copy.results, node.results, strict=True):
                result_copy.type = self.type_of(result)
            return copy.results
        if node.op.name in ("list_reserve", "list_from_tensor") and node.results[0] in self.shared:
            return [inputs[0] if node.op.name == "list_from_tensor" else self._add_zeros(node)]
        if not node.inputs or node.inputs[0] not in self.shared:
            return None
        array, wrap = inputs[0], bool(node.attributes.get("wrap"))
        match node.op.name:
            case "list_length":
                return [self._add_length(node, array, int32)]
            case "list_stack":
                return [array]
            case "list_zeros_like":
                return [self._add(node, "zeros_like", array)]
            case "list_add":
                return [self._add_sum(node, *inputs)]
            case "list_get":
                position = self._add_position(node, array, inputs[1], wrap=wrap)
                return [self._add(node, "get_item", array, position, spec=(At(INPUT),))]
        assert node.op.name == "list_set"
        position = self._add_position(node, array, inputs[1], wrap=wrap, writes=True)
        result = self._add(node, "set_item", array, inputs[2], position, spec=(At(INPUT),))
        result.type = self.type_of(node.results[0])
        return [result]

    def _add_sum(self, node: Node, first: Value, second: Value) -> Value:
        """Add the sum of two arrays. If one has only zeros and one element, that element is added to the other."""
        for array, list_ in ((first, node.inputs[1]), (second, node.inputs[0])):
            update = list_.node
            if update is not None and update.op.name == "list_set" and _is_new(update.inputs[0]):
                index, element = (self.values[value] for value in update.inputs[1:])
                wrap = bool(update.attributes.get("wrap"))
                position = self._add_position(update, array, index, wrap=wrap, writes=True)
                return self._add(node, "add_at_item", array, element, position, spec=(At(INPUT),))
        return self._add(node, "add", first, second)

    def _add(self, node: Node, op: str, *inputs: Value, **attributes: object) -> Value:
        """Add an op with the span of `node`; return its result."""
        return self.copy.add(OPS[op], inputs, attributes, span=node.span).results[0]

    def _add_position(self, node: Node, array: Value, index: Value, **attributes: bool) -> Value:
        """Add the check of a list index against the array's length; return the position."""
        return self._add(node, "list_position", index, self._add_length(node, array, int64), **attributes)

    def _add_length(self, node: Node, array: Value, dtype: DType) -> Value:
        """Add the length of the array as a number of the dtype; return it."""
        length = (array.shape or (None,))[0]
        if isinstance(length, int):
            return self._add(node, "constant", value=np.array(length, dtype.numpy))
        return self._add(node, "dimension", array, axis=0, dtype=dtype)

    def _add_zeros(self, node: Node) -> Value:
        """Add the array for a list that `node` reserves; return it."""
        type_ = self.shared[node.results[0]]
        zero = self._add(node, "constant", value=np.zeros((), type_.dtype.numpy))
        return self._add(node, "fill", zero, shape=type_.shape)


def _is_length(number: Dimension) -> bool:
    """Return whether the number is known, and not negative, for which the kernels of lists raise an error."""
    return number is not None and not (isinstance(number, int) and number < 0)


def _is_new(list_: Value) -> bool:
    """Return whether no element of the list has been written."""
    return list_.node is not None and list_.node.op.name == "list_reserve"
