"""Loops that count: which state counts, and how far it goes.

    while position < limit: …; position = position + 1

What is known of such a counter lets positions in arrays go unchecked; short loops that do nothing else than count to
their end ask for interrupts between long runs of iterations only, so that LLVM can vectorise them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autoconv.graph.graph import Graph, Node, Value


@dataclass(frozen=True, slots=True)
class Counter:
    """`position` is the state that counts, `limit` the number or capture (by its place) that it stays below; `alone`:
    whether nothing else ends the loop."""

    position: int
    limit: int | None
    capture: int
    alone: bool


def counter_of(node: Node) -> Counter | None:
    """The counter of a loop; None where there is none of that form."""
    test, body = node.regions
    count = node.attributes["state"]
    decides, alone = _comparison(test)
    if decides is None or decides.op.name != "python_less":
        return None
    first, limit = decides.inputs
    if first.node is not None or first not in test.parameters[:count]:
        return None
    position = test.parameters.index(first)
    if not _counts(body, position):
        return None
    number = _constant(limit)
    if number is not None:
        return Counter(position, number, -1, alone)
    if limit.node is None and limit in test.parameters[count:]:
        return Counter(position, None, test.parameters.index(limit) - count, alone)
    return None


def _comparison(test: Graph) -> tuple[Node | None, bool]:
    """What has to hold for the loop to go on, and whether that is all."""
    decides = test.outputs[0].node
    if decides is not None and decides.op.name == "cond":
        otherwise = decides.regions[1].outputs[0]
        never = len(decides.regions) == 2 and _constant(otherwise) == 0
        return (decides.inputs[0].node if never else None), False
    plain = all(inner is decides or inner.op.name == "constant" for inner in test.nodes)
    return decides, plain


def _counts(body: Graph, position: int) -> bool:
    made = body.outputs[position].node
    if made is None or made.op.name != "python_add":
        return False
    own = body.parameters[position]
    others = [value for value in made.inputs if value is not own]
    return len(others) == 1 and _constant(others[0]) == 1


def _constant(value: Value) -> int | None:
    if value.node is None or value.node.op.name != "constant":
        return None
    array = np.asarray(value.node.attributes["value"])
    return int(array) if array.shape == () and array.dtype.kind in "bi" else None


def is_short(body: Graph, longer: Sequence[str] = ("while", "call", "try")) -> bool:
    """Whether an iteration takes a few nanoseconds, as far as one can see."""
    return not any(node.op.name in longer for node in body.walk())


__all__ = ["Counter", "counter_of", "is_short"]
