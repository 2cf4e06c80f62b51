"""Dead-code elimination.

    before   graph f(%x: float32[]) {
               %sin = sin(%x): float32[]
               %cos = cos(%x): float32[]
               return %cos
             }
    after    graph f(%x: float32[]) {
               %cos = cos(%x): float32[]
               return %cos
             }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, compute_effects, copy_regions, is_recursive
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import Type
from autoconv.ops.analysis.requested_sizes import may_fail_for_sizes
from autoconv.ops.analysis.static_positions import has_valid_positions


def remove_dead(graph: Graph, contract: str = "function") -> Graph:
    """Remove unused nodes, in regions too.

    Nodes that write, print or draw stay. A node that does no more than raise is removed under the contract "function",
    except in the body of a `try`, whose handlers may catch the error.
    Unused results of a cond or a call are removed, with the region outputs and captures that only they need. Loop
    state that only feeds itself is removed, too. Calls of recursive functions keep all results, and the graph keeps its
    parameters and outputs.
    """
    liveness = _Liveness(graph, contract)
    if all(map(liveness.is_fully_live, graph.walk())):
        return graph
    copy = _rebuild(graph, liveness, range(len(graph.outputs)), range(len(graph.parameters)), {})
    compute_effects(copy)
    return copy


def unused_nodes(graph: Graph, contract: str) -> Iterator[Node]:
    """Iterate over the nodes that `remove_dead` would remove, in regions too."""
    liveness = _Liveness(graph, contract)
    return (node for node in graph.walk() if node not in liveness.nodes)


def _may_be_trimmed(node: Node) -> bool:
    """Return whether single results and captures of the node can be removed; calls of recursive functions keep all."""
    return node.op.name in ("cond", "while", "call") and not is_recursive(node)


class _Liveness:
    """Backward liveness analysis of a graph and its regions. `nodes` and `values` are the live ones.

    `_owners_of_region`: the nodes that have a region (several calls may share one); `_region_of_node`: the region that
    contains a node; `_worklist`: live values whose definitions have not been visited.
    """

    def __init__(self, graph: Graph, contract: str) -> None:
        self.nodes: set[Node] = set()
        self.values: set[Value] = set()
        self._owners_of_region: dict[Graph, list[Node]] = {}
        self._region_of_node: dict[Node, Graph] = {}
        self._worklist: list[Value] = []
        all_nodes = list(graph.walk())
        for node in all_nodes:
            for region in node.regions:
                self._owners_of_region.setdefault(region, []).append(node)
                self._region_of_node.update((inner, region) for inner in region.nodes)
        in_try_bodies = {inner for node in all_nodes if node.op.name == "try" for inner in node.regions[0].walk()}
        for node in all_nodes:
            if _must_run(node, "compile" if node in in_try_bodies else contract):
                self._mark_with_owners(node)
        self._mark(*graph.outputs)
        while self._worklist:
            self._visit(self._worklist.pop())

    def _mark_with_owners(self, node: Node) -> None:
        """Mark a node that must run as live, and the nodes whose regions contain it."""
        worklist = [node]
        while worklist:
            node = worklist.pop()
            if node in self.nodes:
                continue
            self._mark_node(node)
            worklist.extend(self._owners_of_region.get(self._region_of_node.get(node), ()))  # type: ignore[arg-type]

    def _mark(self, *values: Value) -> None:
        """Mark values as live, and put new ones on the worklist."""
        newly_live = [value for value in values if value not in self.values]
        self.values.update(newly_live)
        self._worklist.extend(newly_live)

    def _visit(self, value: Value) -> None:
        """Mark what a live value is computed from: its node, or, for a parameter of a region, the owners' operands."""
        if value.node is not None:
            self._mark_node(value.node)
            self._mark_result(value.node, value.index)
            return
        for owner in self._owners_of_region.get(value.graph, ()):
            if not _may_be_trimmed(owner):
                continue
            position = value.graph.parameters.index(value)
            leading_count = int(owner.op.traits.selects)  # the index of a cond
            self._mark(owner.inputs[leading_count + position])
            if owner.op.traits.repeats and position < state_size(owner):
                self._mark_state(owner, position)

    def _mark_node(self, node: Node) -> None:
        """Mark a node as live, with the operands and region outputs that it needs for any of its results."""
        if node in self.nodes:
            return
        self.nodes.add(node)
        if node.op.traits.selects:
            self._mark(node.inputs[0])
        elif node.op.traits.repeats:
            self._mark(*node.regions[0].outputs)
        elif not _may_be_trimmed(node):
            self._mark(*node.inputs)
            for region in node.regions:
                self._mark(*region.parameters, *region.outputs)

    def _mark_result(self, node: Node, index: int) -> None:
        """Mark what one live result of a node needs."""
        if node.op.traits.repeats:
            self._mark_state(node, index)
        elif _may_be_trimmed(node):
            self._mark(*(region.outputs[index] for region in node.regions))

    def _mark_state(self, loop: Node, position: int) -> None:
        """Mark all parts of a loop's state at a position as live: initial value, parameters, body output and result."""
        _, body = loop.regions
        self._mark(loop.inputs[position], loop.results[position], body.outputs[position])
        self._mark(*(region.parameters[position] for region in loop.regions))

    def is_fully_live(self, node: Node) -> bool:
        """Return whether a node is live, with all its results and captures."""
        if node not in self.nodes or not _may_be_trimmed(node):
            return node in self.nodes
        has_live_captures = len(self.live_parameters(node)) == len(node.regions[0].parameters)
        return has_live_captures and len(self.live_results(node)) == len(node.results)

    def live_results(self, node: Node) -> list[int]:
        """Return the positions of the live results of a node."""
        return [i for i, value in enumerate(node.results) if value in self.values]

    def live_parameters(self, node: Node) -> list[int]:
        """Return the positions of the parameters that are live in one of the node's regions."""
        count = len(node.regions[0].parameters)
        return [i for i in range(count) if any(region.parameters[i] in self.values for region in node.regions)]


