"""Enumeration of the paths through a region, for the proofs by induction in `shared_payloads`.

A path is one choice at each cond and selection on which the examined outputs depend. On each path some values are known
ints, such as the tag 0 or 1 of a number that is an int or a float.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType, Type
from autoconv.lazy_dataclass import dataclass

LARGEST_INT = 1 << 53  # floats of 64 bits represent all smaller ints
_MAX_PATHS = 64  # paths that are examined before the proof is given up
ABSENT = object()  # stands for the result of an op `absent` on a path


def int_of(value: Value) -> int | None:
    """Return the int of a constant scalar, also of a float that is an int; None for other values."""
    if value.node is None or value.node.op.name != "constant":
        return None
    array = np.asarray(value.node.attributes["value"])
    if array.shape != () or array.dtype.kind not in "if" or (np.signbit(array) and not array):
        return None
    number = array.item()
    return int(number) if abs(number) <= LARGEST_INT and number == int(number) else None


def is_float(type_: Type) -> bool:
    """Return whether this is the type of a float scalar of 64 bits."""
    return isinstance(type_, TensorType) and type_.shape == () and type_.dtype.name == "float64"


def is_bool(type_: Type) -> bool:
    """Return whether this is the type of bools."""
    return isinstance(type_, TensorType) and type_.dtype.is_bool


def _may_decide(node: Node) -> bool:
    """Return whether a node chooses a value, or computes an int or a bool."""
    is_float = any(isinstance(value.type, TensorType) and value.type.dtype.is_floating for value in node.results)
    return not node.regions and (not is_float or node.op.name in ("select", "constant", "absent", "identity"))


def has_arms(node: Node) -> bool:
    """Return whether a node runs one of its regions."""
    return node.op.traits.selects and bool(node.regions)


@dataclass(frozen=True, slots=True)
class TaggedState:
    """A number in the state of a loop, in a tag and a float; the float holds `int_value` where the tag is `int_tag`."""

    tag_position: int  # in the state
    float_position: int
    int_tag: int
    int_value: int

    def allows(self, tag: Any, payload: Any) -> bool:
        """Return whether a tag and a float on a path are such a number; an absent float may become the int."""
        if not isinstance(tag, int) or tag not in (0, 1):
            return False
        return tag != self.int_tag or payload is ABSENT or (isinstance(payload, int) and payload == self.int_value)


class Paths:
    """The paths through a region, as far as some of its outputs depend on them.

    `loops` are loops inside of the region, with a number in their states. It is taken for granted that an iteration
    keeps the property of `TaggedState`. `inner_loops_start_valid` becomes false if the state before one lacks it.
    """

    def __init__(self, outputs: Sequence[Value], loops: Mapping[Node, TaggedState] | None = None) -> None:
        self._loops = loops or {}
        self._needed_nodes: set[Node] = set()
        self._needed_values: set[Value] = set()
        self._mark(outputs)
        self.inner_loops_start_valid = True

    def visits(self, node: Node) -> bool:
        """Return whether the outputs depend on a node."""
        return node in self._needed_nodes

    def _mark(self, values: Sequence[Value]) -> None:
        """Mark the nodes on which values depend, through conds, selections and comparisons."""
        for value in values:
            node = value.node
            if node is None or value in self._needed_values:
                continue
            self._needed_values.add(value)
            if has_arms(node):
                self._needed_nodes.add(node)
                index = node.results.index(value)
                self._mark(node.inputs)
                for region in node.regions:
                    self._mark([region.outputs[index]])
            elif node in self._loops:
                self._needed_nodes.add(node)
                state = self._loops[node]
                self._mark([node.inputs[state.tag_position], node.inputs[state.float_position]])
            elif node not in self._needed_nodes and _may_decide(node):
                self._needed_nodes.add(node)
                self._mark(node.inputs)

    def run(
        self, graph: Graph, environment: dict[Value, Any], outputs: Sequence[Value]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the outputs on each path: an int, ABSENT, or, for an unknown one, the value from which it comes.

        `environment` binds values to ints or to other values. An unknown condition is bound when an arm is chosen.
        """
        nodes = [node for node in graph.nodes if node in self._needed_nodes]
        for inner in self._run_nodes(nodes, 0, environment):
            yield tuple(inner.get(value, value) for value in outputs)

    def _run_nodes(self, nodes: Sequence[Node], position: int, known: dict[Value, Any]) -> Iterator[dict[Value, Any]]:
        """Yield what is known after the nodes from a position on, path by path."""
        if position == len(nodes):
            yield known
            return
        for after in self._run_node(nodes[position], known):
            yield from self._run_nodes(nodes, position + 1, after)

    def _run_node(self, node: Node, known: dict[Value, Any]) -> Iterator[dict[Value, Any]]:
        """Yield what is known after a node, path by path."""
        operands = [known.get(value, value) for value in node.inputs]
        result = node.results[0]
        match node.op.name:
            case "constant":
                number = int_of(result)
                yield known | ({} if number is None else {result: number})
            case "absent":
                yield known | {result: ABSENT}
            case "identity":
                yield known | {result: operands[0]}
            case "python_cast" if is_bool(result.type) and is_bool(node.inputs[0].type):
                yield known | {result: operands[0]}
            case "python_cast" if not is_bool(result.type):
                yield known | ({result: operands[0]} if isinstance(operands[0], int) else {})
            case "logical_and" if 0 in operands or 1 in operands:
                first, second = operands
                yield known | {result: 0 if 0 in (first, second) else second if first == 1 else first}
            case "select":
                for choice in (operands[0],) if isinstance(operands[0], int) else (1, 0):
                    selected = operands[1] if choice else operands[2]
                    yield known | _decision(node.inputs[0], operands[0], choice) | {result: selected}
            case _ if node in self._loops:
                state = self._loops[node]
                tag, payload = operands[state.tag_position], operands[state.float_position]
                self.inner_loops_start_valid &= state.allows(tag, payload)
                # After the loop the number is the float, or the int.
                final_tag, final_float = node.results[state.tag_position], node.results[state.float_position]
                yield known | {final_tag: 1 - state.int_tag}
                yield known | {final_tag: state.int_tag, final_float: state.int_value}
            case _ if has_arms(node):
                yield from self._run_cond(node, operands, known)
            case _ if is_bool(result.type) and _is_known(node, operands):
                yield known | {result: _truth(node, operands)}
            case _:
                yield known

    def _run_cond(self, node: Node, operands: list[Any], known: dict[Value, Any]) -> Iterator[dict[Value, Any]]:
        """Yield what is known after each arm that may be taken."""
        index_type: Any = node.inputs[0].type
        count = len(node.regions)
        for choice in (operands[0],) if isinstance(operands[0], int) else range(count):
            number = 1 - choice if index_type.dtype.is_bool else choice  # the first arm is taken if a bool is true
            if not 0 <= number < count:
                continue
            region = node.regions[number]
            inner = known | _decision(node.inputs[0], operands[0], choice)
            inner |= {
                parameter: inner.get(value, value)
                for parameter, value in zip(region.parameters, node.inputs[1:], strict=True)
            }
            nodes = [inner_node for inner_node in region.nodes if inner_node in self._needed_nodes]
            for after in self._run_nodes(nodes, 0, inner):
                results = {
                    result: after.get(value, value) for result, value in zip(node.results, region.outputs, strict=True)
                }
                yield after | results


