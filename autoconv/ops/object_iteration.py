"""Going over objects of Python's own in the graph: iterators, and what unpacking takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autoconv.graph.dtypes import bool_
from autoconv.graph.types import ObjectType, TensorType
from autoconv.ops.objects import CHANGES, NO_GRADIENT, READS
from autoconv.ops.record import define
from autoconv.ops.undo import note_iteration


class Cursor:
    """Where a loop is in what it goes over."""

    __slots__ = ("current", "items")

    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items
        self.current: Any = None

    def advance(self) -> bool:
        """Goes to the next item; False when there is none."""
        for item in self.items:
            self.current = item
            return True
        return False


def _from(items: Any, start: int) -> Iterator[Any]:
    """What is left of a list behind the first `start` items, those included that it is still to get."""
    note_iteration(items)
    found = iter(items)
    if start:
        found.__setstate__(start)  # type: ignore[attr-defined]
    return found


define(
    name="object_iterate", graphdef="ObjectIterate", result=lambda *_, start=0: ObjectType("iterator"),
    kernel=lambda x, *, start=0: (Cursor(_from(x, start)),), gradient=NO_GRADIENT, effects=CHANGES,
)  # fmt: skip
define(
    name="object_advance", graphdef="ObjectAdvance", result=lambda *_: TensorType(bool_, (), True),
    kernel=lambda it: np.array(it.advance()),
    gradient=NO_GRADIENT, effects=CHANGES,
)  # fmt: skip
define(
    name="object_current", graphdef="ObjectCurrent", result=lambda *_: ObjectType(), kernel=lambda it: (it.current,),
    gradient=NO_GRADIENT, effects=READS,
)  # fmt: skip


def _unpack(x: Any, *, count: int, star: int = -1) -> tuple[Any, ...]:
    """The items of x as Python unpacks them to `count` names, of which the one at `star` takes the rest."""
    note_iteration(x)
    items = list(x)
    if star < 0:
        if len(items) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
        if len(items) < count:
            raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
        return tuple(items)
    if len(items) < count - 1:
        raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(items)})")
    after = count - 1 - star
    end = len(items) - after
    return (*items[:star], items[star:end], *items[end:])


define(
    name="object_unpack", graphdef="ObjectUnpack", result=lambda *_, count, star=-1: (ObjectType(),) * count,
    kernel=_unpack, gradient=NO_GRADIENT, effects=CHANGES,
)  # fmt: skip


__all__ = ["Cursor"]
