"""Reverse rule of `cond`: the backward `cond` selects the arm by the same index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from autoconv.autodiff.cotangents import accumulate, conform, cotangent_type, zeros_of
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import Level, Region, Stack, extend_node, move_before, shallow_copy
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.record import OPS


def reverse_cond(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add the backward `cond`. An arm that is not taken runs in neither graph, and stores nothing."""
    captures = node.inputs[1:]
    results = differentiated_results(level, node, varied)
    children = [_reverse_arm(level, region, node, captures, results, varied, backprop) for region in node.regions]
    cotangents = [level.cotangents[result] for result in results]
    index = level.resolve(node.inputs[0])
    add_backward_cond(level, node, index, children, captures, cotangents, varied)


def _reverse_arm(
    level: Level, region: Graph, node: Node, captures: Sequence[Value], results: Sequence[Value],
    varied: set[Value], backprop: Callable[..., None],
) -> Arm:  # fmt: skip
    """Return the reversed arm of the cond `node` with the graph `region`; `results` are the differentiated results."""
    forward = shallow_copy(region)
    capture_parameters = tuple(forward.parameters)
    child = Region(level, forward, dict(zip(capture_parameters, captures, strict=True)))
    varied_parameters = (parameter for parameter, outer in child.outer.items() if outer in varied)
    varied_in_arm = varied_values(forward, varied_parameters, level.heap)
    pairs = [(result, forward.outputs[result.index]) for result in results]
    cotangent_parameters = add_cotangent_parameters(child, pairs, varied_in_arm)
    backprop(child, varied_in_arm)
    return Arm(child, capture_parameters, cotangent_parameters)


@dataclass(eq=False)
class Arm:
    """A reversed arm: its level, and parameters of its two graphs.

    The parameters of the forward graph are `leading_parameters` (only at an end of a try) and `capture_parameters`,
    one for each capture of the node. Those of the backward graph begin with the `cotangent_parameters`.
    """

    child: Region
    capture_parameters: Sequence[Value]
    cotangent_parameters: Sequence[Value]
    leading_parameters: Sequence[Value] = ()


class _ThreadedStack(NamedTuple):
    """A stack that passes through a node: the arm's level that owns it, its form in the arm, and that around the node.
    """

    owner: Region
    inner: Stack
    outer: Stack


def add_cotangent_parameters(child: Level, pairs: Sequence[tuple[Value, Value]], varied: set[Value]) -> list[Value]:
    """Add a parameter to the backward graph for each pair of a result of the node and the region's output for it.

    The parameter is the result's cotangent, and is accumulated as that of the output if it is varied. Return the
    parameters.
    """
    parameters = []
    for result, output in pairs:
        parameter = child.backward.add_parameter(cotangent_type(result.type), "cotangent")
        parameters.append(parameter)
        if output in varied:
            accumulate(child.builder, child.cotangents, output, conform(child.builder, parameter, output.type))
    return parameters


