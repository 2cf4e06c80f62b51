"""Give a number that is an int constant or a float, by the path, one float in place of two payloads.

    best = 0
    for x in xs:
        if x > best: best = x

The loop's state has a tag, the int and the float of the number. The int is 0 on every path, and where the tag is that
of the int, the float is not read. So the float may then hold 0.0, and one comparison takes the place of two.

That the float holds 0.0 wherever the tag is that of the int is shown by induction: it is so at first, and on each path
through the body that ends with this tag, if absent values are taken as 0.0. In a nest of loops, the states of inner
loops continue those of the outermost one. The induction then takes for granted that an inner loop keeps the property,
and shows that it has it at first.

    before   graph f(%x: float64[], %go: bool[]) {
               %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
               %absent = absent(type=float64[]): float64[]
               %best = while(%zero, %zero, %absent, %x, %go, state=3): weak int64[], weak int64[], float64[] {
                 graph test(%tag: weak int64[], %int: weak int64[], %float: float64[], %x: float64[], %go: bool[]) {
                   return %go
                 }
                 graph body(%tag: weak int64[], %int: weak int64[], %float: float64[], %x: float64[], %go: bool[]) {
                   %is_new = cond(%tag, %int, %x, %float): bool[] {
                     graph of_int(%int: weak int64[], %x: float64[], %float: float64[]) {
                       %cast = python_cast(%int, dtype=float64): float64[]
                       %greater = greater(%x, %cast): bool[]
                       return %greater
                     }
                     graph of_float(%int: weak int64[], %x: float64[], %float: float64[]) {
                       %greater = greater(%x, %float): bool[]
                       return %greater
                     }
                   }
                   %one = constant(value=array(int64[], 1), weak=True): weak int64[]
                   %next_tag = select(%is_new, %one, %tag): weak int64[]
                   %next = select(%is_new, %x, %float): float64[]
                   return %next_tag, %int, %next
                 }
               }
               return %best:0, %best:1, %best:2
             }
    after    graph f(%x: float64[], %go: bool[]) {
               %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
               %absent = absent(type=float64[]): float64[]
               %constant = constant(value=array(float64[], 0.0), weak=False): float64[]
               %best = while(%zero, %zero, %constant, %x, %go, state=3): weak int64[], weak int64[], float64[] {
                 graph test(%tag: weak int64[], %int: weak int64[], %float: float64[], %x: float64[], %go: bool[]) {
                   %constant = constant(value=array(int64[], 0), weak=True): weak int64[]
                   return %go
                 }
                 graph body(%tag: weak int64[], %int: weak int64[], %float: float64[], %x: float64[], %go: bool[]) {
                   %constant = constant(value=array(int64[], 0), weak=True): weak int64[]
                   %greater = greater(%x, %float): bool[]
                   %one = constant(value=array(int64[], 1), weak=True): weak int64[]
                   %next_tag = select(%greater, %one, %tag): weak int64[]
                   %next = select(%greater, %x, %float): float64[]
                   return %next_tag, %constant, %next
                 }
               }
               return %best:0, %best:1, %best:2
             }
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands, state_size
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops import OPS
from autoconv.optimise.constant_paths import TaggedState, has_arms, holds_number, int_of, is_bool, is_float
from autoconv.optimise.equal_arms import ArmMatcher, JointArms, is_absent, join_arms


def share_payloads(graph: Graph, contract: str = "function") -> Graph:
    """Let the float payload of such a number hold the int as well, in all loops of the graph."""
    if not any(node.op.traits.repeats and _float_positions(node) for node in graph.walk()):
        return graph
    return _Rewriter(graph, _Shared({}, {}, {})).run()


@dataclass(frozen=True, slots=True)
class _Shared:
    """The results of the analyses of loops.

    `fillings` maps absent values to the numbers that they become. `constants` maps parameters of loops' regions to the
    ints that they always hold. `equal_conds` maps conds to the arm that takes their place, or to their joint arms.
    """

    fillings: dict[Value, int]
    constants: dict[Value, int]
    equal_conds: dict[Node, Graph | JointArms]


class _Rewriter(Rewriter[_Shared]):
    """The pass over one graph or region. A loop is analysed when it is met, before its regions are rewritten."""

    def __init__(self, graph: Graph, shared: _Shared, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, shared, copies)
        for value in graph.parameters:
            if value in shared.constants:
                self.values[value] = self._constant(shared.constants[value], value.type)

    def _constant(self, number: int, type_: Type) -> Value:
        """Return a new constant of a scalar type."""
        assert isinstance(type_, TensorType)
        attributes = {"value": np.asarray(number, type_.dtype.numpy), "weak": type_.weak}
        return self.copy.add(OPS["constant"], (), attributes).results[0]

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Replace a cond with equal arms by one of them, and the absent first payload of a loop by its number."""
        arm = self.shared.equal_conds.get(node)
        if arm is not None:
            graph = arm.arms[1] if isinstance(arm, JointArms) else arm
            self.values.update(zip(graph.parameters, inputs[1:], strict=True))
            self.append_rewritten(graph.nodes)
            if isinstance(arm, JointArms):
                return arm.results(self.copy, inputs, self.values)
            return [self.values[value] for value in graph.outputs]
        if node.results and node.results[0] in self.shared.fillings:
            return [self._constant(self.shared.fillings[node.results[0]], node.results[0].type)]
        if not node.op.traits.repeats or not _float_positions(node):
            return None
        payloads = _Nest(node).find_payloads(self.shared)
        if not payloads:
            return None
        for payload in payloads:
            inputs[payload.float_position] = self._constant(payload.int_value, node.inputs[payload.float_position].type)
        regions = self.rewritten_regions(node, inputs)
        types = [value.type for value in node.results]
        return self.copy.add_replacement(node, node.op, inputs, node.attributes, regions, types).results


