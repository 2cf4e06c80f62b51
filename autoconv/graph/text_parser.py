"""Parser of graphs' text. No part of the text is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autoconv.graph.attribute_parser import parse_type, parse_value
from autoconv.graph.graph import Graph, Span, Value, compute_effects
from autoconv.graph.scanner import Scanner
from autoconv.graph.types import Type

if TYPE_CHECKING:
    from autoconv.ops.record import Op

_NUMBER = re.compile(r"\d+")
_INDEX = re.compile(r":\d+")
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z_]\w*")
_LINE_SPACE = re.compile(r"[ \t]*")
_START_OF_NAME = re.compile(r"(?=[^\s{#@])")

# Ops and attributes that saved graphs may have under former names.
_FORMER_OP_NAMES = {"outline": "shape_placeholder"}
_FORMER_ATTRIBUTE_NAMES = {
    ("custom_gradient", "arguments"): "argument_count", ("custom_gradient", "results"): "result_count",
    ("assert_true", "kind"): "failure", ("list_array", "given"): "has_given_dtype", ("numpy_copy", "how"): "method",
    ("numpy_copy", "number"): "copy_id",
    ("numpy_shapes", "how"): "rule", ("object_box", "how"): "boxing", ("object_build", "kind"): "class_name",
    ("typed_list_array", "given"): "has_given_dtype", ("typed_list_slice", "given"): "has_bounds",
}  # fmt: skip


def from_text(text: str, ops: Mapping[str, Op]) -> Graph:
    """Parse a graph, with ops looked up in `ops`; the inverse of `text.to_text`.

    Types are taken as written; `verify` checks them against the ops' type rules. Raises
    GraphSyntaxError, with line and column.
    """
    scanner = Scanner(text)
    try:
        graph = _parse_graph(scanner, ops, GraphScope())
    except RecursionError:
        scanner.fail("the text is nested too deeply")
    compute_effects(graph)
    scanner.skip_space()
    if scanner.position != len(text):
        scanner.fail(f"expected the end of the text, found {scanner.next_text()}")
    return graph


class GraphScope:
    """The graphs that a name can refer to in a text: the enclosing ones, and the last finished one of each name."""

    def __init__(self) -> None:
        self.enclosing: list[Graph] = []
        self._finished: dict[str, Graph] = {}

    def begin(self, graph: Graph) -> None:
        """Enter a graph whose text begins."""
        self.enclosing.append(graph)

    def end(self) -> None:
        """Leave the innermost graph, whose text has ended."""
        graph = self.enclosing.pop()
        self._finished[graph.name] = graph

    def resolve(self, name: str) -> Graph | None:
        """Return the graph to which the name refers at this point, or None."""
        return next((graph for graph in reversed(self.enclosing) if graph.name == name), self._finished.get(name))


def _parse_graph(scanner: Scanner, ops: Mapping[str, Op], scope: GraphScope) -> Graph:
    """Return the graph whose text comes next, or a known one to which the text refers by name."""
    if scanner.take("again"):  # a graph that was written out before
        scanner.skip_space()
        start = scanner.position
        name = scanner.parse_name("the name of a graph")
        known_graph = scope.resolve(name)
        if known_graph is None:
            scanner.fail(f"there is no graph {name!r} around or before this", start)
        return known_graph
    scanner.expect("graph")
    graph = Graph(scanner.parse_name("the name of a graph"))
    scope.begin(graph)
    values: dict[tuple[str, int], Value] = {}
    scanner.expect("(")
    while not scanner.take(")"):
        if graph.parameters:
            scanner.expect(",")
        name = _parse_new_name(scanner, graph)
        scanner.expect(":")
        values[name, 0] = graph.add_parameter(parse_type(scanner), name)
    scanner.expect("{")
    while scanner.is_at("%"):
        _parse_node(scanner, graph, values, ops, scope)
    scanner.expect("return")
    if scanner.is_at("%"):
        graph.outputs.append(_parse_reference(scanner, values))
    while graph.outputs and scanner.take(","):
        graph.outputs.append(_parse_reference(scanner, values))
    scanner.expect("}")
    scope.end()
    return graph


def _parse_node(
    scanner: Scanner,
    graph: Graph,
    values: dict[tuple[str, int], Value],
    ops: Mapping[str, Op],
    scope: GraphScope,
) -> None:
    """Add the node whose text comes next to the graph, and its results to `values`, by name and index."""
    start = scanner.position
    name = _parse_new_name(scanner, graph)
    scanner.expect("=")
    scanner.skip_space()
    op_start = scanner.position
    op_name = scanner.parse_name("the name of an op")
    op = ops.get(_FORMER_OP_NAMES.get(op_name, op_name))
    if op is None:
        scanner.fail(f"there is no op named {op_name!r}", op_start)
    inputs, written_attributes = _parse_arguments(scanner, values)
    attributes = {_FORMER_ATTRIBUTE_NAMES.get((op_name, key), key): value for key, value in written_attributes.items()}
    scanner.expect(":")
    types = _parse_types(scanner)
    device = scanner.parse_name("a device") if scanner.take("on") else ""
    span = _parse_span(scanner) if scanner.take("@") else None
    regions = []
    if scanner.take("{"):
        while not scanner.take("}"):
            regions.append(_parse_graph(scanner, ops, scope))
    try:
        node = graph.add(op, inputs, attributes, regions=regions, types=types, name=name, span=span)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        scanner.fail(f"{op_name} does not take these inputs and attributes: {error!r}", start)
    node.device = device
    values.update({(name, value.index): value for value in node.results})


def _parse_arguments(scanner: Scanner, values: dict[tuple[str, int], Value]) -> tuple[list[Value], dict[str, Any]]:
    """Return the inputs and the attributes between the next parentheses."""
    inputs: list[Value] = []
    attributes: dict[str, Any] = {}
    scanner.expect("(")
    while not scanner.take(")"):
        if inputs or attributes:
            scanner.expect(",")
        if scanner.is_at("%"):
            if attributes:
                scanner.fail("inputs have to come before the attributes")
            inputs.append(_parse_reference(scanner, values))
            continue
        scanner.skip_space()
        start = scanner.position
        name = scanner.match(_ATTRIBUTE_NAME)
        if name is None:
            scanner.fail(f"expected an input or an attribute, found {scanner.next_text()}", start)
        if name in attributes:
            scanner.fail(f"the attribute {name} is given twice", start)
        scanner.expect("=")
        attributes[name] = parse_value(scanner)
    return inputs, attributes


def _parse_types(scanner: Scanner) -> list[Type]:
    """Return the types of a node's results; `()` stands for none."""
    if scanner.take("("):
        scanner.expect(")")
        return []
    types = [parse_type(scanner)]
    while scanner.take(","):
        types.append(parse_type(scanner))
    return types


