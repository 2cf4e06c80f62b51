"""try statements under trace: handlers run while tracing, so what may raise only later must not be recorded in them."""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.effects import Effects
from autoconv.runtime.recording import current_region
from autoconv.runtime.spans import place_of


def try_begin() -> Any:
    """Marks where the body of a try with handlers begins."""
    region = current_region()
    return None if region is None else (region, len(region.graph.nodes))


def try_end(mark: Any, value: Any = None) -> Any:
    """`value`. Refuses a body that recorded what may raise when the graph runs: its handlers would not see it."""
    if mark is None:
        return value
    region, length = mark
    for node in region.graph.nodes[length:]:
        if node.effects & Effects.RAISE:
            raise StagingError(
                f"{node.op.name!r} may raise when the graph runs, and the except clauses around it only see what is "
                "raised while it is traced",
                place_of(node.span) if node.span else None,
                "a condition that is tested before, instead of the exception",
            )
    return value
