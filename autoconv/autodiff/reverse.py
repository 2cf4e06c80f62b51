"""The backward pass over the nodes of a level, which accumulates cotangents of operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from autoconv.autodiff.calls import reverse_call, reverse_custom
from autoconv.autodiff.conditionals import reverse_cond
from autoconv.autodiff.cotangents import accumulate, cotangents_of_inputs, is_differentiable
from autoconv.autodiff.forward_backward import Level
from autoconv.autodiff.loops import reverse_while
from autoconv.autodiff.tries import reverse_try
from autoconv.graph.graph import Node, Value

ReverseRule = Callable[[Level, Node, set[Value], "Backprop"], None]
Backprop = Callable[[Level, set[Value]], None]


def backprop(level: Level, varied: set[Value], nodes: Sequence[Node] | None = None) -> None:
    """Propagate the level's cotangents back to its varied values, through `nodes` (all of them by default).

    At first `level.cotangents` has the cotangents of the outputs; those of parameters and intermediate values are
    added. Raises StagingError for an op without a gradient between varied values and outputs.
    """
    span = level.builder.span
    for node in reversed(level.forward.nodes[:] if nodes is None else nodes):
        has_cotangent = any(result in level.cotangents for result in node.results)
        if has_cotangent and any(value in varied for value in node.inputs):
            level.builder.span = node.span
            rule = _CONTROL_RULES.get(node.op.name)
            if rule is not None:
                rule(level, node, varied, backprop)
            else:
                _reverse_op(level, node, varied)
    level.builder.span = span


def _reverse_op(level: Level, node: Node, varied: Iterable[Value]) -> None:
    """Apply the gradient rule of the node's op, and accumulate the cotangents of its varied inputs."""
    result_cotangents = tuple(level.cotangents.get(value) for value in node.results)
    cotangents = cotangents_of_inputs(
        node.op, level.builder, node.inputs, node.results, result_cotangents, node.attributes, node.span
    )
    for value, cotangent in zip(node.inputs, cotangents, strict=True):
        if cotangent is not None and value in varied and is_differentiable(value.type):
            accumulate(level.builder, level.cotangents, value, level.resolve(cotangent), node)


_CONTROL_RULES: dict[str, ReverseRule] = {
    "cond": reverse_cond,
    "while": reverse_while,
    "call": reverse_call,
    "try": reverse_try,
    "custom_gradient": reverse_custom,
}
