"""Reverse rule of while: the backward loop runs the iterations in reverse order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from autoconv.autodiff.checkpoints import divide_into_segments, recompute_and_reverse
from autoconv.autodiff.conditionals import seed, top
from autoconv.autodiff.cotangents import accumulate, conform, cotangent_type, zeros_of
from autoconv.autodiff.dependence import state_flags, varied_values
from autoconv.autodiff.forward_backward import Level, Region, Stack, clone, extend, move_before
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType, Type
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import OPS

_COUNT = TensorType(int64, ())
_ONE, _ZERO = np.array(1, np.int64), np.array(0, np.int64)


@dataclass(eq=False)
class _Body:
    """The backward graph of a loop's body; `remaining` is its number of iterations to go.

    `carried` are the positions of the state with cotangents, which are its `parameters`. `summed` are the positions of
    captures, whose cotangents are accumulated in `sums`.
    """

    child: Region
    own: Sequence[Value]
    carried: list[int]
    remaining: Value
    parameters: list[Value]
    summed: list[int]
    sums: list[Value]


def reverse_while(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Count the iterations in the forward loop, and add a backward loop with the same number."""
    inputs, size = node.inputs, state_size(node)
    again = level.recompute_every is not None and divide_into_segments(node, level.recompute_every)
    body = _fix_carried(level, node, varied, backprop, again)
    child = body.child
    carried = [_cotangent(child, body.own[i]) for i in body.carried]
    sums = [
        child.builder.list_add(total, child.cotangents[body.own[j]]) if not isinstance(total.type, TensorType)
        else child.builder.add(total, child.cotangents[body.own[j]])
        for j, total in zip(body.summed, body.sums, strict=True)
    ]  # fmt: skip
    sums = [conform(child.builder, s, total.type) for s, total in zip(sums, body.sums, strict=True)]
    results = node.results[:size]
    starts = [level.cotangents.get(results[i]) for i in body.carried]
    count, stacks = _count_and_thread(level, node, body)
    level_b = level.builder
    first = [
        conform(level_b, zeros_of(level_b, results[i]) if ct is None else ct, results[i].type)
        for i, ct in zip(body.carried, starts, strict=True)
    ]
    first += [zeros_of(level_b, inputs[j]) for j in body.summed]
    state = [body.remaining, *body.parameters, *body.sums, *(top(s) for s in child.stacks)]
    captures = list(child.captures.items())
    fewer = child.builder.subtract(body.remaining, _ONE)
    child.backward.parameters = [*state, *(inner for _, inner in captures)]
    child.backward.outputs = [fewer, *carried, *sums, *(s.rest for s in child.stacks)]  # type: ignore[list-item]
    types = [value.type for value in state]
    test = _test([value.type for value in child.backward.parameters])
    back = level.backward.add(
        OPS["while"],
        [level.resolve(count), *first, *map(top, stacks), *(level.resolve(outer) for outer, _ in captures)],
        {"state": len(state)}, regions=[test, child.backward], types=types, span=level_b.span,
    )  # fmt: skip
    outputs = list(back.results[1:])
    for position, cotangent in zip([*body.carried, *body.summed], outputs, strict=False):
        if inputs[position] in varied:
            accumulate(level_b, level.cotangents, inputs[position], cotangent, node)
    for stack, rest in zip(stacks, outputs[len(first) :], strict=True):
        stack.rest = rest


def _fix_carried(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None], again: bool) -> _Body:
    """Return the backward body with cotangents for all state that needs them: a least fixed point.

    With `again` the body is recomputed in the backward graph.
    """
    size = state_size(node)
    flags = state_flags(node.regions[1], [value in varied for value in node.inputs], size, level.heap)
    carried = {i for i in range(size) if flags[i] and node.results[i] in level.cotangents}
    while True:
        body = _reverse_body(level, node, flags, sorted(carried), backprop, again)
        needed = {i for i in range(size) if flags[i] and body.own[i] in body.child.cotangents}
        if needed <= carried:
            return body
        carried |= needed