def add_backward_cond(
    level: Level, node: Node, index: Value, arms: Sequence[Arm], captures: Sequence[Value],
    cotangents: Sequence[Value], varied: set[Value], body: Graph | None = None,
) -> None:  # fmt: skip
    """Thread the stacks through the node, and add the `cond` of its arms' backward graphs.

    `body` is the body of a try, which runs before the arms; None for a `cond`.
    """
    positions = [
        j for j, outer in enumerate(captures)
        if outer in varied and any(arm.capture_parameters[j] in arm.child.cotangents for arm in arms)
    ]  # fmt: skip
    outputs_of_arms = [
        [cotangent_or_zeros(arm.child, arm.capture_parameters[j], captures[j].type) for j in positions] for arm in arms
    ]
    stacks = _thread_stacks_of_arms(level, node, arms, body)
    all_captures: dict[Value, None] = {}
    for arm in arms:
        all_captures.update(dict.fromkeys(arm.child.captures))
    for arm, outputs in zip(arms, outputs_of_arms, strict=True):
        child = arm.child
        capture_parameters = [child.capture(outer) for outer in all_captures]
        tops, bottoms = [], []
        for stack in stacks:  # an arm passes on the stacks of other arms unchanged
            if stack.owner is child:
                assert stack.inner.top is not None and stack.inner.bottom is not None
                tops.append(stack.inner.top)
                bottoms.append(stack.inner.bottom)
            else:
                passed_stack = child.backward.add_parameter(stack.inner.type, "stack")
                tops.append(passed_stack)
                bottoms.append(passed_stack)
        child.backward.parameters = [*arm.cotangent_parameters, *capture_parameters, *tops]
        child.backward.outputs = [*outputs, *bottoms]
    resolved_captures = [level.resolve(outer) for outer in all_captures]
    # The type of a cotangent that was popped from a list may be less precise than that of the result.
    pairs = zip(cotangents, arms[0].cotangent_parameters, strict=True)
    cotangents = [conform(level.builder, cotangent, parameter.type) for cotangent, parameter in pairs]
    types = [*(cotangent_type(captures[j].type) for j in positions), *(stack.inner.type for stack in stacks)]
    backward_cond = level.backward.add(
        OPS["cond"], [index, *cotangents, *resolved_captures, *(top_of(stack.outer) for stack in stacks)],
        regions=[arm.child.backward for arm in arms], types=types, span=level.builder.span,
    )  # fmt: skip
    for stack, bottom in zip(stacks, backward_cond.results[len(positions) :], strict=True):
        stack.outer.bottom = bottom
    for j, cotangent in zip(positions, backward_cond.results, strict=False):
        accumulate(level.builder, level.cotangents, captures[j], cotangent, node)


def differentiated_results(level: Level, node: Node, varied: set[Value]) -> list[Value]:
    """Return the varied results of a node that have a cotangent."""
    return [result for result in node.results if result in level.cotangents and result in varied]


def cotangent_or_zeros(level: Level, value: Value, type_: Type) -> Value:
    """Return the cotangent of a value of the level, converted to the type; zeros if there is none."""
    cotangent = level.cotangents.get(value)
    return zeros_of(level.builder, value) if cotangent is None else conform(level.builder, cotangent, type_)


def _thread_stacks_of_arms(
    level: Level, node: Node, arms: Sequence[Arm], body: Graph | None
) -> list[_ThreadedStack]:
    """Thread the arms' stacks through the node, and through `body`, the body of a try; return the stacks."""
    children = [arm.child for arm in arms]
    pairs = [(child, inner_stack) for child in children for inner_stack in child.stacks]
    node_count = len(level.forward.nodes)
    outer_stacks = [level.open_stack(node, inner_stack.type) for _, inner_stack in pairs]
    move_before(level.forward, node, node_count)
    for arm in arms:
        entries, exits = [], []
        for owner, inner_stack in pairs:
            if owner is arm.child:
                assert inner_stack.exit is not None
                entries.append(inner_stack.entry)
                exits.append(inner_stack.exit)
            else:
                passed_stack = arm.child.forward.add_parameter(inner_stack.type, "stack")
                entries.append(passed_stack)
                exits.append(passed_stack)
        arm.child.forward.parameters = [*arm.leading_parameters, *arm.capture_parameters, *entries]
        arm.child.forward.outputs += exits
    inputs = [*node.inputs, *(stack.entry for stack in outer_stacks)]
    for _, inner_stack in pairs if body is not None else ():
        body.add_parameter(inner_stack.type, "stack")  # type: ignore[union-attr]
    regions = [*([body] if body is not None else []), *(arm.child.forward for arm in arms)]
    final_stacks = extend_node(node, inputs, regions, [inner_stack.type for _, inner_stack in pairs])
    for stack, value in zip(outer_stacks, final_stacks, strict=True):
        level.close_stack(stack, value)
    return [_ThreadedStack(*pair, outer_stack) for pair, outer_stack in zip(pairs, outer_stacks, strict=True)]


def top_of(stack: Stack) -> Value:
    """Return the stack's value from which the backward pass pops; the stack must be closed."""
    assert stack.top is not None
    return stack.top
