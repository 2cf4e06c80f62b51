"""Iteration over Python objects in the graph: iterators, and unpacking."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.graph.dtypes import bool_
from autoconv.graph.types import ObjectType, number_type
from autoconv.ops.python.objects import CHANGE_OR_RAISE, NO_GRADIENT, READ_OR_RAISE
from autoconv.ops.python.undo_log import log_iteration
from autoconv.ops.record import define


class Cursor:
    """The iterator of a loop, with its current item."""

    __slots__ = ("current", "iterator")

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator
        self.current: Any = None

    def advance(self) -> bool:
        """Advance to the next item; return False at the end."""
        for item in self.iterator:
            self.current = item
            return True
        return False


def _iterate_from(iterable: Any, start: int) -> Iterator[Any]:
    """Return an iterator of an object; only for a list may `start`, the position of the first item, differ from 0."""
    log_iteration(iterable)
    iterator = iter(iterable)
    if start:
        iterator.__setstate__(start)  # type: ignore[attr-defined]
    return iterator


define(
    name="object_iterate", graphdef="ObjectIterate", result=lambda *_, start=0: ObjectType("iterator"),
    kernel=lambda x, *, start=0: (Cursor(_iterate_from(x, start)),), gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE,
)  # fmt: skip
define(
    name="object_advance", graphdef="ObjectAdvance", result=lambda *_: number_type(bool_),
    kernel=lambda cursor: np.array(cursor.advance()),
    gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE,
)  # fmt: skip
define(
    name="object_current", graphdef="ObjectCurrent", result=lambda *_: ObjectType(),
    kernel=lambda cursor: (cursor.current,), gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip


def _unpack(x: Any, *, count: int, star: int = -1) -> tuple[Any, ...]:
    """Unpack x to `count` targets as Python does; the starred target is at the position `star`, -1 if none is."""
    log_iteration(x)
    items = list(x)
    if star < 0:
        if len(items) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        if len(items) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
        return tuple(items)
    if len(items) < count - 1:
        raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(items)})")
    count_after_star = count - 1 - star
    end = len(items) - count_after_star
    return (*items[:star], items[star:end], *items[end:])


define(
    name="object_unpack", graphdef="ObjectUnpack", result=lambda *_, count, star=-1: (ObjectType(),) * count,
    kernel=_unpack, gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE,
)  # fmt: skip
