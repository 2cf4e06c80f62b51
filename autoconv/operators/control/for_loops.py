"""Lower for statements to graph loops: by position, over graph objects and over datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.operators.control.conditionals import and_
from autoconv.operators.control.iterables import StagedIterable
from autoconv.operators.control.loop_body import LoopBody
from autoconv.operators.control.staged_loops import stage_loop
from autoconv.operators.support.dataset_protocol import stream_of
from autoconv.operators.support.protected_names import BREAK
from autoconv.runtime.objects.symbolic_objects import record_object


def stage_for(staged: StagedIterable, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Stage a loop over items that are read by their position; return the state after it."""
    length = None if staged.is_live else staged.length()
    with_journal = body.with_journal()

    def has_next(position: Any, *values: Any) -> Any:
        is_inside = position < (staged.length() if staged.is_live else length)
        return and_(is_inside, lambda: body.exit_code(values) < BREAK) if body.exit else is_inside

    def step(position: int, *values: Any) -> tuple[Any, ...]:
        return (position + 1, *with_journal.step(staged.item(position), values))

    _, *final_state = stage_loop(has_next, step, (0, *state), ("position of the loop", *body.names))
    return tuple(final_state)


def stage_for_object(iterable: object, body: LoopBody, state: tuple[Any, ...], start: int = 0) -> tuple[Any, ...]:
    """Stage a loop over an iterable known only at run time, from item `start` on; return the state after it."""
    cursor = record_object("object_iterate", [iterable], start=start)
    advance = lambda: record_object("object_advance", [cursor])
    current = lambda: record_object("object_current", [cursor])
    return _stage_advancing_loop(advance, current, body, state)


def stage_for_stream(iterable: object, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Stage a loop over a dataset, or over the remaining elements of an iterator; return the state after it."""
    stream = stream_of(iterable)
    return _stage_advancing_loop(stream.advance, stream.current, body, state)


def _stage_advancing_loop(
    advance: Callable[[], Any], current: Callable[[], Any], body: LoopBody, state: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Stage a loop that advances its iterable before each iteration, but not after an early exit."""
    with_journal = body.with_journal()
    return stage_loop(
        lambda *values: body.continues_if(values, advance),
        lambda *values: with_journal.step(current(), values),
        state, body.names, peel=False,
    )  # fmt: skip
