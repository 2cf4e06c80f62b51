"""Escape check for functions, methods and slices that a trace has created with symbolic values.

They are constants of the graph. Loops and conditions may carry them as state that is never read, and a `try` may store
them for its handlers. Any other use is refused, because they would outlive the trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from autoconv.errors import StagingError
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.runtime.support.spans import place_of

_QUERIES = frozenset({"object_isinstance", "object_truth"})  # ops whose results do not refer to their operands
_KEY_FUNCTIONS = frozenset({"sort", "sorted", "min", "max"})  # functions and methods that take a sort key


def refuse_escapes(graph: Graph, created_functions: Mapping[Value, bool]) -> None:
    """Raise StagingError if one of the created functions is used or returned.

    `created_functions` maps each to true if it reads values of the trace. One that reads none may also be a sort key.
    """
    _refuse_tainted_uses(graph, {value for value, reads_trace in created_functions.items() if reads_trace}, _QUERIES)
    _refuse_tainted_uses(graph, set(created_functions), _QUERIES | _KEY_FUNCTIONS)


def _refuse_tainted_uses(graph: Graph, functions: set[Value], harmless_operations: frozenset[str]) -> None:
    """Raise StagingError if one of the functions becomes part of a value that is known only at run time."""
    analysis = _TaintAnalysis(graph, functions, harmless_operations)
    previous_count = -1
    while previous_count != len(analysis.tainted):
        previous_count = len(analysis.tainted)
        for node in graph.walk():
            analysis.propagate(node)
    if not analysis.tainted.isdisjoint(graph.outputs):
        _refuse(None)


class _TaintAnalysis:
    """Forward dataflow of values that may be one of the functions of the trace, to a fixed point.

    `tainted` are the values that may be such a function. A `try` stores values for its handlers in dicts of the graph;
    `tainted_items` are the items of these dicts that may be such a function, as pairs of the dict's value and a key.
    """

    def __init__(self, graph: Graph, tainted: set[Value], harmless_operations: frozenset[str]) -> None:
        self.tainted = tainted
        self._harmless_operations = harmless_operations
        self.tainted_items: set[tuple[Value, int]] = set()
        self._graph = graph
        self._outer: dict[Value, Value] = {}  # parameter of a region -> value outside that it captures
        for node in graph.walk():
            for _, outer_values, parameters in captures(node):
                for outer, inner in zip(outer_values, parameters, strict=True):
                    if outer not in parameters:  # a recursive call passes its region's own captures on
                        self._outer.setdefault(inner, outer)

    def propagate(self, node: Node) -> None:
        """Propagate through a node and its regions."""
        dict_item = self._dict_item(node)
        if dict_item in self.tainted_items and node.op.name == "object_method":
            self.tainted.update(node.results)
        if node.regions:
            self._propagate_into_regions(node)
        elif not self.tainted.isdisjoint(node.inputs) and _operation_name(node) not in self._harmless_operations:
            dict_and_key = node.inputs[:2]  # of a node that stores an item: its third input is the item
            if dict_item is None or not self.tainted.isdisjoint(dict_and_key):
                _refuse(node)
            dict_value, _ = dict_item
            if not self._is_internal_to_try(dict_value):
                _refuse(node)
            self.tainted_items.add(dict_item)

    def _propagate_into_regions(self, node: Node) -> None:
        """Propagate through the regions of a node: captures, loop state, and results."""
        tainted = self.tainted
        if not node.op.traits.control:
            outputs = [value for region in node.regions for value in region.outputs]
            if not tainted.isdisjoint((*node.inputs, *outputs)):
                _refuse(node)
            return
        tainted.update(target for source, target in flow_edges(node) if source in tainted)

    def _dict_item(self, node: Node) -> tuple[Value, int] | None:
        """Return the dict and the key, an int, of a node that sets or gets an item by a constant key; else None."""
        sets_item = node.op.name == "object_apply" and node.attributes["function"] == "setitem"
        gets_item = node.op.name == "object_method" and node.attributes["name"] == "get"
        if not (sets_item or gets_item) or len(node.inputs) != 3:
            return None
        key = node.inputs[1].node
        if key is None or key.op.name != "object_constant" or type(key.attributes["value"]) is not int:
            return None
        return self._captured_value(node.inputs[0]), key.attributes["value"]

    def _captured_value(self, value: Value) -> Value:
        """Return the value of the outermost region that `value` is a capture of; `value` itself if it is no capture."""
        while value in self._outer:
            value = self._outer[value]
        return value

    def _is_internal_to_try(self, dict_value: Value) -> bool:
        """Return whether a dict is internal to a `try`: it is only used to set and get items by constant keys."""
        if dict_value.node is None or dict_value.node.op.name != "object_build" or dict_value.node.inputs:
            return False
        graphs = {self._graph, *(region for node in self._graph.walk() for region in node.regions)}
        if any(self._captured_value(value) is dict_value for graph in graphs for value in graph.outputs):
            return False
        return all(
            node.regions or (position == 0 and self._dict_item(node) is not None)
            for node in self._graph.walk()
            for position, value in enumerate(node.inputs)
            if self._captured_value(value) is dict_value
        )


def _operation_name(node: Node) -> str:
    """Return the name of the operation, method or function that a node applies."""
    attribute = {"object_method": "name", "object_apply": "function"}.get(node.op.name)
    return node.op.name if attribute is None else str(node.attributes[attribute])


def captures(node: Node) -> Iterable[tuple[Graph, Sequence[Value], Sequence[Value]]]:
    """Iterate over the regions of a cond, while, try or call, with their captures and the parameters for these."""
    first_capture = {"cond": 1, "while": node.attributes.get("state", 0), "try": 0, "call": 0}.get(node.op.name)
    if first_capture is None:
        return
    outer_values = node.inputs[first_capture:]
    for region in node.regions:
        yield region, outer_values, region.parameters[len(region.parameters) - len(outer_values) :]


def _refuse(node: Node | None) -> NoReturn:
    """Raise StagingError at the place of a node, or without a place."""
    place = place_of(node.span) if node is not None and node.span is not None else None
    raise StagingError(
        "a function created by the call becomes part of a value known only at run time", place,
        "the function outside, called with the values",
    )  # fmt: skip
