"""Induction variables: find the state of a loop that counts, and its limit.

    while position < limit: …; position = position + 1

The range of such a counter makes bounds checks of positions redundant. Short loops that only count to their end poll
for interrupts between long runs of iterations, so that LLVM can vectorise them. Loops of a few iterations in them do
not poll.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size


@dataclass(frozen=True, slots=True)
class Counter:
    """The induction variable `position` of a loop, with its limit: the constant `limit`, or the capture number
    `capture`.

    `alone`: whether nothing else ends the loop.
    """

    position: int
    limit: int | None
    capture: int
    alone: bool


def counter_of(node: Node) -> Counter | None:
    """Return the counter of a loop; None if the loop has another form."""
    test, body = node.regions
    count = state_size(node)
    decides, alone = _comparison(test)
    if decides is None or decides.op.name != "python_less":
        return None
    first, limit = decides.inputs
    if first.node is not None or first not in test.parameters[:count]:
        return None
    position = test.parameters.index(first)
    if not _counts(body, position):
        return None
    number = constant_of(limit)
    if number is not None:
        return Counter(position, number, -1, alone)
    if limit.node is None and limit in test.parameters[count:]:
        return Counter(position, None, test.parameters.index(limit) - count, alone)
    return None


def _comparison(test: Graph) -> tuple[Node | None, bool]:
    """Return the node that is necessary for the loop to go on, and whether it is the whole condition."""
    decides = test.outputs[0].node
    if decides is not None and decides.op.traits.selects:
        return (decides.inputs[0].node if _is_and(decides) else None), False
    plain = all(inner is decides or inner.op.name == "constant" for inner in test.nodes)
    return decides, plain


def _is_and(node: Node) -> bool:
    """Return whether a `cond` has the form `first and …`: its result is false if its operand is."""
    if len(node.regions) != 2:
        return False
    arm = node.regions[1]
    otherwise = arm.outputs[0]
    if otherwise in arm.parameters:  # the operand itself may be the result
        return node.inputs[1 + arm.parameters.index(otherwise)] is node.inputs[0]
    return constant_of(otherwise) == 0


def _counts(body: Graph, position: int) -> bool:
    addition = body.outputs[position].node
    if addition is None or addition.op.name != "python_add":
        return False
    own = body.parameters[position]
    others = [value for value in addition.inputs if value is not own]
    return len(others) == 1 and constant_of(others[0]) == 1


def constant_of(value: Value) -> int | None:
    """Return the value of a constant int or bool; None for others."""
    if value.node is None or value.node.op.name != "constant":
        return None
    array = np.asarray(value.node.attributes["value"])
    return int(array) if array.shape == () and array.dtype.kind in "bi" else None


def turns_of(node: Node) -> int | None:
    """Return an upper bound of a loop's trip count, inner loops included.

    None if it is unknown, or if the loop contains calls or tries.
    """
    counter = counter_of(node)
    first = None if counter is None else constant_of(node.inputs[counter.position])
    if counter is None or counter.limit is None or first is None:
        return None
    each, tests = weight(node.regions[1]), weight(node.regions[0])
    return None if each is None or tests is None else max(counter.limit - first, 0) * max(each, tests)


def weight(body: Graph) -> int | None:
    """Return the number of short iterations that one run of the body counts for: 1, and the iterations of its loops."""
    total = 1
    for node in body.nodes:
        if node.op.traits.repeats:
            turns = turns_of(node)
            if turns is None:
                return None
            total += turns
            continue
        if node.op.traits.control and not node.op.traits.selects:
            return None
        arms = [weight(region) for region in node.regions]
        present = [arm for arm in arms if arm is not None]
        if len(present) < len(arms):
            return None
        total += max(present, default=1) - 1
    return total


__all__ = ["Counter", "constant_of", "counter_of", "turns_of", "weight"]
