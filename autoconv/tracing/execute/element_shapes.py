"""Compilation of graphs that begin with the next element of a dataset, by the shapes of the elements.

    before   graph f(%iterator, …) {             elements of float32[?,784]
               %x = iterator_next(%iterator)
               …
    after    graph f(%iterator, …, %x) { … }     compiled for the shapes that occur, and called with each element

In such graphs, as in the training steps of Keras, the number of examples is open where the last batch may be smaller.
Code for one size is several times as fast, so the shapes of most batches get code of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends import get_backend
from autoconv.backends.interpreter import locate
from autoconv.graph.graph import Graph, Node, Span, Value, clone
from autoconv.graph.types import TensorType
from autoconv.optimise.specialise import is_static
from autoconv.tracing.execute.symbolic_shapes import IMMEDIATE_SHAPES, MultiShapeGraph

_NEXT = "iterator_next"


def takes_open_elements(graph: Graph, backend: str | None) -> bool:
    """Return whether the first node takes an element with open sizes from an argument, and no other node takes any."""
    if get_backend(backend).symbolic_code is None or not graph.nodes or graph.nodes[0].op.name != _NEXT:
        return False
    takers = [node for node in graph.walk() if node.op.name.startswith("iterator_")]
    (iterator,) = graph.nodes[0].inputs
    types = [value.type for value in graph.nodes[0].results]
    are_tensors = all(isinstance(type_, TensorType) and type_.shape is not None for type_ in types)
    has_other_open_sizes = not all(is_static(value.type) for value in graph.parameters if value is not iterator)
    is_open = are_tensors and not has_other_open_sizes and not all(map(is_static, types))
    return is_open and len(takers) == 1 and iterator in graph.parameters


class ElementGraph:
    """A CompiledGraph whose code is called with the next element of the iterator argument."""

    entry = None
    sizes = None
    holds_no_arguments = False

    def __init__(self, graph: Graph, contract: str, backend: str | None = None) -> None:
        first_node = graph.nodes[0]
        self._span = first_node.span
        self._iterator_position = graph.parameters.index(first_node.inputs[0])
        graph_of_elements = clone(graph, _take_parameters)
        self._graph = MultiShapeGraph(
            graph_of_elements, contract, None, backend=backend, immediate_shapes=IMMEDIATE_SHAPES
        )

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        try:
            element = arguments[self._iterator_position].take()
        except BaseException as error:
            locate(error, self._span)
            raise
        return self._graph([*arguments, *element])

    @property
    def kernel_calls(self) -> Sequence[tuple[str, Span | None]] | None:
        return self._graph.kernel_calls

    @property
    def notes(self) -> list[str]:
        return self._graph.notes


def _take_parameters(copy: Graph, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
    """Replace the node that takes an element by parameters of the copy."""
    return [copy.add_parameter(value.type, "element") for value in node.results] if node.op.name == _NEXT else None
