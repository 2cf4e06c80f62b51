"""Graphs: nodes in program order, their values, and regions.

A region is a graph whose values are its parameters and its nodes' results. It reads outer values by explicit captures:
parameters, each fed by an input of the node that owns the region.
A recursive function is a graph shared by several `call` nodes with the attribute `recursive`, some of them inside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autoconv.graph.dtypes import DType
from autoconv.graph.effects import Effects, may_fail_to_broadcast
from autoconv.graph.types import Shape, Symbol, Type
from autoconv.hooks import Hook
from autoconv.lazy_dataclass import dataclass, field

if TYPE_CHECKING:
    from autoconv.ops.record import Op

GRAPH_DEF = Hook("autoconv.graph.graphdef_protobuf")  # converts a graph to a GraphDef; its module imports `Graph`
SIZE_ERRORS = Hook("autoconv.ops.analysis.requested_sizes")  # whether an op may raise for its sizes
_NO_ATTRIBUTES: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Span:
    """A range of the user's source; lines and columns count from 1, 0 is unknown.

    `caller` is the span of the call of the function, where the caller was traced too. With `has_plain_errors`, nodes
    raise the classes of Python and NumPy (ValueError), not TensorFlow's (InvalidArgumentError). With `is_observed`, the
    program can see which nodes ran before an error, by a handler or a mutated object; so they stay in order.
    """

    file: str
    line: int
    function: str = ""
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    caller: Span | None = field(default=None, compare=False, repr=False)
    has_plain_errors: bool = field(default=False, compare=False, repr=False)
    is_observed: bool = field(default=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Value:
    """A result of a node, or a parameter of a graph (then `node` is None)."""

    __slots__ = ("__weakref__", "graph", "index", "name", "node", "type")

    def __init__(self, graph: Graph, type_: Type, name: str, node: Node | None = None, index: int = 0) -> None:
        self.graph = graph
        self.type = type_
        self.name = name
        self.node = node
        self.index = index

    @property
    def dtype(self) -> DType:
        """The dtype of the elements of a tensor or an array in memory; other types have none."""
        return self.type.dtype  # type: ignore[union-attr]

    @property
    def shape(self) -> Shape:
        """The shape of a tensor or an array in memory; other types have none."""
        return self.type.shape  # type: ignore[union-attr]

    @property
    def weak(self) -> bool:
        """True for a Python number: a tensor that adopts the dtype of typed operands."""
        return self.type.weak  # type: ignore[union-attr]

    @property
    def full_name(self) -> str:
        """The name in TensorFlow's form, `node:index`; ops with regions may have another rule for it."""
        name_rule = self.node.op.result_name if self.node is not None else None
        return f"{self.name}:{self.index}" if name_rule is None else name_rule(self.name, self.index)

    def __repr__(self) -> str:
        return f"<Value %{self.full_name}: {self.type}>"


class Node:
    """An application of an op; `effects` includes those of its regions."""

    __slots__ = ("attributes", "device", "effects", "inputs", "name", "op", "regions", "results", "span")

    def __init__(
        self,
        op: Op,
        inputs: Sequence[Value],
        attributes: Mapping[str, Any],
        regions: Sequence[Graph],
        name: str,
        span: Span | None,
        device: str = "",
    ) -> None:
        self.op = op
        self.inputs = tuple(inputs)
        self.attributes = attributes  # copies of the node share it, so that it may be replaced, but not mutated
        self.regions = tuple(regions)
        self.name = name
        self.span = span
        self.device = device  # as requested by the program; "" for none
        self.results: tuple[Value, ...] = ()
        self.effects = node_effects(self, self.regions)

    def copy_to(self, graph: Graph, inputs: Sequence[Value], regions: Sequence[Graph]) -> Node:
        """Copy the node with other inputs and regions; the results belong to `graph`, but the node is not added."""
        copy = Node.__new__(Node)
        copy.op, copy.attributes, copy.span = self.op, self.attributes, self.span
        copy.inputs, copy.regions = tuple(inputs), tuple(regions)
        copy.name = graph.unique_name(self.name)
        copy.device = self.device or graph.device
        copy.results = tuple([Value(graph, value.type, copy.name, copy, value.index) for value in self.results])
        if not regions and all(new.type is old.type for new, old in zip(inputs, self.inputs, strict=True)):
            copy.effects = self.effects  # they depend on the op, the attributes and the types of inputs
        else:
            copy.effects = node_effects(copy, copy.regions)
        return copy

    def __repr__(self) -> str:
        return f"<Node {self.name} = {self.op.name}({', '.join(value.full_name for value in self.inputs)})>"


