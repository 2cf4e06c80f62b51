"""Give a number that is an int constant or a float, by the path, one float in place of two payloads.

    best = 0
    for x in xs:
        if x > best: best = x

The loop's state has a tag, the int and the float of the number. The int is 0 on every path, and where the tag is that
of the int, the float is not read. So the float may then hold 0.0, and one comparison takes the place of two.

That the float holds 0.0 wherever the tag is that of the int is shown by induction: it is so at first, and on each path
through the body that ends with this tag, if absent values are taken as 0.0.

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

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands, state_size
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops import OPS
from autoconv.optimise.common import attributes_key_of
from autoconv.optimise.constant_paths import ABSENT, Paths, has_arms, int_of

_LARGEST_INT_OF_HALVES = 1 << 11  # so do floats of 16 bits
_MAX_PATHS = 64  # through a body, as far as they decide about the tag and the payload
_MAX_ARM_NODES = 12


def share_payloads(graph: Graph, contract: str = "function") -> Graph:
    """Let the float payload of such a number hold the int as well, in all loops of the graph."""
    if not any(node.op.traits.repeats and _float_positions(node) for node in graph.walk()):
        return graph
    return _Rewriter(graph, _Shared({}, {}, {})).run()


@dataclass(frozen=True, slots=True)
class _SharedPayload:
    """A number in the state of a loop: positions of its tag and its float, the tag of the int, and the int."""

    tag: int
    float: int
    int_tag: int
    number: int


@dataclass(frozen=True, slots=True)
class _Shared:
    """The results of the analyses of loops.

    `fillings` maps absent values to the numbers that they become. `constants` maps parameters of loops' regions to the
    ints that they always hold. `equal_conds` maps conds to the arm that takes their place.
    """

    fillings: dict[Value, int]
    constants: dict[Value, int]
    equal_conds: dict[Node, Graph]


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
            self.values.update(zip(arm.parameters, inputs[1:], strict=True))
            self.append_rewritten(arm.nodes)
            return [self.values[value] for value in arm.outputs]
        if node.results and node.results[0] in self.shared.fillings:
            return [self._constant(self.shared.fillings[node.results[0]], node.results[0].type)]
        if not node.op.traits.repeats or not _float_positions(node):
            return None
        payloads = _Loop(node).find_payloads(self.shared)
        if not payloads:
            return None
        for payload in payloads:
            inputs[payload.float] = self._constant(payload.number, node.inputs[payload.float].type)
        regions = self.rewritten_regions(node, inputs)
        types = [value.type for value in node.results]
        return self.copy.add_replacement(node, node.op, inputs, node.attributes, regions, types).results


def _float_positions(loop: Node) -> list[int]:
    """Return the positions of the float scalars in a loop's state that are absent before the first iteration."""
    return [
        position for position, value in enumerate(loop.inputs[: state_size(loop)])
        if _is_absent(value) and _is_float(value.type)
    ]  # fmt: skip


def _is_absent(value: Value) -> bool:
    return value.node is not None and value.node.op.name == "absent"


def _is_float(type_: Type) -> bool:
    """Return whether this is the type of a float scalar of 64 bits."""
    return isinstance(type_, TensorType) and type_.shape == () and type_.dtype.name == "float64"