def _reverse_body(
    level: Level, node: Node, flags: Sequence[bool], carried: list[int], backprop: Callable[..., None], again: bool
) -> _Body:
    size = state_size(node)
    forward = clone(node.regions[1])
    own = tuple(forward.parameters)
    outer = {p: node.inputs[i] for i, p in enumerate(own) if i >= size or forward.outputs[i] is p}
    child = Region(level, forward, outer, repeats=True)
    remaining = child.backward.add_parameter(_COUNT, "remaining")
    if not again:
        child.counters.update(_counters(node, child, remaining))
    inner = varied_values(forward, (p for p, flag in zip(own, flags, strict=True) if flag), level.heap)
    if again:
        parameters = [child.backward.add_parameter(cotangent_type(own[i].type), "cotangent") for i in carried]
        outputs = [forward.outputs[i] for i in carried]
        recompute_and_reverse(child, own, list(zip(outputs, parameters, strict=True)), inner, backprop)
    else:
        parameters = seed(child, [(own[i], forward.outputs[i]) for i in carried], inner)
        backprop(child, inner)
    summed = [j for j in range(size, len(own)) if flags[j] and own[j] in child.cotangents]
    sums = [child.backward.add_parameter(cotangent_type(own[j].type), "sum") for j in summed]
    return _Body(child, own, carried, remaining, parameters, summed, sums)


def _counters(node: Node, child: Region, remaining: Value) -> dict[Value, Callable[[], Value]]:
    """Find induction variables with a constant step, each with a function that builds it in the backward graph."""
    result: dict[Value, Callable[[], Value]] = {}
    for start, parameter, after in zip(node.inputs, child.forward.parameters, child.forward.outputs, strict=False):
        step = _step(parameter, after)
        if step:
            result[parameter] = functools.partial(_iteration_count, child, start, step, remaining)
    return result


def _step(parameter: Value, after: Value) -> int:
    """Return the constant step of an int64 induction variable; 0 where there is none."""
    creation, type_ = after.node, parameter.type
    if creation is None or not isinstance(type_, TensorType) or (type_.dtype, type_.shape) != (int64, ()):
        return 0
    if creation.op.name not in ("add", "python_add") or parameter not in creation.inputs or after.type != type_:
        return 0
    other = creation.inputs[creation.inputs[0] is parameter].node
    number = None if other is None or other.op.name != "constant" else np.asarray(other.attributes["value"])
    return 0 if number is None or number.dtype != np.int64 or number.shape else int(number)


def _iteration_count(child: Region, start: Value, step: int, remaining: Value) -> Value:
    b, first = child.builder, child.capture(start)
    weak = first.weak
    done = b.multiply(b.subtract(remaining, _ONE), np.array(step, np.int64))
    whole = b.add(b.python_cast(first, dtype=int64) if weak else first, done)
    return b.python_cast(whole, dtype=int64, weak=True) if weak else whole  # type: ignore[no-any-return]


def _cotangent(child: Region, parameter: Value) -> Value:
    found = child.cotangents.get(parameter)
    if found is None:
        return zeros_of(child.builder, parameter)
    return conform(child.builder, found, parameter.type)


def _count_and_thread(level: Level, node: Node, body: _Body) -> tuple[Value, list[Stack]]:
    """Thread the stacks through the loop and make it count; return the iteration count and the enclosing stacks."""
    size = state_size(node)
    child, forward, own = body.child, body.child.forward, body.own
    test = clone(node.regions[0])
    before = len(level.forward.nodes)
    around = [level.open_stack(node, inside.type) for inside in child.stacks]
    start = GraphBuilder(level.forward).constant(value=_ZERO)
    move_before(level.forward, node, before)
    done = forward.add_parameter(_COUNT, "done")
    forward.outputs += [GraphBuilder(forward).add(done, _ONE), *(inside.exit for inside in child.stacks)]  # type: ignore[list-item]
    forward.parameters = [*own[:size], done, *(inside.entry for inside in child.stacks), *own[size:]]
    extra = [test.add_parameter(v.type, v.name) for v in forward.parameters[size : size + 1 + len(child.stacks)]]
    whole = test.parameters[: len(own)]
    test.parameters = [*whole[:size], *extra, *whole[size:]]
    inputs = [*node.inputs[:size], start, *(stack.entry for stack in around), *node.inputs[size:]]
    types: list[Type] = [_COUNT, *(inside.type for inside in child.stacks)]
    count, *after = extend(node, inputs, [test, forward], types, state=size + len(types))
    for stack, value in zip(around, after, strict=True):
        level.close_stack(stack, value)
    return count, around


def _test(types: Sequence[Type]) -> Graph:
    test = Graph("while_cond")
    remaining, *_ = [test.add_parameter(type_, "while") for type_ in types]
    test.outputs = [GraphBuilder(test).greater(remaining, _ZERO)]
    return test