@dataclass(eq=False)
class Graph:
    """A dataflow graph: parameters, nodes in program order, outputs."""

    name: str
    parameters: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    # The program's control dependencies: name of a node -> names of the nodes to run before it. They are only
    # displayed; the order of nodes follows from their effects.
    controls: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    # Preconditions for symbolic shapes of parameters: these sizes must not be negative. Each call checks them.
    nonnegative_sizes: tuple[Symbol, ...] = ()
    # The program's own object for the graph, if the program records into it in a `with` statement.
    program_graph: Any = field(default=None, repr=False)
    # The default device of added nodes; while a pass replaces a node, the device of that node.
    device: str = field(default="", repr=False)
    _names: dict[str, int] = field(default_factory=dict, repr=False)

    def add_parameter(self, type_: Type, name: str = "arg") -> Value:
        value = Value(self, type_, self.unique_name(name))
        self.parameters.append(value)
        return value

    def add(
        self,
        op: Op,
        inputs: Sequence[Value] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        regions: Sequence[Graph] = (),
        types: Sequence[Type] | None = None,
        name: str | None = None,
        span: Span | None = None,
    ) -> Node:
        """Append a node. Result types come from the op's type rule unless `types` is given.

        Raises the rule's errors (TypeError, ValueError) for incompatible inputs.
        """
        attributes = attributes or _NO_ATTRIBUTES
        if types is None:
            types = op.result_types([value.type for value in inputs], attributes, regions)
        node = Node(op, inputs, attributes, regions, self.unique_name(name or op.name), span, self.device)
        node.results = tuple(Value(self, type_, node.name, node, i) for i, type_ in enumerate(types))
        self.nodes.append(node)
        return node

    def add_replacement(
        self, node: Node, op: Op, inputs: Sequence[Value], attributes: Mapping[str, Any] | None = None,
        regions: Sequence[Graph] = (), types: Sequence[Type] | None = None,
    ) -> Node:  # fmt: skip
        """Append a node in place of `node`, with its name, span and device."""
        replacement = self.add(op, inputs, attributes, regions=regions, types=types, name=node.name, span=node.span)
        replacement.device = node.device or self.device
        return replacement

    def unique_name(self, name: str) -> str:
        """Return `name`, or `name_1`, `name_2` … if the graph has it already, and reserve it.

        In a graph that the program entered by `with`, names that differ only in the case of letters are the same name,
        as in TensorFlow.
        """
        name_key = self._name_key(name)
        if name_key not in self._names:
            self._names[name_key] = 0
            return name
        result, self._names[name_key] = self._next_name(name)
        self._names.setdefault(self._name_key(result), 0)
        return result

    def next_name(self, name: str) -> str:
        """Return the name that `unique_name` would return, without reserving it."""
        return self._next_name(name)[0]

    def _next_name(self, name: str) -> tuple[str, int]:
        """Return a name that is new in the graph, and the number at its end, 0 without one."""
        name_key = self._name_key(name)
        if name_key not in self._names:
            return name, 0
        number = self._names[name_key] + 1
        while f"{name_key}_{number}" in self._names:
            number += 1
        return f"{name}_{number}", number

    def _name_key(self, name: str) -> str:
        return name if self.program_graph is None else name.lower()

    @property
    def effects(self) -> Effects:
        total = Effects.PURE
        for node in self.nodes:
            total |= node.effects
        return total

    def walk(self) -> Iterator[Node]:
        """Iterate over every node once. Nodes of a region or called graph follow the first node that has the region."""
        return _walk(self, {self})

    def subgraphs(self) -> list[Graph]:
        """Return the graph and its regions, inner ones included, each once."""
        return list(dict.fromkeys((self, *(region for node in self.walk() for region in node.regions))))

    def as_graph_def(self) -> Any:
        """Return the graph as a GraphDef (see autoconv.graph.graphdef).

        A protocol buffer where TensorBoard is installed, otherwise an object with the same attributes.
        """
        return GRAPH_DEF(self)

    def get_operations(self) -> list[Node]:
        """Return the nodes, in program order."""
        return list(self.nodes)

    @property
    def inputs(self) -> list[Value]:
        return self.parameters

    def mark(self) -> Node | None:
        """Return the last node, None if there is none: a mark for `nodes_since`. Nodes may be inserted before it."""
        return self.nodes[-1] if self.nodes else None

    def nodes_since(self, mark: Node | None) -> list[Node]:
        """Return the nodes after the mark."""
        return self.nodes[self.position(mark) :]

    def position(self, mark: Node | None) -> int:
        """Return the number of nodes up to the mark; 0 for None, the mark of a graph without nodes."""
        return 0 if mark is None else self.nodes.index(mark) + 1

    def truncate(self, length: int) -> None:
        """Drop the nodes after the first `length`."""
        del self.nodes[length:]


def _walk(graph: Graph, seen_graphs: set[Graph]) -> Iterator[Node]:
    """Yield the nodes in preorder. The stack is faster than nested generators, which pass a node through all levels."""
    stack: list[Iterator[Node]] = [iter(graph.nodes)]
    while stack:
        for node in stack[-1]:
            yield node
            if node.regions:
                stack.append(_unseen_nodes(node.regions, seen_graphs))
                break
        else:
            stack.pop()


def _unseen_nodes(regions: Sequence[Graph], seen_graphs: set[Graph]) -> Iterator[Node]:
    for region in regions:
        if region not in seen_graphs:
            seen_graphs.add(region)
            yield from region.nodes


