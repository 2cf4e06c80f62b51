"""Step ranges of a loop's states that each iteration keeps, changes by a constant, or resets to a known range.

    for v in values: if v: count = count + 1  else: count = 0
    for i in range(n): if x[i] > 0: last = i

The trip count bounds them, so their additions need no test for overflow, and LLVM may turn such branches into selects.
A loop has no step ranges if a branch chooses the next value of a state on which the branch's own condition depends. An
accepted move of a Markov chain is such a branch. A select would wait for the condition in each iteration; a predicted
branch does not.
"""

from __future__ import annotations

from collections.abc import Mapping

from autoconv.backends.llvm.analysis.representation import is_int64_scalar
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.linear_form import Range
from autoconv.graph.region_flow import state_size
from autoconv.ops.analysis.induction import constant_of
from autoconv.ops.analysis.step_range import StepRange

_MAX_DEPTH = 32  # longest chain of nodes between a state and its next value


def step_ranges(loop: Node, known_states: Mapping[int, Range]) -> dict[int, StepRange]:
    """Return the step ranges of a loop's states, by the positions of the states that have one.

    `known_states` are the ranges of states in the body that are known otherwise, such as that of the counter.
    """
    body, state_count = loop.regions[1], state_size(loop)
    result: dict[int, StepRange] = {}
    if waits_for_branches(loop):
        return result
    for position, parameter in enumerate(body.parameters[:state_count]):
        if is_int64_scalar(parameter.type) and parameter.type.weak:
            unchanged = StepRange(increments=(0, 0), resets=None)
            known_ranges: dict[Value, StepRange | None] = {
                body.parameters[known]: StepRange(increments=None, resets=range_)
                for known, range_ in known_states.items()
            }
            step_range = _step_range_of(body.outputs[position], known_ranges | {parameter: unchanged}, depth=0)
            if step_range is not None:
                result[position] = step_range
    return result


def waits_for_branches(loop: Node) -> bool:
    """Return whether a branch in a loop chooses the next value of a state on which its own condition depends."""
    body = loop.regions[1]
    return any(_chooses_from_own_state(node, body, state_size(loop)) for node in body.nodes)


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


def _step_range_of(value: Value, known_ranges: dict[Value, StepRange | None], depth: int) -> StepRange | None:
    """Return the step range of a value of the body, relative to the state; None if it is computed in another way."""
    if value not in known_ranges:
        known_ranges[value] = _step_range_of_result(value, known_ranges, depth)
    return known_ranges[value]


def _step_range_of_result(value: Value, known_ranges: dict[Value, StepRange | None], depth: int) -> StepRange | None:
    """Return the step range of a value that is a constant, a sum, or chosen from step ranges; None for any other."""
    constant, node = constant_of(value), value.node
    if node is not None and node.op.name == "absent":
        constant = 0  # native code has 0 in place of an absent number
    if constant is not None:
        return StepRange(increments=None, resets=(constant, constant))
    if node is None or depth > _MAX_DEPTH or not is_int64_scalar(value.type):
        return None
    if node.op.name in ("python_add", "python_subtract"):
        return _step_range_of_sum(node, known_ranges, depth)
    if node.op.name == "select":
        return _union_of([_step_range_of(operand, known_ranges, depth + 1) for operand in node.inputs[1:]])
    if node.op.traits.selects and node.regions:
        result_position = node.results.index(value)
        operand_ranges = [_step_range_of(operand, known_ranges, depth + 1) for operand in node.inputs[1:]]
        outputs = [
            (arm.outputs[result_position], dict(zip(arm.parameters, operand_ranges, strict=True)))
            for arm in node.regions
        ]
        return _union_of([_step_range_of(output, arm_ranges, depth + 1) for output, arm_ranges in outputs])
    return None


def _step_range_of_sum(node: Node, known_ranges: dict[Value, StepRange | None], depth: int) -> StepRange | None:
    """Return the step range of a sum or difference; None unless one operand is a constant and the other has a range."""
    x, y = node.inputs
    sign = 1
    if node.op.name == "python_subtract":
        sign = -1
    elif constant_of(y) is None:
        x, y = y, x
    step, step_range = constant_of(y), _step_range_of(x, known_ranges, depth + 1)
    return None if step is None or step_range is None else step_range.shift(sign * step)


def _union_of(step_ranges: list[StepRange | None]) -> StepRange | None:
    """Return the step range that covers all of them; None if one of them is unknown."""
    result: StepRange | None = None
    for step_range in step_ranges:
        if step_range is None:
            return None
        result = step_range if result is None else result.union(step_range)
    return result
