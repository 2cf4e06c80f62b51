"""The reference backend: runs a graph node by node through the ops' kernels. It is what a graph means."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import OpError, Place, StagingError
from autoconv.graph.graph import Graph, Node
from autoconv.ops.python_numbers import IntegerLimitError, OtherKindError

Run = Callable[[Sequence[Any]], list[Any]]
Step = Callable[[list[Any]], None]


def compile_graph(graph: Graph) -> Run:
    """A function from the values of the parameters (arrays, storages, lists) to those of the outputs.

    What a kernel raises leaves with the user's spans in `_autoconv_spans`, and `place` on errors of this package.
    """
    slots: dict[Any, int] = {}
    for value in graph.parameters:
        slots[value] = len(slots)
    steps: list[Step] = []
    for node in graph.nodes:
        inputs = [slots[value] for value in node.inputs]
        outputs = [slots.setdefault(value, len(slots)) for value in node.results]
        steps.append(_LOWER.get(node.op.name, _kernel_step)(node, inputs, outputs))
    size, count = len(slots), len(graph.parameters)
    results = [slots[value] for value in graph.outputs]

    def run(arguments: Sequence[Any]) -> list[Any]:
        frame = [*arguments, *[None] * (size - count)]
        for step in steps:
            step(frame)
        return [frame[slot] for slot in results]

    return run


def _kernel_step(node: Node, inputs: list[int], outputs: list[int]) -> Step:
    kernel, attributes = node.op.kernel, node.attributes
    assert kernel is not None

    def step(frame: list[Any]) -> None:
        try:
            found = kernel(*[frame[slot] for slot in inputs], **attributes)
        except Exception as error:
            if "_autoconv_spans" not in error.__dict__:  # else a handler let it go on: it was raised before
                locate(error, node)
            raise
        if len(outputs) == 1:
            frame[outputs[0]] = found[0] if type(found) is tuple else found
        else:
            for slot, value in zip(outputs, found, strict=True):
                frame[slot] = value

    return step


def _constant_step(node: Node, inputs: list[int], outputs: list[int]) -> Step:
    (slot,), value = outputs, node.attributes["value"]
    if node.attributes.get("live"):

        def copied(frame: list[Any]) -> None:
            frame[slot] = value.copy()  # results may be views of it, and the program may change it

        return copied

    def step(frame: list[Any]) -> None:
        frame[slot] = value

    return step


def _cond_step(node: Node, inputs: list[int], outputs: list[int]) -> Step:
    index, *captures = inputs
    arms = [compile_graph(region) for region in node.regions]

    def step(frame: list[Any]) -> None:
        chosen = frame[index]
        arm = (0 if chosen else 1) if np.asarray(chosen).dtype == bool else int(chosen)
        found = arms[arm]([frame[slot] for slot in captures])
        for slot, value in zip(outputs, found, strict=True):
            frame[slot] = value

    return step


def _while_step(node: Node, inputs: list[int], outputs: list[int]) -> Step:
    state_size = node.attributes["state"]
    test, body = (compile_graph(region) for region in node.regions)

    def step(frame: list[Any]) -> None:
        state = [frame[slot] for slot in inputs[:state_size]]
        captures = [frame[slot] for slot in inputs[state_size:]]
        while test([*state, *captures])[0]:
            state = body([*state, *captures])
        for slot, value in zip(outputs, state, strict=True):
            frame[slot] = value

    return step


def _call_step(node: Node, inputs: list[int], outputs: list[int]) -> Step:
    run = compile_graph(node.regions[0])

    def step(frame: list[Any]) -> None:
        try:
            found = run([frame[slot] for slot in inputs])
        except Exception as error:
            locate(error, node)
            raise
        for slot, value in zip(outputs, found, strict=True):
            frame[slot] = value

    return step


def _try_step(node: Node, inputs: list[int], outputs: list[int]) -> Step:
    body, normal, handler = (compile_graph(region) for region in node.regions)

    def step(frame: list[Any]) -> None:
        captures = [frame[slot] for slot in inputs]
        try:
            found = body(captures)
        except (IntegerLimitError, OtherKindError, StagingError):
            raise  # limits of graphs, which no program catches
        except Exception as error:
            found = handler([error, *captures])
        else:
            found = normal([*found, *captures])
        for slot, value in zip(outputs, found, strict=True):
            frame[slot] = value

    return step


_LOWER: dict[str, Callable[[Node, list[int], list[int]], Step]] = {
    "constant": _constant_step,
    "cond": _cond_step,
    "while": _while_step,
    "call": _call_step,
    "try": _try_step,
}


def locate(error: Exception, node: Node) -> None:
    """Puts the user's span on the error: of the node that failed, then of the calls that it was part of."""
    if node.span is None:
        return
    spans = error.__dict__.setdefault("_autoconv_spans", [])
    spans.append(node.span)
    if isinstance(error, OpError) and error.place is None:
        text = linecache.getline(node.span.file, node.span.line).rstrip()
        end = node.span.end_column if node.span.end_line in (0, node.span.line) else len(text) + 1
        error.place = Place(node.span.file, node.span.line, node.span.column, end, text)
