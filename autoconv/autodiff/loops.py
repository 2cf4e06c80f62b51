"""Reverse rule of `while`: the backward loop reverses the iterations, the last one first."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from autoconv.autodiff.checkpoints import recompute_and_reverse, try_divide_into_segments
from autoconv.autodiff.conditionals import add_cotangent_parameters, cotangent_or_zeros, top_of
from autoconv.autodiff.cotangents import accumulate, conform, cotangent_type, zeros_of
from autoconv.autodiff.dependence import varied_state, varied_values
from autoconv.autodiff.forward_backward import Level, Region, Stack, extend_node, move_before, shallow_copy
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import OPS

_COUNT_TYPE = TensorType(int64, ())
_ONE, _ZERO = np.array(1, np.int64), np.array(0, np.int64)


@dataclass(eq=False)
class _Body:
    """A loop's body and its reverse, the forward and the backward graph of the level `child`.

    `forward_parameters` are the parameters of the body before stacks were added. The other values are parameters of the
    backward graph: `remaining_count` is the number of iterations still to be reversed; `cotangent_parameters` are
    cotangents of the state at `carried_positions`; `sums` are those of the cotangents of captures, at
    `summed_positions` among the loop's inputs, in the iterations that are reversed already.
    """

    child: Region
    forward_parameters: Sequence[Value]
    carried_positions: list[int]
    remaining_count: Value
    cotangent_parameters: list[Value]
    summed_positions: list[int]
    sums: list[Value]


def reverse_while(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Count the iterations in the forward loop, and add a backward loop with the same number of iterations."""
    inputs, state_count = node.inputs, state_size(node)
    recomputes = level.recompute_every is not None and try_divide_into_segments(node, level.recompute_every)
    body = _find_carried_state(level, node, varied, backprop, recomputes)
    child = body.child
    carried_parameters = [body.forward_parameters[i] for i in body.carried_positions]
    carried_cotangents = [cotangent_or_zeros(child, parameter, parameter.type) for parameter in carried_parameters]
    sums = [
        _next_sum(child, total, body.forward_parameters[j])
        for j, total in zip(body.summed_positions, body.sums, strict=True)
    ]
    results = node.results[:state_count]
    count, stacks = _add_counter_and_stacks(level, node, body)
    builder = level.builder
    initial_values = [cotangent_or_zeros(level, results[i], results[i].type) for i in body.carried_positions]
    initial_values += [zeros_of(builder, inputs[j]) for j in body.summed_positions]
    # The body of the backward loop gets each stack as `top`, and returns it as `bottom`.
    state = [body.remaining_count, *body.cotangent_parameters, *body.sums, *map(top_of, child.stacks)]
    captures = list(child.captures.items())
    remaining_after = child.builder.subtract(body.remaining_count, _ONE)
    child.backward.parameters = [*state, *(inner for _, inner in captures)]
    child.backward.outputs = [remaining_after, *carried_cotangents, *sums, *(stack.bottom for stack in child.stacks)]  # type: ignore[list-item]
    types = [value.type for value in state]
    test = _build_test([value.type for value in child.backward.parameters])
    resolved_captures = [level.resolve(outer) for outer, _ in captures]
    backward_loop = level.backward.add(
        OPS["while"],
        [level.resolve(count), *initial_values, *map(top_of, stacks), *resolved_captures],
        {"state": len(state)}, regions=[test, child.backward], types=types, span=builder.span,
    )  # fmt: skip
    outputs = list(backward_loop.results[1:])
    for position, cotangent in zip([*body.carried_positions, *body.summed_positions], outputs, strict=False):
        if inputs[position] in varied:
            accumulate(builder, level.cotangents, inputs[position], cotangent, node)
    for stack, bottom in zip(stacks, outputs[len(initial_values) :], strict=True):
        stack.bottom = bottom


def _find_carried_state(
    level: Level, node: Node, varied: set[Value], backprop: Callable[..., None], recomputes: bool
) -> _Body:
    """Return the reversed body, in which all state that needs a cotangent has one: a least fixed point.

    With `recomputes`, the backward graph recomputes segments of iterations (see checkpoints.py).
    """
    state_count = state_size(node)
    is_varied = varied_state(node.regions[1], [value in varied for value in node.inputs], state_count, level.heap)
    carried_positions = {i for i in range(state_count) if is_varied[i] and node.results[i] in level.cotangents}
    while True:
        body = _reverse_body(level, node, is_varied, sorted(carried_positions), backprop, recomputes)
        parameters = body.forward_parameters
        needed_positions = {i for i in range(state_count) if is_varied[i] and parameters[i] in body.child.cotangents}
        if needed_positions <= carried_positions:
            return body
        carried_positions |= needed_positions


