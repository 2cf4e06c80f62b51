"""Comparison of the arms of a cond, one of which may compute with an int where the other has a float of the same value.

Arms that differ in the tag of their result only become one, as those of max(best, x) with an int or a float as the
first. Then the float of the result is computed without the tag.

    before   graph f(%tag: weak int64[], %x: float64[], %float: float64[]) {
               %max = cond(%tag, %x, %float): weak int64[], float64[] {
                 graph of_float(%x: float64[], %float: float64[]) {
                   %greater = greater(%x, %float): bool[]
                   %select = select(%greater, %x, %float): float64[]
                   %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
                   return %zero, %select
                 }
                 graph of_int(%x: float64[], %float: float64[]) {
                   %five = constant(value=array(float64[], 5.0), weak=False): float64[]
                   %greater = greater(%x, %five): bool[]
                   %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
                   %one = constant(value=array(int64[], 1), weak=True): weak int64[]
                   %tag = select(%greater, %zero, %one): weak int64[]
                   %select = select(%greater, %x, %five): float64[]
                   return %tag, %select
                 }
               }
               return %max:0, %max:1
             }
    after    graph f(%tag: weak int64[], %x: float64[], %float: float64[]) {
               %greater = greater(%x, %float): bool[]
               %select = select(%greater, %x, %float): float64[]
               %zero = constant(value=array(int64[], 0), weak=True): weak int64[]
               %one = constant(value=array(int64[], 1), weak=True): weak int64[]
               %of_int = select(%greater, %zero, %one): weak int64[]
               %is_int = python_equal(%tag, %one): weak bool[]
               %next_tag = select(%is_int, %of_int, %zero): weak int64[]
               return %next_tag, %select
             }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands
from autoconv.graph.types import TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.builder import GraphBuilder
from autoconv.optimise.common import attributes_key_of
from autoconv.optimise.constant_paths import has_arms, int_of, is_bool, is_float

_LARGEST_INT_OF_HALVES = 1 << 11  # floats of 16 bits represent all smaller ints
_MAX_ARM_NODES = 12


class ArmMatcher:
    """The comparison of two arms: `number` is the int that the first has in place of the payload, None so far."""

    def __init__(self, origin: Callable[[Value], Value], payload: Value, ints: Mapping[Value, int]) -> None:
        """Begin a comparison.

        `origin` gives the value that a captured parameter is. `payload` is the float's origin. `ints` are the values
        of the first arm that are constant ints.
        """
        self.number: int | None = None
        self._origin, self._payload, self._ints = origin, payload, ints
        self._pairs: dict[Value, Value] = {}

    def match(self, first: Value, second: Value) -> bool:
        """Return whether two values are equal, or an int and the payload."""
        if first in self._pairs:
            return self._pairs[first] is second
        if self._origin(second) is self._payload:
            if is_absent(first):
                return True  # it will hold the number
            number = self._ints.get(first)
            if number is None or self.number not in (None, number):
                return False
            self.number = number
            return True
        if first in self._ints:
            return int_of(second) == self._ints[first] and first.type == second.type
        return self._origin(first) is self._origin(second)

    def int_of(self, value: Value) -> int | None:
        """Return the constant int that a value of the first arm is, also as a float; None for another value."""
        return self._ints.get(value)

    def equal_of(self, first: Value) -> Value | None:
        """Return the value of the second arm with which a computed value of the first was paired, if any."""
        return self._pairs.get(first)

    def match_choices(self, first: Choice, second: Choice) -> bool:
        """Return whether two choices are the same, and pair their results."""
        is_equal = first.result.type == second.result.type and all(map(self.match, first[1:], second[1:]))
        if is_equal:
            self._pairs[first.result] = second.result
        return is_equal

    def match_nodes(self, first: Node, second: Node) -> bool:
        """Return whether two nodes compute the same, and pair their results."""
        is_alike = (
            first.op is second.op and not first.regions and len(first.inputs) == len(second.inputs)
            and [value.type for value in first.results] == [value.type for value in second.results]
            and attributes_key_of(first) == attributes_key_of(second)
        )  # fmt: skip
        if not is_alike or not all(map(self.match, first.inputs, second.inputs)):
            return False
        if any(self._origin(value) is self._payload for value in second.inputs) and not self._takes_ints(first):
            return False
        self._pairs.update(zip(first.results, second.results, strict=True))
        return True

    def _takes_ints(self, node: Node) -> bool:
        """Return whether a node computes the same with the int as with the float of its value."""
        if not node.op.traits.elementwise or any(_is_weak_int(value.type) for value in node.results):
            return False
        types = [value.type for value in node.inputs if value not in self._ints]
        is_exact = all(is_float(type_) or _is_weak_int(type_) for type_ in types)
        return is_exact or abs(self.number or 0) <= _LARGEST_INT_OF_HALVES


class Choice(NamedTuple):
    """A result that is one of two values, by a bool."""

    result: Value
    condition: Value
    if_true: Value
    if_false: Value


def _choices(node: Node) -> Iterator[Choice]:
    """Iterate over the results of a selection, or of a cond with two arms that compute nothing."""
    if node.op.name == "select":
        yield Choice(node.results[0], *node.inputs)
    elif has_arms(node) and len(node.regions) == 2 and is_bool(node.inputs[0].type):
        outer_values = {
            parameter: value for region in node.regions
            for parameter, value in zip(region.parameters, captured_operands(node), strict=True)
        }  # fmt: skip
        if all(inner.op.name in ("constant", "absent") for region in node.regions for inner in region.nodes):
            for position, result in enumerate(node.results):
                values = [region.outputs[position] for region in node.regions]
                yield Choice(result, node.inputs[0], *(outer_values.get(value, value) for value in values))


@dataclass(frozen=True, slots=True)
class JointArms:
    """A cond without effects whose arms are equal in a float. `arms` are those of the int and of the float."""

    matcher: ArmMatcher
    arms: tuple[Graph, Graph]
    int_tag: int
    choices: Mapping[Value, Choice]  # by result, of the first arm

    def results(self, graph: Graph, inputs: Sequence[Value], values: Mapping[Value, Value]) -> list[Value]:
        """Append what the results need besides the nodes of the second arm to a graph, and return the results.

        `inputs` are those of the cond; `values` are what the values of the second arm are in the graph.
        """
        b, is_int, results = GraphBuilder(graph), None, []
        outer_values = dict(zip(self.arms[0].parameters, inputs[1:], strict=True))
        for first, second in zip(self.arms[0].outputs, self.arms[1].outputs, strict=True):
            if self.matcher.match(first, second):
                results.append(values[second])
                continue
            of_int = self._translate(first, b, outer_values, values)
            if of_int is None or (is_absent(second) and not is_float(second.type)):
                results.append(values[second] if of_int is None else of_int)
                continue
            is_int = b.python_equal(inputs[0], self.int_tag) if is_int is None else is_int
            results.append(b.select(is_int, of_int, values[second]))
        return results

    def _translate(
        self, value: Value, b: GraphBuilder, outer_values: Mapping[Value, Value], values: Mapping[Value, Value]
    ) -> Value | None:
        """Return what a value of the first arm is in the graph; None for an absent one that is no float."""
        equal = self.matcher.equal_of(value)
        if equal is not None:
            return values[equal]
        number = self.matcher.number if is_absent(value) and is_float(value.type) else self.matcher.int_of(value)
        if number is not None:
            return b.constant(value=np.asarray(number, value.dtype.numpy), weak=value.weak)
        if value in outer_values or is_absent(value):
            return outer_values.get(value)
        if value in self.choices:
            choice = self.choices[value]
            if_true, if_false = (self._translate(part, b, outer_values, values) for part in choice[2:])
            condition = self._translate(choice.condition, b, outer_values, values)
            return b.select(condition, if_true, if_false) if if_true and if_false else if_true or if_false
        assert value.node is not None
        return b.graph.add(value.node.op, (), value.node.attributes).results[0]


def join_arms(matcher: ArmMatcher, arms: tuple[Graph, Graph], int_tag: int) -> Graph | JointArms | None:
    """Return what takes the place of the arms of the int and of the float: one of them, or joint arms.

    The arms are equal, or they have no effects, are equal in a float, and all else is constant or chosen. None if they
    are neither. The matcher has the number then.
    """
    first_nodes = [node for node in arms[0].nodes if len(node.results) != 1 or matcher.int_of(node.results[0]) is None]
    second_nodes = [node for node in arms[1].nodes if node.op.name != "constant"]
    if max(len(first_nodes), len(second_nodes)) > _MAX_ARM_NODES:
        return None
    is_equal = len(first_nodes) == len(second_nodes) and all(map(matcher.match_nodes, first_nodes, second_nodes))
    if is_equal and all(map(matcher.match, arms[0].outputs, arms[1].outputs)):
        return arms[1]
    return _join_pure_arms(matcher, arms, int_tag)


def _join_pure_arms(matcher: ArmMatcher, arms: tuple[Graph, Graph], int_tag: int) -> JointArms | None:
    """Return how arms without effects are joined; None if they are not equal in a float."""
    if any(node.effects is not Effects.PURE for arm in arms for node in arm.nodes):
        return None
    second_choices = [choice for node in arms[1].nodes for choice in _choices(node)]
    first_choices: dict[Value, Choice] = {}
    for node in arms[0].nodes:
        choices = list(_choices(node))
        first_choices |= {choice.result: choice for choice in choices}
        for choice in choices:
            any(matcher.match_choices(choice, other) for other in second_choices)
        is_constant = node.op.name in ("constant", "absent") or all(
            matcher.int_of(result) is not None for result in node.results
        )
        if not choices and not is_constant and not any(matcher.match_nodes(node, other) for other in arms[1].nodes):
            return None
    joint = JointArms(matcher, arms, int_tag, first_choices)
    pairs = list(zip(arms[0].outputs, arms[1].outputs, strict=True))
    is_equal = [matcher.match(first, second) for first, second in pairs]
    has_equal_float = any(equal and is_float(first.type) for equal, (first, _) in zip(is_equal, pairs, strict=True))
    return joint if has_equal_float and matcher.number is not None else None


def is_absent(value: Value) -> bool:
    """Return whether a value is absent."""
    return value.node is not None and value.node.op.name == "absent"


def _is_weak_int(type_: Type) -> bool:
    return isinstance(type_, TensorType) and type_.weak and type_.dtype.name == "int64"
