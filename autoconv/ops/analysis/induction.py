"""Induction variables: find the state of a loop that counts its iterations, and the limit of that state.

    while position < limit: …; position = position + 1

The range of such a counter makes bounds checks of positions redundant. It also decides how often a loop polls for
interrupts. If the loop has a short body and no exit but the limit, it polls between long runs of iterations, so that
LLVM can vectorise these. Inner loops of a few iterations do not poll.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.linear_form import Range
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Counter:
    """The induction variable of a loop: the state at `position`.

    Its limit is the constant `limit` if `capture` is -1; else `limit` is None, and the limit is the capture at position
    `capture`. `is_only_exit`: no other condition ends the loop.
    """

    position: int
    limit: int | None
    capture: int
    is_only_exit: bool


def counter_of(node: Node) -> Counter | None:
    """Return the counter of a loop; None if the loop has another form."""
    test, body = node.regions
    state_count = state_size(node)
    comparison, is_only_exit = _exit_comparison(test)
    if comparison is None or comparison.op.name != "python_less":
        return None
    variable, limit = comparison.inputs
    if not all(isinstance(value.type, TensorType) and value.type.dtype.is_integer for value in comparison.inputs):
        return None
    if variable.node is not None or variable not in test.parameters[:state_count]:
        return None
    position = test.parameters.index(variable)
    increment = _increment(body, position)
    if increment is None or constant_of(increment) != 1:
        return None
    constant_limit = constant_of(limit)
    if constant_limit is not None:
        return Counter(position, constant_limit, -1, is_only_exit)
    if limit.node is None and limit in test.parameters[state_count:]:
        return Counter(position, None, test.parameters.index(limit) - state_count, is_only_exit)
    return None


def _exit_comparison(test: Graph) -> tuple[Node | None, bool]:
    """Return the node whose result has to be true for the loop to continue, and whether it is the whole condition.

    The node is None if no single one has to be true.
    """
    result = test.outputs[0].node
    if result is not None and result.op.traits.selects:
        return (result.inputs[0].node if _is_and(result) else None), False
    is_whole = all(inner is result or inner.op.name == "constant" for inner in test.nodes)
    return result, is_whole


def _is_and(node: Node) -> bool:
    """Return whether a `cond` has the form `first and …`: its result is false if its operand is."""
    if len(node.regions) != 2:
        return False
    arm = node.regions[1]
    result = arm.outputs[0]
    if result in arm.parameters:  # the result may be the operand itself
        return node.inputs[1 + arm.parameters.index(result)] is node.inputs[0]
    return constant_of(result) == 0


def _increment(body: Graph, position: int) -> Value | None:
    """Return the value that an iteration adds to the state at `position`; None if it is updated otherwise."""
    addition = body.outputs[position].node
    if addition is None or addition.op.name != "python_add":
        return None
    addends = [value for value in addition.inputs if value is not body.parameters[position]]
    return addends[0] if len(addends) == 1 else None


def constant_of(value: Value) -> int | None:
    """Return the value of a constant int or bool; None for others."""
    if value.node is None or value.node.op.name != "constant":
        return None
    array = np.asarray(value.node.attributes["value"])
    return int(array) if array.shape == () and array.dtype.kind in "bi" else None


def trip_count_bound(loop: Node, ranges: Mapping[Value, Range]) -> int | None:
    """Return an upper bound of a loop's trip count, the number of its iterations; None if it is unknown.

    The bound is the distance from a counter's constant start to its constant limit. If there is no such counter, it is
    the number of integers in the range of a state that grows in each iteration.
    """
    counter = counter_of(loop)
    start = None if counter is None else constant_of(loop.inputs[counter.position])
    if counter is not None and counter.limit is not None and start is not None:
        return max(counter.limit - start, 0)
    body = loop.regions[1]
    for position, state in enumerate(body.parameters[: state_size(loop)]):
        increment = _increment(body, position)
        if increment is not None and state in ranges and ranges.get(increment, (0, 0))[0] > 0:
            low, high = ranges[state]
            return high - low + 1
    return None


def nested_trip_count_bound(loop: Node) -> int | None:
    """Return an upper bound of the iterations of a loop and of the loops in it, all added up.

    None if it is unknown, or if the loop contains calls or tries.
    """
    trip_count = trip_count_bound(loop, {})
    body_weight, test_weight = iteration_weight(loop.regions[1]), iteration_weight(loop.regions[0])
    if trip_count is None or body_weight is None or test_weight is None:
        return None
    return trip_count * max(body_weight, test_weight)


def iteration_weight(body: Graph) -> int | None:
    """Return an upper bound of the iterations in one run of the body: 1, plus those of its inner loops.

    None if it is unknown.
    """
    result = 1
    for node in body.nodes:
        if node.op.traits.repeats:
            iterations = nested_trip_count_bound(node)
            if iterations is None:
                return None
            result += iterations
            continue
        if node.op.traits.control and not node.op.traits.selects:
            return None
        weights = [iteration_weight(region) for region in node.regions]
        known_weights = [weight for weight in weights if weight is not None]
        if len(known_weights) < len(weights):
            return None
        result += max(known_weights, default=1) - 1
    return result