class _Loop:
    """The analysis of one loop."""

    def __init__(self, loop: Node) -> None:
        self._loop, self._body = loop, loop.regions[1]
        self._state_count = state_size(loop)
        self._parameters = self._body.parameters[: self._state_count]
        # Parameters of regions inside of the body -> the value of the body, or of an outer region, that they are.
        self._origins: dict[Value, Value] = {}
        self._conds: list[Node] = []
        self._collect(self._body)

    def _collect(self, graph: Graph) -> None:
        """Collect the conds of a graph and its regions, and the origins of captured parameters."""
        for node in graph.nodes:
            if not node.op.traits.selects and not node.op.traits.repeats:
                continue
            captured = captured_operands(node)
            for region in node.regions:
                parameters = region.parameters[len(region.parameters) - len(captured) :]
                self._origins.update(zip(parameters, captured, strict=True))
                self._collect(region)
            if node.op.traits.selects:
                self._conds.append(node)

    def _origin(self, value: Value) -> Value:
        while value in self._origins:
            value = self._origins[value]
        return value

    def find_payloads(self, shared: _Shared) -> list[_SharedPayload]:
        """Return the payloads that can be shared, and enter in `shared` what changes in the loop's regions."""
        constants = self._constant_states()
        payloads = []
        for position in _float_positions(self._loop):
            payload, conds = self._payload_of(position, constants)
            if payload is None or not self._is_inductive(payload):
                continue
            fillings = dict.fromkeys(self._absent_values(self._body.outputs[payload.float]), payload.number)
            if all(shared.fillings.get(value, number) == number for value, number in fillings.items()):
                payloads.append(payload)
                shared.equal_conds.update(conds)
                shared.fillings.update(fillings)
        if payloads:
            for state, number in constants.items():
                for region in self._loop.regions:
                    shared.constants[region.parameters[state]] = number
        return payloads

    # ---- ints that never change

    def _constant_states(self) -> dict[int, int]:
        """Return the ints of the states that hold the same int on every path on which they are not absent."""
        result = {}
        for position, value in enumerate(self._loop.inputs[: self._state_count]):
            number, parameter = int_of(value), self._parameters[position]
            if number is None or _is_float(parameter.type):
                continue
            if self._holds(self._body.outputs[position], number, parameter):
                result[position] = number
        return result

    def _holds(self, value: Value, number: int, parameter: Value) -> bool:
        """Return whether a value is the number, the parameter, or absent, on every path."""
        worklist, visited = [value], set[Value]()
        while worklist:
            value = self._origin(worklist.pop())
            if value in visited or value is parameter or _is_absent(value) or int_of(value) == number:
                continue
            visited.add(value)
            node = value.node
            if node is not None and has_arms(node):
                worklist += [region.outputs[node.results.index(value)] for region in node.regions]
            elif node is not None and node.op.name == "select":
                worklist += node.inputs[1:]
            else:
                return False
        return True

    # ---- conds with equal arms

    def _payload_of(
        self, position: int, constants: Mapping[int, int]
    ) -> tuple[_SharedPayload | None, dict[Node, Graph]]:
        """Return the number whose float is at a position of the state, and the conds whose arms are then equal.

        None without such a cond: nothing would become quicker.
        """
        payload, equal_conds = None, {}
        for cond in self._conds:
            tag = self._origin(cond.inputs[0])
            if len(cond.regions) != 2 or tag not in self._parameters:
                continue
            tag_position = self._parameters.index(tag)
            int_tag = int_of(self._loop.inputs[tag_position])
            if int_tag not in (0, 1):
                continue
            arms = cond.regions[int_tag], cond.regions[1 - int_tag]
            number = self._equal_up_to(arms, self._parameters[position], constants)
            candidate = None if number is None else _SharedPayload(tag_position, position, int_tag, number)
            if candidate is not None and payload in (None, candidate):
                payload = candidate
                equal_conds[cond] = arms[1]
        return payload, equal_conds

    def _equal_up_to(self, arms: tuple[Graph, Graph], payload: Value, constants: Mapping[int, int]) -> int | None:
        """Return the int that the first arm has where the second has the payload, if they are equal otherwise."""
        ints: dict[Value, int] = {}
        for value in arms[0].parameters:
            origin = self._origin(value)
            if origin in self._parameters and self._parameters.index(origin) in constants:
                ints[value] = constants[self._parameters.index(origin)]
        first_nodes = []
        for node in arms[0].nodes:
            number = int_of(node.results[0]) if len(node.results) == 1 else None
            if number is None and node.op.name == "python_cast" and _is_float(node.results[0].type):
                number = ints.get(node.inputs[0])
            if number is None:
                first_nodes.append(node)
            else:
                ints[node.results[0]] = number
        second_nodes = [node for node in arms[1].nodes if node.op.name != "constant"]
        if len(first_nodes) != len(second_nodes) or len(first_nodes) > _MAX_ARM_NODES:
            return None
        matcher = _Matcher(self, payload, ints)
        if not all(map(matcher.match_nodes, first_nodes, second_nodes)):
            return None
        return matcher.number if all(map(matcher.match, arms[0].outputs, arms[1].outputs)) else None

    # ---- the induction

    def _is_inductive(self, payload: _SharedPayload) -> bool:
        """Return whether the float holds the number at the end of each path on which the tag is that of the int."""
        outputs = [self._body.outputs[payload.tag], self._body.outputs[payload.float]]
        tag, number = self._parameters[payload.tag], self._parameters[payload.float]
        for first_tag in (0, 1):
            environment: dict[Value, Any] = {tag: first_tag}
            if first_tag == payload.int_tag:
                environment[number] = payload.number
            paths = Paths(outputs).run(self._body, environment, outputs)
            for count, (last_tag, last_number) in enumerate(paths):
                if count == _MAX_PATHS or last_tag not in (0, 1) or not isinstance(last_tag, int):
                    return False
                is_number = last_number is ABSENT or (isinstance(last_number, int) and last_number == payload.number)
                if last_tag == payload.int_tag and not is_number:
                    return False
        return True

    def _absent_values(self, output: Value) -> list[Value]:
        """Return the absent values that an output of the body may be."""
        result, worklist, visited = [], [output], set[Value]()
        while worklist:
            value = self._origin(worklist.pop())
            node = value.node
            if node is None or value in visited:
                continue
            visited.add(value)
            if _is_absent(value):
                result.append(value)
            elif has_arms(node):
                worklist += [region.outputs[node.results.index(value)] for region in node.regions]
            elif node.op.name in ("select", "identity"):
                worklist += node.inputs
        return result