def _parse_new_name(scanner: Scanner, graph: Graph) -> str:
    """Return the name of a node or parameter, without `%`, which has to be new in the graph."""
    scanner.skip_space()
    start = scanner.position
    scanner.expect("%")
    name = scanner.parse_adjacent_name("a name")
    if name in graph._names:
        scanner.fail(f"the name %{name} is taken already", start)
    return name


def _parse_reference(scanner: Scanner, values: dict[tuple[str, int], Value]) -> Value:
    """Return the value to which a name refers, with an index after a colon if it is not the first result."""
    scanner.skip_space()
    start = scanner.position
    scanner.expect("%")
    name = scanner.parse_adjacent_name("a name")
    index_text = scanner.match(_INDEX, skip_space=False)
    result = values.get((name, int(index_text[1:]) if index_text else 0))
    if result is None:
        full_name = f"%{name}{index_text or ''}"
        scanner.fail(f"there is no value {full_name} here: it has to be made before, in this graph", start)
    return result


def _parse_span(scanner: Scanner) -> Span:
    """Return the place in the source: file:line, or file:line:column-line:column, and a function's name if any."""
    file = scanner.parse_name("a file")
    scanner.expect(":")
    line = _parse_number(scanner)
    column = end_line = end_column = 0
    if scanner.match(re.compile(":"), skip_space=False):
        column = _parse_number(scanner)
        scanner.expect("-")
        end_line = _parse_number(scanner)
        scanner.expect(":")
        end_column = _parse_number(scanner)
    scanner.match(_LINE_SPACE, skip_space=False)
    has_function = scanner.match(_START_OF_NAME, skip_space=False) is not None
    function = scanner.parse_adjacent_name("the name of a function") if has_function else ""
    return Span(file, line, function, column, end_line, end_column)


def _parse_number(scanner: Scanner) -> int:
    """Parse a decimal integer."""
    digits = scanner.match(_NUMBER)
    if digits is None:
        scanner.fail(f"expected a number, found {scanner.next_text()}")
    return int(digits)
