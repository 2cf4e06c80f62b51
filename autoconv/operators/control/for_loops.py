"""For statements as graph loops: by position, over graph objects and over datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.operators.control.conditionals import Cells, and_, note_cells
from autoconv.operators.control.iterables import Staged
from autoconv.operators.control.staged_loops import stage_loop
from autoconv.operators.support.dataset_protocol import stream_of
from autoconv.operators.support.protected_names import BREAK
from autoconv.runtime.objects.symbolic_objects import record_object


def stage_for(
    items: Staged, body: Callable[..., Any], state: tuple[Any, ...], names: tuple[str, ...], code: int,
    cells: Cells | None
) -> tuple[Any, ...]:
    length = None if items.is_live else items.length()

    def stays(position: Any, *values: Any) -> Any:
        inside = position < (items.length() if items.is_live else length)
        if code < 0:
            return inside
        return and_(inside, lambda: values[code] < BREAK)

    def step(position: int, *values: Any) -> tuple[Any, ...]:
        if cells is not None:
            note_cells(cells)
        results = body(items.item(position), *values) or ()
        return (position + 1, *results)

    final = stage_loop(stays, step, (0, *state), ("position of the loop", *names))
    return final[1:]


def stage_for_object(
    iterable: object,
    body: Callable[..., Any],
    state: tuple[Any, ...],
    names: tuple[str, ...],
    code: int,
    cells: Cells | None,
    start: int = 0,
) -> tuple[Any, ...]:
    """Stage a loop over an iterable known only at run time, which is advanced before each iteration."""
    cursor = record_object("object_iterate", [iterable], start=start)
    return _stage_asking(
        lambda: record_object("object_advance", [cursor]),
        lambda: record_object("object_current", [cursor]),
        body, state, names, code, cells,
    )  # fmt: skip


def stage_for_stream(
    iterable: object, body: Callable[..., Any], state: tuple[Any, ...], names: tuple[str, ...], code: int,
    cells: Cells | None
) -> tuple[Any, ...]:
    """Stage a loop over a dataset, or over the rest of an iterator over one."""
    stream = stream_of(iterable)
    return _stage_asking(stream.advance, stream.current, body, state, names, code, cells)


def _stage_asking(
    advance: Callable[[], Any],
    current: Callable[[], Any],
    body: Callable[..., Any],
    state: tuple[Any, ...],
    names: tuple[str, ...],
    code: int,
    cells: Cells | None,
) -> tuple[Any, ...]:
    """Stage a loop that advances its iterable before each iteration, but not after an early exit."""

    def stays(*values: Any) -> Any:
        return advance() if code < 0 else and_(values[code] < BREAK, advance)

    def step(*values: Any) -> Any:
        if cells is not None:
            note_cells(cells)
        return body(current(), *values) or ()

    return stage_loop(stays, step, state, names, peel=False)


__all__ = ["stage_for", "stage_for_object", "stage_for_stream"]