def _float_positions(loop: Node) -> list[int]:
    """Return the positions of the float scalars in a loop's state that are absent before the first iteration."""
    return [
        position for position, value in enumerate(loop.inputs[: state_size(loop)])
        if is_absent(value) and is_float(value.type)
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Level:
    """A loop of a nest. `positions` maps positions in the outermost loop's state to those that continue them here."""

    loop: Node
    positions: Mapping[int, int]

    def parameter(self, position: int) -> Value | None:
        """Return the parameter of the loop's body for a position in the outermost loop's state."""
        return self.loop.regions[1].parameters[self.positions[position]] if position in self.positions else None

    def has_number(self, number: TaggedState) -> bool:
        """Return whether the loop's state has the tag and the float of a number of the outermost loop."""
        return number.tag_position in self.positions and number.float_position in self.positions

    def number(self, number: TaggedState) -> TaggedState:
        """Return a number of the outermost loop with its positions in this loop's state."""
        tag, float_ = self.positions[number.tag_position], self.positions[number.float_position]
        return TaggedState(tag, float_, number.int_tag, number.int_value)


class _Nest:
    """The analysis of one loop, with the loops in it whose states continue its states."""

    def __init__(self, loop: Node) -> None:
        self._loop, self._body = loop, loop.regions[1]
        # Parameters of regions inside of the body -> the value of the body, or of an outer region, that they are.
        self._origins: dict[Value, Value] = {}
        self._conds: list[Node] = []
        self._levels: dict[Node, _Level] = {}
        # State parameters of the levels' bodies -> the level, and the position in the outermost loop's state.
        self._states: dict[Value, tuple[_Level, int]] = {}
        self._add_level(loop, {position: position for position in range(state_size(loop))})
        self._collect(self._body)

    def _add_level(self, loop: Node, positions: Mapping[int, int]) -> None:
        level = self._levels[loop] = _Level(loop, positions)
        for outer_position, position in positions.items():
            self._states[loop.regions[1].parameters[position]] = level, outer_position

    def _collect(self, graph: Graph) -> None:
        """Collect the conds and loops of a graph and its regions, and the origins of captured parameters."""
        for node in graph.nodes:
            if not node.op.traits.selects and not node.op.traits.repeats:
                continue
            captured = captured_operands(node)
            for region in node.regions:
                parameters = region.parameters[len(region.parameters) - len(captured) :]
                self._origins.update(zip(parameters, captured, strict=True))
            if node.op.traits.repeats:
                origins = map(self.origin, node.inputs[: state_size(node)])
                states = {self._states[value][1]: i for i, value in enumerate(origins) if value in self._states}
                self._add_level(node, states)
            for region in node.regions:
                self._collect(region)
            if node.op.traits.selects:
                self._conds.append(node)

    def origin(self, value: Value) -> Value:
        """Return the value that a captured parameter of a region is; another value itself."""
        while value in self._origins:
            value = self._origins[value]
        return value

    def find_payloads(self, shared: _Shared) -> list[TaggedState]:
        """Return the payloads that can be shared, and enter in `shared` what changes in the loop's regions."""
        constants = self._constant_states()
        payloads = []
        for position in _float_positions(self._loop):
            payload, conds = self._payload_of(position, constants)
            if payload is None or not self._is_inductive(payload):
                continue
            conds_of_results, floats = self._conds_of_results(payload, constants)
            conds |= conds_of_results
            floats.append(self._body.outputs[payload.float_position])
            fillings = {value: payload.int_value for float_ in floats for value in self._absent_values(float_)}
            if all(shared.fillings.get(value, number) == number for value, number in fillings.items()):
                payloads.append(payload)
                shared.equal_conds.update(conds)
                shared.fillings.update(fillings)
        if payloads:
            for level in self._levels.values():
                for position in constants.keys() & level.positions.keys():
                    for region in level.loop.regions:
                        shared.constants[region.parameters[level.positions[position]]] = constants[position]
        return payloads

    # ---- ints that never change

    def _constant_states(self) -> dict[int, int]:
        """Return the ints of the states that hold the same int on every path on which they are not absent."""
        result = {}
        for position, value in enumerate(self._loop.inputs[: state_size(self._loop)]):
            number = int_of(value)
            if number is None or is_float(self._body.parameters[position].type):
                continue
            levels = [level for level in self._levels.values() if position in level.positions]
            outputs = [level.loop.regions[1].outputs[level.positions[position]] for level in levels]
            if self._hold(outputs, number, position):
                result[position] = number
        return result

    def _hold(self, outputs: list[Value], number: int, position: int) -> bool:
        """Return whether values are the number, or the state at a position, or absent, on every path."""
        worklist, visited = outputs, set[Value]()
        while worklist:
            value = self.origin(worklist.pop())
            is_state = value in self._states and self._states[value][1] == position
            if value in visited or is_state or is_absent(value) or int_of(value) == number:
                continue
            visited.add(value)
            node = value.node
            if node is not None and has_arms(node):
                worklist += [region.outputs[node.results.index(value)] for region in node.regions]
            elif node in self._levels and self._levels[node].positions.get(position) == node.results.index(value):
                continue  # its state is among the outputs
            elif node is not None and node.op.name == "select":
                worklist += node.inputs[1:]
            else:
                return False
        return True

    def _constant_int(self, value: Value, constants: Mapping[int, int]) -> int | None:
        """Return the int that a value is on each path on which it is not absent; None if it may be others."""
        worklist, numbers = [value], set[int | None]()
        while worklist and len(numbers) < 2:
            value = self.origin(worklist.pop())
            node = value.node
            if value in self._states:
                numbers.add(constants.get(self._states[value][1]))
            elif node is not None and has_arms(node):
                worklist += [region.outputs[node.results.index(value)] for region in node.regions]
            elif not is_absent(value):
                numbers.add(int_of(value) if not is_float(value.type) else None)
        return numbers.pop() if len(numbers) == 1 else None

    # ---- conds with equal arms

    def _payload_of(
        self, position: int, constants: Mapping[int, int]
    ) -> tuple[TaggedState | None, dict[Node, Graph | JointArms]]:
        """Return the number whose float is at a position of the state, and the conds whose arms are then joined.

        None without such a cond: nothing would become quicker.
        """
        payload: TaggedState | None = None
        equal_conds: dict[Node, Graph | JointArms] = {}
        for cond in self._conds:
            tag = self.origin(cond.inputs[0])
            if len(cond.regions) != 2 or tag not in self._states:
                continue
            level, tag_position = self._states[tag]
            int_tag, float_ = int_of(self._loop.inputs[tag_position]), level.parameter(position)
            if int_tag not in (0, 1) or float_ is None:
                continue
            arms = cond.regions[int_tag], cond.regions[1 - int_tag]
            number, joint = self._join(arms, float_, int_tag, constants)
            candidate = None if number is None else TaggedState(tag_position, position, int_tag, number)
            if candidate is not None and joint is not None and payload in (None, candidate):
                payload, equal_conds[cond] = candidate, joint
        return payload, equal_conds

    def _conds_of_results(
        self, payload: TaggedState, constants: Mapping[int, int]
    ) -> tuple[dict[Node, Graph | JointArms], list[Value]]:
        """Return the conds by the tag of another cond's result that can be joined as well, and the floats of these.

        Such a float holds the number of `payload`, too, where its tag is that of the int.
        """
        result, floats, numbers = dict[Node, Graph | JointArms](), list[Value](), self._numbers(payload)
        levels = [level for level in self._levels.values() if level.loop in numbers]
        for cond in self._conds:
            tag = self.origin(cond.inputs[0])
            is_of_cond = tag.node is not None and has_arms(tag.node)
            levels_of_tag = (level for level in levels if is_of_cond and tag.node in level.loop.regions[1].nodes)
            level = next(levels_of_tag, None)
            if len(cond.regions) != 2 or level is None or tag.node is None or is_bool(tag.type):
                continue
            floats_of_node = [value for value in tag.node.results if is_float(value.type)]
            for float_, int_tag in itertools.product(floats_of_node, (0, 1)):
                arms = cond.regions[int_tag], cond.regions[1 - int_tag]
                number, joint = self._join(arms, float_, int_tag, constants)
                if joint is None or number != payload.int_value:
                    continue
                claim = TaggedState(0, 0, int_tag, payload.int_value)
                if holds_number(level.loop.regions[1], numbers[level.loop], numbers, (tag, float_), claim):
                    result[cond] = joint
                    floats.append(float_)
                    break
        return result, floats

    def _join(
        self, arms: tuple[Graph, Graph], payload: Value, int_tag: int, constants: Mapping[int, int]
    ) -> tuple[int | None, Graph | JointArms | None]:
        """Return the int that the first arm has in place of a payload, and what takes the place of both."""
        matcher = ArmMatcher(self.origin, payload, self._ints_in(arms[0], constants))
        joint = join_arms(matcher, arms, int_tag)
        return matcher.number, joint

    def _ints_in(self, arm: Graph, constants: Mapping[int, int]) -> dict[Value, int]:
        """Return the values of an arm that are ints: constants, states that never change, and floats of these."""
        result: dict[Value, int] = {}
        for value in arm.parameters:
            number = self._constant_int(value, constants)
            if number is not None:
                result[value] = number
        for node in arm.nodes:
            number = int_of(node.results[0]) if len(node.results) == 1 else None
            if number is None and node.op.name == "python_cast" and is_float(node.results[0].type):
                number = result.get(node.inputs[0])
            if number is not None:
                result[node.results[0]] = number
        return result

    # ---- the induction

    def _is_inductive(self, payload: TaggedState) -> bool:
        """Return whether the float holds the number where the tag is that of the int, in each loop that has both."""
        numbers = self._numbers(payload)
        return all(_keeps(loop.regions[1], number, numbers) for loop, number in numbers.items())

    def _numbers(self, payload: TaggedState) -> dict[Node, TaggedState]:
        """Return the loops of the nest whose state has a number, with its positions there."""
        return {level.loop: level.number(payload) for level in self._levels.values() if level.has_number(payload)}

    def _absent_values(self, output: Value) -> list[Value]:
        """Return the absent values that an output of the body may be."""
        result, worklist, visited = [], [output], set[Value]()
        while worklist:
            value = self.origin(worklist.pop())
            node = value.node
            if node is None or value in visited:
                continue
            visited.add(value)
            if is_absent(value):
                result.append(value)
            elif has_arms(node):
                worklist += [region.outputs[node.results.index(value)] for region in node.regions]
            elif node.op.name in ("select", "identity"):
                worklist += node.inputs
            elif node in self._levels:
                position = node.results.index(value)
                worklist += [node.inputs[position], node.regions[1].outputs[position]]
        return result


def _keeps(body: Graph, number: TaggedState, numbers: Mapping[Node, TaggedState]) -> bool:
    """Return whether a loop's body keeps the property of a number in its state, if the loops in `numbers` do."""
    outputs = body.outputs[number.tag_position], body.outputs[number.float_position]
    return holds_number(body, number, numbers, outputs, number)