def _reverse_body(
    level: Level, node: Node, is_varied: Sequence[bool], carried_positions: list[int], backprop: Callable[..., None],
    recomputes: bool,
) -> _Body:  # fmt: skip
    """Reverse the body; `is_varied[i]` is true if parameter i is varied."""
    state_count = state_size(node)
    forward = shallow_copy(node.regions[1])
    parameters_before = tuple(forward.parameters)
    outer_values = {
        parameter: node.inputs[i]
        for i, parameter in enumerate(parameters_before)
        if i >= state_count or forward.outputs[i] is parameter  # a capture, or state that no iteration changes
    }
    child = Region(level, forward, outer_values, repeats=True)
    remaining_count = child.backward.add_parameter(_COUNT_TYPE, "remaining")
    if not recomputes:
        child.counters.update(_induction_variables(node, child, remaining_count))
    flagged_parameters = zip(parameters_before, is_varied, strict=True)
    varied_parameters = [parameter for parameter, is_varied_parameter in flagged_parameters if is_varied_parameter]
    varied_in_body = varied_values(forward, varied_parameters, level.heap)
    if recomputes:
        cotangent_parameters = [
            child.backward.add_parameter(cotangent_type(parameters_before[i].type), "cotangent")
            for i in carried_positions
        ]
        outputs = [forward.outputs[i] for i in carried_positions]
        recompute_and_reverse(
            child, parameters_before, list(zip(outputs, cotangent_parameters, strict=True)), varied_in_body, backprop
        )
    else:
        cotangent_parameters = add_cotangent_parameters(
            child, [(parameters_before[i], forward.outputs[i]) for i in carried_positions], varied_in_body
        )
        backprop(child, varied_in_body)
    has_cotangent = [parameter in child.cotangents for parameter in parameters_before]
    summed_positions = [j for j in range(state_count, len(parameters_before)) if is_varied[j] and has_cotangent[j]]
    sums = [child.backward.add_parameter(cotangent_type(parameters_before[j].type), "sum") for j in summed_positions]
    return _Body(
        child, parameters_before, carried_positions, remaining_count, cotangent_parameters, summed_positions, sums
    )


def _induction_variables(node: Node, child: Region, remaining_count: Value) -> dict[Value, Callable[[], Value]]:
    """Map induction variables with a constant step to functions that build them in the backward graph."""
    result: dict[Value, Callable[[], Value]] = {}
    for start, parameter, next_value in zip(node.inputs, child.forward.parameters, child.forward.outputs, strict=False):
        step = _constant_step(parameter, next_value)
        if step:
            result[parameter] = functools.partial(_induction_value, child, start, step, remaining_count)
    return result


def _constant_step(parameter: Value, next_value: Value) -> int:
    """Return the constant step of an int64 induction variable; 0 for other parameters."""
    addition, type_ = next_value.node, parameter.type
    if addition is None or not isinstance(type_, TensorType) or (type_.dtype, type_.shape) != (int64, ()):
        return 0
    if addition.op.name not in ("add", "python_add") or parameter not in addition.inputs or next_value.type != type_:
        return 0
    step = addition.inputs[1 if addition.inputs[0] is parameter else 0].node
    increment = None if step is None or step.op.name != "constant" else np.asarray(step.attributes["value"])
    return 0 if increment is None or increment.dtype != np.int64 or increment.shape else int(increment)


def _induction_value(child: Region, start: Value, step: int, remaining_count: Value) -> Value:
    """Return an induction variable, computed from its start; `remaining_count` is 1 in the first iteration."""
    b, start_value = child.builder, child.capture(start)
    is_weak = start_value.weak
    advance = b.multiply(b.subtract(remaining_count, _ONE), np.array(step, np.int64))
    total = b.add(b.python_cast(start_value, dtype=int64) if is_weak else start_value, advance)
    return b.python_cast(total, dtype=int64, weak=True) if is_weak else total  # type: ignore[no-any-return]


def _next_sum(child: Region, total: Value, parameter: Value) -> Value:
    """Return `total`, the sum of the iterations reversed before, plus the cotangent of `parameter`, a capture."""
    b, cotangent = child.builder, child.cotangents[parameter]
    is_tensor = isinstance(total.type, TensorType)
    return conform(b, b.add(total, cotangent) if is_tensor else b.list_add(total, cotangent), total.type)


def _add_counter_and_stacks(level: Level, node: Node, body: _Body) -> tuple[Value, list[Stack]]:
    """Thread the stacks through the loop and count its iterations; return the count and the enclosing stacks."""
    state_count = state_size(node)
    child, forward, parameters_before = body.child, body.child.forward, body.forward_parameters
    test = shallow_copy(node.regions[0])
    node_count = len(level.forward.nodes)
    outer_stacks = [level.open_stack(node, inner_stack.type) for inner_stack in child.stacks]
    initial_count = GraphBuilder(level.forward).constant(value=_ZERO)
    move_before(level.forward, node, node_count)
    iteration = forward.add_parameter(_COUNT_TYPE, "iteration")
    forward.outputs += [GraphBuilder(forward).add(iteration, _ONE), *(inner_stack.exit for inner_stack in child.stacks)]  # type: ignore[list-item]
    new_body_parameters = [iteration, *(inner_stack.entry for inner_stack in child.stacks)]
    forward.parameters = [*parameters_before[:state_count], *new_body_parameters, *parameters_before[state_count:]]
    new_test_parameters = [test.add_parameter(value.type, value.name) for value in new_body_parameters]
    test_parameters = test.parameters[: len(parameters_before)]
    test.parameters = [*test_parameters[:state_count], *new_test_parameters, *test_parameters[state_count:]]
    new_inputs = [initial_count, *(stack.entry for stack in outer_stacks)]
    inputs = [*node.inputs[:state_count], *new_inputs, *node.inputs[state_count:]]
    types: list[Type] = [_COUNT_TYPE, *(inner_stack.type for inner_stack in child.stacks)]
    count, *final_stacks = extend_node(node, inputs, [test, forward], types, state=state_count + len(types))
    for stack, value in zip(outer_stacks, final_stacks, strict=True):
        level.close_stack(stack, value)
    return count, outer_stacks


def _build_test(types: Sequence[Type]) -> Graph:
    """Return the test of a backward loop, whose first parameter is the number of iterations still to be reversed."""
    test = Graph("while_cond")
    remaining_count, *_ = [test.add_parameter(type_, "while") for type_ in types]
    test.outputs = [GraphBuilder(test).greater(remaining_count, _ZERO)]
    return test