def is_recursive(node: Node) -> bool:
    """Return whether the node is a recursive call: its region is shared, and may contain the node."""
    return node.op.name == "call" and bool(node.attributes.get("recursive"))


def leads_to_recursion(node: Node) -> bool:
    """Return whether the node, or one inside of its regions, is a recursive call."""
    return is_recursive(node) or any(is_recursive(inner) for region in node.regions for inner in region.walk())


def has_recursion(graph: Graph) -> bool:
    """Return whether the graph contains a recursive function."""
    return any(map(is_recursive, graph.walk()))


def compute_effects(graph: Graph) -> None:
    """Recompute effects of nodes with regions, as a least fixed point; graphs without recursion are left unchanged."""
    nodes = [node for node in graph.walk() if node.regions]
    if not any(map(is_recursive, nodes)):
        return
    for node in nodes:
        node.effects = node_effects(node, ())
    has_changed = True
    while has_changed:
        has_changed = False
        for node in reversed(nodes):  # innermost regions first
            effects = node_effects(node, node.regions)
            has_changed |= effects != node.effects
            node.effects = effects


def op_effects(op: Op, attributes: Mapping[str, Any], inputs: Sequence[Value]) -> Effects:
    """Return the effects of an op alone: without regions, and without the error of a failed broadcast."""
    effects = op.effects  # constant, or a function of the types and attributes
    return effects if isinstance(effects, Effects) else effects([value.type for value in inputs], attributes)


def node_effects(node: Node, regions: Iterable[Graph]) -> Effects:
    """Return the effects of a node that has these regions."""
    op, inputs, attributes = node.op, node.inputs, node.attributes
    total = op_effects(op, attributes, inputs)
    for region in regions:
        total |= region.effects
    different_inputs = dict.fromkeys(inputs) if op.traits.elementwise else {}  # `x + x` cannot fail
    if not total & Effects.RAISE and may_fail_to_broadcast([value.type for value in different_inputs]):
        total |= Effects.RAISE
    if node.span is not None and node.span.is_observed and SIZE_ERRORS(op, inputs, attributes):
        total |= Effects.RAISE
    return total


Rewrite = Callable[["Graph", Node, "list[Value]"], "Sequence[Value] | None"]


def clone(
    graph: Graph, rewrite: Rewrite, replace_parameter: Callable[[Graph, Value, int], Value] | None = None
) -> Graph:
    """Copy `graph`, regions included; `rewrite(copy, node, inputs)` may replace a node.

    `rewrite` gets the node and its inputs in the copy. It returns the values that replace the node's results
    (after adding nodes to the copy), or None to copy the node. `replace_parameter(copy, parameter, position)` returns
    the value that replaces a parameter of the graph itself.
    """
    copy = _clone(graph, rewrite, {}, replace_parameter)
    compute_effects(copy)
    return copy


def _clone(
    graph: Graph, rewrite: Rewrite, copies: dict[Graph, Graph],
    replace_parameter: Callable[[Graph, Value, int], Value] | None = None,
) -> Graph:
    """Return a copy as `clone`; `copies` collects the copies of graphs, to which recursive calls refer."""
    copy = copies[graph] = Graph(graph.name)
    values: dict[Value, Value] = {}
    for parameter in graph.parameters:
        values[parameter] = copy.add_parameter(parameter.type, parameter.name)
    if replace_parameter is not None:
        for position, parameter in enumerate(graph.parameters):
            values[parameter] = replace_parameter(copy, values[parameter], position)
    for node in graph.nodes:
        inputs = [values[value] for value in node.inputs]
        copy.device = node.device
        results = rewrite(copy, node, inputs)
        if results is None:
            regions = copy_regions(node, copies, lambda region: _clone(region, rewrite, copies))
            results = copy_node(copy, node, inputs, regions).results
        values.update(zip(node.results, results, strict=True))
    copy.device = ""
    copy.outputs = [values[value] for value in graph.outputs]
    return copy


def copy_node(graph: Graph, node: Node, inputs: Sequence[Value], regions: Sequence[Graph] | None = None) -> Node:
    """Append a copy of the node to `graph`, with other inputs (and regions)."""
    copy = node.copy_to(graph, inputs, node.regions if regions is None else regions)
    graph.nodes.append(copy)
    return copy


def append_copy(
    graph: Graph, node: Node, values: dict[Value, Value], regions: Sequence[Graph] | None = None
) -> Node:
    """Append a copy of the node to `graph`; `values` maps old values to those of `graph`, and gets the new results."""
    copy = copy_node(graph, node, [values[value] for value in node.inputs], regions)
    values.update(zip(node.results, copy.results, strict=True))
    return copy


def copy_regions(node: Node, copies: dict[Graph, Graph], copy_region: Callable[[Graph], Graph]) -> list[Graph]:
    """Return copies of the node's regions; a region shared by recursive calls is copied once, kept in `copies`.

    `copy_region` has to enter a graph into `copies` before it copies the graph's nodes.
    """
    if is_recursive(node):
        return [copies.get(region) or copy_region(region) for region in node.regions]
    return [copy_region(region) for region in node.regions]