class _Matcher:
    """The comparison of two arms: `number` is the int that the first has in place of the payload, None so far."""

    def __init__(self, loop: _Loop, payload: Value, ints: Mapping[Value, int]) -> None:
        self.number: int | None = None
        self._loop, self._payload, self._ints = loop, payload, ints
        self._pairs: dict[Value, Value] = {}

    def match(self, first: Value, second: Value) -> bool:
        """Return whether two values are equal, or an int and the payload."""
        if first in self._pairs:
            return self._pairs[first] is second
        if self._loop._origin(second) is self._payload:
            number = self._ints.get(first)
            if number is None or self.number not in (None, number):
                return False
            self.number = number
            return True
        if first in self._ints:
            return int_of(second) == self._ints[first] and first.type == second.type
        return self._loop._origin(first) is self._loop._origin(second)

    def match_nodes(self, first: Node, second: Node) -> bool:
        """Return whether two nodes compute the same, and pair their results."""
        is_alike = (
            first.op is second.op and not first.regions and len(first.inputs) == len(second.inputs)
            and [value.type for value in first.results] == [value.type for value in second.results]
            and attributes_key_of(first) == attributes_key_of(second)
        )  # fmt: skip
        if not is_alike or not all(map(self.match, first.inputs, second.inputs)):
            return False
        if any(self._loop._origin(value) is self._payload for value in second.inputs) and not self._takes_ints(first):
            return False
        self._pairs.update(zip(first.results, second.results, strict=True))
        return True

    def _takes_ints(self, node: Node) -> bool:
        """Return whether a node computes the same with the int as with the float of its value."""
        if not node.op.traits.elementwise or any(_is_weak_int(value.type) for value in node.results):
            return False
        types = [value.type for value in node.inputs if value not in self._ints]
        is_exact = all(_is_float(type_) or _is_weak_int(type_) for type_ in types)
        return is_exact or abs(self.number or 0) <= _LARGEST_INT_OF_HALVES


def _is_weak_int(type_: Type) -> bool:
    return isinstance(type_, TensorType) and type_.weak and type_.dtype.name == "int64"
