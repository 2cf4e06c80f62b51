"""Reverse rule of cond: the backward cond selects the arm by the same index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.autodiff.cotangents import accumulate, conform, cotangent_type, zeros_of
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import Level, Region, Stack, clone, extend, move_before
from autoconv.graph.graph import Graph, Node, Value
from autoconv.ops.record import OPS


def reverse_cond(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add the backward cond. The arm that was not taken is not run in either direction, and stores nothing."""
    captures = node.inputs[1:]
    results = [r for r in node.results if r in level.cotangents and r in varied]
    children = [_reverse_arm(level, region, node, captures, results, varied, backprop) for region in node.regions]
    cotangents = [level.cotangents[r] for r in results]
    index = level.resolve(node.inputs[0])
    finish(level, node, index, children, captures, cotangents, varied)


def _reverse_arm(
    level: Level, region: Graph, node: Node, captures: Sequence[Value], results: Sequence[Value],
    varied: set[Value], backprop: Callable[..., None],
) -> Arm:  # fmt: skip
    forward = clone(region)
    own = tuple(forward.parameters)
    child = Region(level, forward, dict(zip(own, captures, strict=True)))
    inner = varied_values(forward, (p for p, outer in child.outer.items() if outer in varied), level.heap)
    parameters = seed(child, [(r, forward.outputs[r.index]) for r in results], inner)
    backprop(child, inner)
    return Arm(child, own, parameters)


class Arm:
    """A region with its forward parameters (`own` are the captures, after `leading`) and its cotangent parameters."""

    def __init__(
        self, child: Region, own: Sequence[Value], parameters: Sequence[Value], leading: Sequence[Value] = ()
    ) -> None:
        self.child, self.own, self.parameters, self.leading = child, own, parameters, leading


def seed(child: Level, pairs: Sequence[tuple[Value, Value]], varied: set[Value]) -> list[Value]:
    """Add cotangent parameters to the backward graph for the results, and accumulate them at the paired outputs."""
    parameters = []
    for result, output in pairs:
        parameter = child.backward.add_parameter(cotangent_type(result.type), "cotangent")
        parameters.append(parameter)
        if output in varied:
            accumulate(child.builder, child.cotangents, output, conform(child.builder, parameter, output.type))
    return parameters


def finish(
    level: Level, node: Node, index: Value, arms: Sequence[Arm], captures: Sequence[Value],
    cotangents: Sequence[Value], varied: set[Value], body: Graph | None = None,
) -> None:  # fmt: skip
    """Thread the stacks through the node, and add the cond of its arms' backward graphs.

    `body` is the body of a try, which runs before the arms.
    """
    positions = [
        j for j, outer in enumerate(captures)
        if outer in varied and any(arm.own[j] in arm.child.cotangents for arm in arms)
    ]  # fmt: skip
    outputs_of_arms = [[_cotangent(arm.child, arm.own[j], captures[j]) for j in positions] for arm in arms]
    stacks = thread(level, node, arms, body)
    union: dict[Value, None] = {}
    for arm in arms:
        union.update(dict.fromkeys(arm.child.captures))
    for arm, outputs in zip(arms, outputs_of_arms, strict=True):
        child = arm.child
        inner = [child.capture(outer) for outer in union]
        tops, rests = [], []
        for owner, inside, _ in stacks:
            if owner is child:
                assert inside.top is not None and inside.rest is not None
                tops.append(inside.top)
                rests.append(inside.rest)
            else:
                passed = child.backward.add_parameter(inside.type, "stack")
                tops.append(passed)
                rests.append(passed)
        child.backward.parameters = [*arm.parameters, *inner, *tops]
        child.backward.outputs = [*outputs, *rests]
    resolved = [level.resolve(outer) for outer in union]
    # The type of a cotangent popped from a list may be less precise than the result's.
    pairs = zip(cotangents, arms[0].parameters, strict=True)
    cotangents = [conform(level.builder, cotangent, parameter.type) for cotangent, parameter in pairs]
    types = [*(cotangent_type(captures[j].type) for j in positions), *(inside.type for _, inside, _ in stacks)]
    back = level.backward.add(
        OPS["cond"], [index, *cotangents, *resolved, *(top(stack) for *_, stack in stacks)],
        regions=[arm.child.backward for arm in arms], types=types, span=level.builder.span,
    )  # fmt: skip
    for (_, _, stack), rest in zip(stacks, back.results[len(positions) :], strict=True):
        stack.rest = rest
    for j, cotangent in zip(positions, back.results, strict=False):
        accumulate(level.builder, level.cotangents, captures[j], cotangent, node)


def _cotangent(child: Level, parameter: Value, outer: Value) -> Value:
    found = child.cotangents.get(parameter)
    if found is None:
        return zeros_of(child.builder, parameter)
    return conform(child.builder, found, outer.type)


def thread(
    level: Level, node: Node, arms: Sequence[Arm], body: Graph | None
) -> list[tuple[Region, Stack, Stack]]:
    """Thread the arms' stacks through the node; return (level of the arm, its stack, the enclosing stack) for each."""
    children = [arm.child for arm in arms]
    pairs = [(child, inside) for child in children for inside in child.stacks]
    count = len(level.forward.nodes)
    around = [level.open_stack(node, inside.type) for _, inside in pairs]
    move_before(level.forward, node, count)
    for arm in arms:
        entries, exits = [], []
        for owner, inside in pairs:
            if owner is arm.child:
                assert inside.exit is not None
                entries.append(inside.entry)
                exits.append(inside.exit)
            else:
                passed = arm.child.forward.add_parameter(inside.type, "stack")
                entries.append(passed)
                exits.append(passed)
        arm.child.forward.parameters = [*arm.leading, *arm.own, *entries]
        arm.child.forward.outputs += exits
    inputs = [*node.inputs, *(stack.entry for stack in around)]
    for _, inside in pairs if body is not None else ():
        body.add_parameter(inside.type, "stack")  # type: ignore[union-attr]
    regions = [*([body] if body is not None else []), *(arm.child.forward for arm in arms)]
    after = extend(node, inputs, regions, [inside.type for _, inside in pairs])
    for stack, value in zip(around, after, strict=True):
        level.close_stack(stack, value)
    return [(owner, inside, stack) for (owner, inside), stack in zip(pairs, around, strict=True)]


def top(stack: Stack) -> Value:
    assert stack.top is not None
    return stack.top


__all__ = ["Arm", "finish", "reverse_cond", "seed", "thread", "top"]