def _must_run(node: Node, contract: str) -> bool:
    """Return whether a node runs even if it is unused: for its effects, under `compile` for the errors it raises."""
    if node.effects.must_run or contract == "function":
        return node.effects.must_run
    may_raise = bool(node.effects & Effects.RAISE) and not has_valid_positions(node)
    return may_raise or may_fail_for_sizes(node.op, node.inputs, node.attributes)


def _rebuild(
    graph: Graph, liveness: _Liveness, output_positions: Sequence[int], parameter_positions: Sequence[int],
    copies: dict[Graph, Graph]
) -> Graph:
    """Return a copy of the live nodes of a graph, with its outputs and parameters at these positions.

    `copies` maps each graph and region to its copy, which may not be complete yet.
    """
    copy = copies[graph] = Graph(graph.name)
    values: dict[Value, Value] = {}
    for position in parameter_positions:
        parameter = graph.parameters[position]
        values[parameter] = copy.add_parameter(parameter.type, parameter.name)
    for node in graph.nodes:
        if node not in liveness.nodes:
            continue
        if _may_be_trimmed(node):
            _rebuild_control(copy, node, liveness, values, copies)
            continue
        regions = copy_regions(
            node, copies, lambda r: _rebuild(r, liveness, range(len(r.outputs)), range(len(r.parameters)), copies)
        )
        append_copy(copy, node, values, regions)
    copy.outputs = [values[graph.outputs[position]] for position in output_positions]
    return copy


def _rebuild_control(
    copy: Graph, node: Node, liveness: _Liveness, values: dict[Value, Value], copies: dict[Graph, Graph]
) -> None:
    """Add a copy of a cond, while or call with its live results and captures to `copy`, and its results to `values`."""
    result_positions, parameter_positions = liveness.live_results(node), liveness.live_parameters(node)
    leading_count = int(node.op.traits.selects)
    inputs = [*node.inputs[:leading_count], *(node.inputs[leading_count + i] for i in parameter_positions)]
    attributes = {**node.attributes}
    if node.op.traits.repeats:
        test, body = node.regions
        regions = [
            _rebuild(test, liveness, [0], parameter_positions, copies),
            _rebuild(body, liveness, result_positions, parameter_positions, copies),
        ]
        attributes |= {"state": len(result_positions)}
    else:
        regions = [
            _rebuild(region, liveness, result_positions, parameter_positions, copies) for region in node.regions
        ]
    types: list[Type] = [node.results[position].type for position in result_positions]
    node_copy = copy.add_replacement(
        node, node.op, [values[value] for value in inputs], attributes, regions, types,
    )  # fmt: skip
    values.update(zip((node.results[position] for position in result_positions), node_copy.results, strict=True))
