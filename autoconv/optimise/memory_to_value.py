"""Find arrays that are only read, so that their contents can be values, also through loops and conds."""

from __future__ import annotations

from collections import Counter

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges, state_size
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.analysis.alias import Overlaps, Writes


class ReadOnlyArrays:
    """Read-only arrays of a graph and its regions: a greatest fixed point.

    To promote an array is to replace it by its contents, a tensor. `values`, the promoted arrays, starts with all that
    can be promoted; arrays with an unsuitable definition or use are removed until nothing changes. The state of a loop
    is promoted if the arrays of all iterations are, and if the initial array is promoted or never written.
    `arguments` are the promoted parameters of the graph itself, which stay arrays and are loaded. `rebuilt_results` are
    promoted results of loops that are also used as arrays; an array is made of them after the loop.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._owners: dict[Graph, Node | None] = {graph: None}  # the node of each region
        self._positions: dict[Value, int] = {}  # of each parameter among those of its graph
        self._operand_uses: dict[Value, list[tuple[Node, int]]] = {}  # (node, position among its operands)
        self._output_uses: dict[Value, list[tuple[Graph, int]]] = {}  # (graph, position among its outputs)
        self._candidates: list[Value] = []
        self._collect(graph)
        # The number of positions in the states of loops at which each value is the initial one.
        self._initial_uses = Counter(
            value for value, uses in self._operand_uses.items() for node, i in uses if _is_initial_state(node, i)
        )
        self._writes: Writes | None = None
        self._absent_values: set[Value] | None = None
        self.values = set(filter(self._can_be_promoted, self._candidates))
        self.rebuilt_results: set[Value] = set()
        self._reach_fixed_point()
        self.arguments = self.values & set(graph.parameters)
        self._find_rebuilt_results()

    def _collect(self, graph: Graph) -> None:
        """Record the values of a graph and its regions, and their uses."""
        for i, value in enumerate(graph.parameters):
            self._positions[value] = i
            self._candidates.append(value)
        for i, value in enumerate(graph.outputs):
            self._output_uses.setdefault(value, []).append((graph, i))
        for node in graph.nodes:
            for i, value in enumerate(node.inputs):
                self._operand_uses.setdefault(value, []).append((node, i))
            self._candidates += node.results
            for region in node.regions:
                if region not in self._owners:
                    self._owners[region] = node
                    self._collect(region)

    def _can_be_promoted(self, value: Value) -> bool:
        """Return whether the value is an array with a definition that can be promoted."""
        if not isinstance(value.type, ArrayType):
            return False
        node = value.node
        if node is None:
            owner = self._owners.get(value.graph)
            if owner is None:  # an argument is loaded once, where the graph starts: native code reads it in place
                return value.type.is_dense and not value.type.shared
            return owner.op.name in ("cond", "while")
        if node.op.name == "array_of":
            type_ = node.inputs[0].type
            return isinstance(type_, TensorType) and not type_.weak
        if node.op.name == "array_new":
            return node.attributes["fill"] is not None and not node.inputs
        if node.op.name == "array_view":
            has_operands = any(entry.operand_count for entry in node.attributes["spec"])
            return not has_operands and not node.effects & ~Effects.RAISE
        return bool(node.op.traits.op_on_tensors) or node.op.traits.selects or node.op.traits.repeats

    def _reach_fixed_point(self) -> None:
        """Remove values with an unsuitable definition or use, to a fixed point."""
        while True:
            promotable = set(filter(self._has_promotable_uses, filter(self._has_promotable_definition, self.values)))
            if len(promotable) == len(self.values):
                return
            self.values = promotable

    # ---- definitions

    def _has_promotable_definition(self, value: Value) -> bool:
        """Return whether the arrays that the value comes from are promoted as well."""
        node = value.node
        if node is None:
            return self._is_promotable_parameter(value)
        if node.op.traits.op_on_tensors:
            return node.inputs[0] in self.values
        if node.op.traits.selects:
            return all(region.outputs[value.index] in self.values for region in node.regions)
        if node.op.traits.repeats:
            return node.regions[1].parameters[value.index] in self.values
        return True

    def _is_promotable_parameter(self, parameter: Value) -> bool:
        """Return whether an argument is never written, or all arrays passed to a region's parameter are promoted."""
        region = parameter.graph
        owner = self._owners[region]
        if owner is None:  # as the state of a loop, an argument keeps its identity where there is no iteration
            is_used = parameter in self._operand_uses and not self._initial_uses[parameter]
            return is_used and self._is_never_written(parameter)
        position = self._positions[parameter]
        if owner.op.traits.selects:
            operand = owner.inputs[position + 1]  # after the index
        else:
            operand = owner.inputs[position]
        if not all(owner_region.parameters[position] in self.values for owner_region in owner.regions):
            return False
        if owner.op.traits.selects:
            return operand in self.values
        if position >= state_size(owner):
            return operand in self.values
        next_array = owner.regions[1].outputs[position]
        if next_array not in self.values or owner.results[position] not in self.values:
            return False
        return operand in self.values or (
            self._is_never_written(operand) and operand not in self._maybe_absent_values()
        )

    def _maybe_absent_values(self) -> set[Value]:
        """Return the values that are `absent` on some path: results and parameters that conds and loops pass on."""
        if self._absent_values is None:
            targets: dict[Value, list[Value]] = {}
            worklist: list[Value] = []
            for node in self._graph.walk():
                worklist += node.results if node.op.name == "absent" else ()
                for source, target in flow_edges(node):
                    if source is not None:
                        targets.setdefault(source, []).append(target)
            self._absent_values = set()
            while worklist:
                new_targets = set(targets.get(worklist.pop(), ())) - self._absent_values
                self._absent_values.update(new_targets)
                worklist += new_targets
        return self._absent_values

    def _is_never_written(self, array: Value) -> bool:
        """Return whether neither the array nor an alias of it is ever written."""
        if self._writes is None:
            self._writes = Writes(self._graph, Overlaps(self._graph))
        return self._writes.is_unwritten(array)

    # ---- uses

    def _has_promotable_uses(self, value: Value) -> bool:
        """Return whether each use needs only the contents, or the array can be rebuilt for uses that need more."""
        if self._needs_only_contents(value):
            return True
        return value.node is not None and value.node.op.traits.repeats and self._can_be_rebuilt(value)

    def _needs_only_contents(self, value: Value) -> bool:
        """Return whether no use of the array needs the array itself."""
        return all(self.is_read(node, i) for node, i in self._operand_uses.get(value, ())) and all(
            self.is_passed_on(graph, i) for graph, i in self._output_uses.get(value, ())
        )

    def is_read(self, node: Node, position: int) -> bool:
        """Return whether the node uses only the contents of the array that is its input at the position."""
        name = node.op.name
        if name == "array_load":
            return True
        if node.op.traits.op_on_tensors:
            return node.results[0] in self.values
        if name == "cond" and position:
            return all(region.parameters[position - 1] in self.values for region in node.regions)
        return name == "while" and node.regions[1].parameters[position] in self.values

    def is_passed_on(self, graph: Graph, position: int) -> bool:
        """Return whether a region returns the contents instead of the array."""
        owner = self._owners.get(graph)
        if owner is None:
            return False
        if owner.op.traits.selects:
            return owner.results[position] in self.values
        return owner.op.traits.repeats and graph is owner.regions[1] and graph.parameters[position] in self.values

    # ---- results of loops that are also used as arrays

    def _can_be_rebuilt(self, result: Value) -> bool:
        """Return whether the array can be rebuilt after the loop from its contents or as the initial array."""
        loop = result.node
        assert loop is not None
        test, body = loop.regions
        final_array, initial_array = body.outputs[result.index], loop.inputs[result.index]
        creation = final_array.node
        is_new = creation is not None and creation.op.name == "array_of" and body.outputs.count(final_array) == 1
        if not is_new or test.effects & ~(Effects.READ | Effects.RAISE):
            return False
        if initial_array in self.values and self._initial_uses[initial_array] > 1:
            return False  # after zero iterations several results are one array
        return self._is_never_written(result)

    def _find_rebuilt_results(self) -> None:
        for value in self.values:
            is_loop_result = value.node is not None and value.node.op.traits.repeats
            if is_loop_result and not self._needs_only_contents(value):
                self.rebuilt_results.add(value)


def _is_initial_state(node: Node, position: int) -> bool:
    """Return whether the operand at a position is the initial value of a loop's state."""
    return node.op.traits.repeats and position < state_size(node)