def _is_known(node: Node, operands: Sequence[Any]) -> bool:
    """Return whether a node is computed from its operands alone, and these are known numbers."""
    is_computed = node.op.traits.elementwise and node.op.kernel is not None
    return is_computed and bool(operands) and all(isinstance(operand, int) for operand in operands)


def _truth(node: Node, operands: Sequence[int]) -> int:
    """Return the result of a comparison or another op on known numbers."""
    assert node.op.kernel is not None
    types: list[Any] = [value.type for value in node.inputs]
    arrays = [np.asarray(operand, type_.dtype.numpy) for operand, type_ in zip(operands, types, strict=True)]
    return int(bool(node.op.kernel(*arrays, **node.attributes)))


def _decision(index: Value, operand: Any, choice: int) -> dict[Value, Any]:
    """Return the bindings of a condition, and of the value to which it is bound, to the choice."""
    return {index: choice, operand: choice} if isinstance(operand, Value) else {index: choice}


def holds_number(
    body: Graph, number: TaggedState, numbers: Mapping[Node, TaggedState], values: tuple[Value, Value],
    claim: TaggedState,
) -> bool:  # fmt: skip
    """Return whether a tag and a float of a loop's body have the property of `claim`.

    It is taken for granted that the number in the state has its property before the iteration, and that iterations of
    the loops in `numbers` keep theirs.
    """
    paths = Paths(values, numbers)
    if not _visits_inner_loops(paths, body, numbers) and values[0] is body.outputs[number.tag_position]:
        return False
    for first_tag in (0, 1):
        environment: dict[Value, Any] = {body.parameters[number.tag_position]: first_tag}
        if first_tag == number.int_tag:
            environment[body.parameters[number.float_position]] = number.int_value
        for count, pair in enumerate(paths.run(body, environment, values)):
            if count == _MAX_PATHS or not claim.allows(*pair):
                return False
    return paths.inner_loops_start_valid


def _visits_inner_loops(paths: Paths, graph: Graph, numbers: Mapping[Node, TaggedState]) -> bool:
    """Return whether paths visit the loops in `numbers` of a graph, except for those inside of such a loop."""
    for node in graph.nodes:
        if node in numbers:
            if not paths.visits(node):
                return False
        elif has_arms(node):
            if not all(_visits_inner_loops(paths, region, numbers) for region in node.regions):
                return False
        elif any(inner in numbers for region in node.regions for inner in region.walk()):
            return False
    return True
