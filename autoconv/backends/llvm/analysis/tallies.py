"""Tallies: states of a loop that in each turn stay, change by constants, or start again from constants.

    for v in values: if v: count = count + 1  else: count = 0

The number of turns bounds them, so their additions need no test for overflow, and LLVM may turn such branches into
selections. A loop has none where a branch chooses the next value of a state on which its condition depends, as an
accepted move of a Markov chain: a selection there would wait for the condition in each turn, a predicted branch does
not.
"""

from __future__ import annotations

from dataclasses import dataclass

from autoconv.backends.llvm.analysis.induction import constant_of
from autoconv.backends.llvm.analysis.representation import is_integer
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.ops.analysis.value_range import Range

_DEEPEST = 32  # nodes between a state and its next value


@dataclass(frozen=True, slots=True)
class Tally:
    """The next value of a state: the present one plus a number in `steps`, or a number in `resets`; either may be None.
    """

    steps: Range | None
    resets: Range | None

    def shift(self, by: int) -> Tally:
        return Tally(_shift_range(self.steps, by), _shift_range(self.resets, by))

    def union(self, other: Tally) -> Tally:
        return Tally(_hull(self.steps, other.steps), _hull(self.resets, other.resets))

    def range_after(self, turns: int, start: Range) -> Range:
        """Return the interval of the state after at most so many turns, from a start in an interval."""
        low, high = _hull(start, self.resets) or start
        least, most = self.steps or (0, 0)
        return low + min(least, 0) * turns, high + max(most, 0) * turns


def tallies(loop: Node) -> dict[int, Tally]:
    """Return the tallies among the states of a loop, by their positions."""
    body, size = loop.regions[1], state_size(loop)
    result: dict[int, Tally] = {}
    if any(_carries_its_choice(node, body, size) for node in body.nodes):
        return result
    for position, own in enumerate(body.parameters[:size]):
        if is_integer(own.type) and own.type.weak:
            found = _tally_of(body.outputs[position], {own: Tally((0, 0), None)}, 0)
            if found is not None:
                result[position] = found
    return result


def _carries_its_choice(node: Node, body: Graph, size: int) -> bool:
    """Return whether a branch chooses the next value of a state on which its condition depends."""
    if not (node.op.traits.selects and node.regions):
        return False
    chosen = {own for own, after in zip(body.parameters[:size], body.outputs[:size], strict=True) if after.node is node}
    waiting, seen = [node.inputs[0]] if chosen else [], set[Value]()
    while waiting:
        value = waiting.pop()
        if value in chosen:
            return True
        if value not in seen and value.node is not None:
            seen.add(value)
            waiting += value.node.inputs
    return False


def _tally_of(value: Value, known: dict[Value, Tally | None], depth: int) -> Tally | None:
    """Return the tally of a value of the body; None if it is computed in another way."""
    if value not in known:
        known[value] = _tally_of_result(value, known, depth)
    return known[value]


def _tally_of_result(value: Value, known: dict[Value, Tally | None], depth: int) -> Tally | None:
    number, node = constant_of(value), value.node
    if number is not None:
        return Tally(None, (number, number))
    if node is None or depth > _DEEPEST or not is_integer(value.type):
        return None
    if node.op.name in ("python_add", "python_subtract"):
        return _tally_of_sum(node, known, depth)
    if node.op.name == "select":
        return _union_of_tallies([_tally_of(each, known, depth + 1) for each in node.inputs[1:]])
    if node.op.traits.selects and node.regions:
        result = node.results.index(value)
        given = [_tally_of(each, known, depth + 1) for each in node.inputs[1:]]
        arms = [(region, dict(zip(region.parameters, given, strict=True))) for region in node.regions]
        return _union_of_tallies([_tally_of(region.outputs[result], inner, depth + 1) for region, inner in arms])
    return None


def _tally_of_sum(node: Node, known: dict[Value, Tally | None], depth: int) -> Tally | None:
    x, y = node.inputs
    sign = 1
    if node.op.name == "python_subtract":
        sign = -1
    elif constant_of(y) is None:
        x, y = y, x
    by, tally = constant_of(y), _tally_of(x, known, depth + 1)
    return None if by is None or tally is None else tally.shift(sign * by)


def _union_of_tallies(found: list[Tally | None]) -> Tally | None:
    result: Tally | None = None
    for each in found:
        if each is None:
            return None
        result = each if result is None else result.union(each)
    return result


def _shift_range(range_: Range | None, by: int) -> Range | None:
    return None if range_ is None else (range_[0] + by, range_[1] + by)


def _hull(x: Range | None, y: Range | None) -> Range | None:
    if x is None or y is None:
        return x or y
    return min(x[0], y[0]), max(x[1], y[1])


__all__ = ["Tally", "tallies"]
