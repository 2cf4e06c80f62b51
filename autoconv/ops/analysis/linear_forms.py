"""Linear forms of a graph's integers: a constant plus multiples of values that are not decomposed further (atoms).

    row = k + 1 + turn      {k: 1, turn: 1} + 1

A capture of a region has the form of the outer value. The forms hold wherever the program raises no error, since
checked arithmetic does not wrap around.
"""

from __future__ import annotations

import numpy as np

from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.linear_form import LinearForm, of_atom
from autoconv.graph.region_flow import parameter_sources
from autoconv.graph.types import TensorType

_DEPTH_LIMIT = 32  # the most nodes between a value and its atoms
_NUMBER_KEEPING_OPS = frozenset({"identity", "python_cast", "python_int"})


class LinearForms:
    """The linear forms of the integers without dimensions in a graph and its regions."""

    def __init__(self, graph: Graph) -> None:
        self._outer_values: dict[Value, Value] = {}  # by parameter of a region: the only outer value that it holds
        self._forms: dict[Value, LinearForm] = {}
        self._collect_captures(graph, set())

    def _collect_captures(self, graph: Graph, visited_graphs: set[Graph]) -> None:
        """Record the outer value of each parameter of a region that always holds one and the same value."""
        for node in graph.nodes:
            if is_recursive(node):
                continue
            for region in node.regions:
                if region in visited_graphs:  # several nodes share it, so its parameters have several sources
                    for parameter in region.parameters:
                        self._outer_values.pop(parameter, None)
                    continue
                visited_graphs.add(region)
                sources: dict[Value, set[Value]] = {}
                for parameter, source in parameter_sources(node, region):
                    sources.setdefault(parameter, set()).update({source} - {parameter})
                for parameter, outer_values in sources.items():
                    if len(outer_values) == 1:
                        self._outer_values[parameter] = outer_values.pop()
                self._collect_captures(region, visited_graphs)

    def outermost(self, value: Value) -> Value:
        """Return the outermost value that a parameter captures; the value itself if it captures none."""
        while value in self._outer_values:
            value = self._outer_values[value]
        return value

    def of(self, value: Value, depth: int = 0) -> LinearForm:
        """Return the linear form of an integer; a value that is not computed linearly is an atom itself."""
        value = self.outermost(value)
        if value not in self._forms:
            self._forms[value] = (self._form_of_node(value.node, depth) if value.node else None) or of_atom(value)
        return self._forms[value]

    def _form_of_node(self, node: Node, depth: int) -> LinearForm | None:
        """Return the linear form of a node's result; None if it is not computed linearly."""
        constant = _constant(node)
        if constant is not None:
            return LinearForm(constant)
        if depth > _DEPTH_LIMIT or not all(_is_number(value) for value in (*node.inputs, *node.results)):
            return None
        name = node.op.name
        if name in _NUMBER_KEEPING_OPS:
            return self.of(node.inputs[0], depth + 1)
        if name == "range_item":
            position, start, _, step = node.inputs
            step_form = self.of(step, depth + 1)
            if step_form.terms:
                return None
            return self.of(start, depth + 1).plus(self.of(position, depth + 1), factor=step_form.constant)
        if name not in ("python_add", "python_subtract", "python_multiply", "python_negative"):
            return None
        forms = [self.of(value, depth + 1) for value in node.inputs]
        if name == "python_negative":
            return forms[0].times(-1)
        x, y = forms
        if name != "python_multiply":
            return x.plus(y) if name == "python_add" else x.minus(y)
        if x.terms and y.terms:
            return None
        return y.times(x.constant) if y.terms else x.times(y.constant)


def _constant(node: Node) -> int | None:
    """Return the value of a constant integer without dimensions; None for other nodes."""
    if node.op.name != "constant":
        return None
    array = np.asarray(node.attributes["value"])
    return int(array) if array.shape == () and array.dtype.kind == "i" else None


def _is_number(value: Value) -> bool:
    """Return whether a value is an integer of 64 bits without dimensions."""
    return isinstance(value.type, TensorType) and value.type.shape == () and value.type.dtype is int64
