"""Tallies: states of a loop that each iteration keeps, changes by a constant, or resets to a constant.

    for v in values: if v: count = count + 1  else: count = 0

The trip count bounds them, so their additions need no test for overflow, and LLVM may turn such branches into selects.
A loop has no tallies if a branch chooses the next value of a state on which the branch's own condition depends. An
accepted move of a Markov chain is such a branch. A select would wait for the condition in each iteration; a predicted
branch does not.
"""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import is_int64_scalar
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.ops.analysis.induction import constant_of
from autoconv.ops.analysis.tally import Tally

_DEPTH_LIMIT = 32  # longest chain of nodes between a state and its next value


def tallies(loop: Node) -> dict[int, Tally]:
    """Return the tallies among the states of a loop, by the positions of the states."""
    body, state_count = loop.regions[1], state_size(loop)
    result: dict[int, Tally] = {}
    if any(_chooses_from_own_state(node, body, state_count) for node in body.nodes):
        return result
    for position, parameter in enumerate(body.parameters[:state_count]):
        if is_int64_scalar(parameter.type) and parameter.type.weak:
            tally = _tally_of(body.outputs[position], {parameter: Tally((0, 0), None)}, 0)
            if tally is not None:
                result[position] = tally
    return result


def _chooses_from_own_state(node: Node, body: Graph, state_count: int) -> bool:
    """Return whether a branch chooses the next value of a state on which its condition depends."""
    if not (node.op.traits.selects and node.regions):
        return False
    states = zip(body.parameters[:state_count], body.outputs[:state_count], strict=True)
    chosen_states = {parameter for parameter, output in states if output.node is node}
    worklist, visited = [node.inputs[0]] if chosen_states else [], set[Value]()
    while worklist:
        value = worklist.pop()
        if value in chosen_states:
            return True
        if value not in visited and value.node is not None:
            visited.add(value)
            worklist += value.node.inputs
    return False


def _tally_of(value: Value, known_tallies: dict[Value, Tally | None], depth: int) -> Tally | None:
    """Return the tally of a value of the body, relative to the state; None if it is computed in another way."""
    if value not in known_tallies:
        known_tallies[value] = _tally_of_result(value, known_tallies, depth)
    return known_tallies[value]


def _tally_of_result(value: Value, known_tallies: dict[Value, Tally | None], depth: int) -> Tally | None:
    """Return the tally of a value that is a constant, a sum, or chosen from tallies; None for any other."""
    constant, node = constant_of(value), value.node
    if constant is not None:
        return Tally(None, (constant, constant))
    if node is None or depth > _DEPTH_LIMIT or not is_int64_scalar(value.type):
        return None
    if node.op.name in ("python_add", "python_subtract"):
        return _tally_of_sum(node, known_tallies, depth)
    if node.op.name == "select":
        return _union_of_tallies([_tally_of(operand, known_tallies, depth + 1) for operand in node.inputs[1:]])
    if node.op.traits.selects and node.regions:
        result_position = node.results.index(value)
        operand_tallies = [_tally_of(operand, known_tallies, depth + 1) for operand in node.inputs[1:]]
        outputs = [
            (arm.outputs[result_position], dict(zip(arm.parameters, operand_tallies, strict=True)))
            for arm in node.regions
        ]
        return _union_of_tallies([_tally_of(output, arm_tallies, depth + 1) for output, arm_tallies in outputs])
    return None


def _tally_of_sum(node: Node, known_tallies: dict[Value, Tally | None], depth: int) -> Tally | None:
    """Return the tally of a tally plus or minus a constant; None if no operand is a constant, or the other no tally."""
    x, y = node.inputs
    sign = 1
    if node.op.name == "python_subtract":
        sign = -1
    elif constant_of(y) is None:
        x, y = y, x
    step, tally = constant_of(y), _tally_of(x, known_tallies, depth + 1)
    return None if step is None or tally is None else tally.shift(sign * step)


def _union_of_tallies(tallies: list[Tally | None]) -> Tally | None:
    """Return the tally that covers all of them; None if one of them is unknown."""
    result: Tally | None = None
    for tally in tallies:
        if tally is None:
            return None
        result = tally if result is None else result.union(tally)
    return result
