"""Which arguments are taken apart: trees of lists, tuples, dicts and dataclasses, of a bounded depth and size.

A structure that holds itself has no leaves, and of one that is held twice a graph would make two. The look goes over
each part once, so that it takes no longer than the arguments are large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autoconv.runtime.structure import ATOMS, is_structure, structure_parts

_DEEPEST = 64  # one inside of the other
_MOST = 512  # lists, dicts and objects
_MOST_LEAVES = 4096


class NotApart(Exception):
    """Arguments that no graph can have as leaves; `str()` says why."""


def taken_apart(values: Iterable[Any], is_leaf: Callable[[Any], bool] | None, compiles: bool) -> list[Any]:
    """The structures that are taken apart, each in front of its parts. Raises NotApart for what cannot be; under
    `compile` also for what is too large, and where one list, dict or object comes in more than once."""
    look = _Look(is_leaf, compiles)
    for value in values:
        look.at(value)
    return list(look.known.values())


class _Look:
    """`known` are the structures that were met, by identity."""

    def __init__(self, is_leaf: Callable[[Any], bool] | None, compiles: bool) -> None:
        self.known: dict[int, Any] = {}
        self._is_leaf = is_leaf
        self._compiles = compiles
        self._leaves: dict[int, int] = {}  # how many a structure has
        self._changes: dict[int, bool] = {}  # whether there is something in it that can change

    def at(self, value: Any) -> None:
        around: set[int] = set()
        pending = [(value, True)]
        while pending:
            value, enters = pending.pop()
            if not enters:
                around.discard(id(value))
                self._leave(value)
            elif self._is_taken_apart(value) and not self._is_known(value, around):
                around.add(id(value))
                if len(around) > _DEEPEST:
                    raise NotApart(f"more than {_DEEPEST} lists or objects lie in each other in the arguments")
                pending.append((value, False))
                pending += [(part, True) for part in reversed(structure_parts(value))]

    def _is_taken_apart(self, value: Any) -> bool:
        return type(value) not in ATOMS and is_structure(value) and not (self._is_leaf and self._is_leaf(value))

    def _is_known(self, value: Any, around: set[int]) -> bool:
        if id(value) in around:
            raise NotApart(f"a {type(value).__name__} among the arguments holds itself")
        if id(value) in self.known:
            if self._compiles and self._changes[id(value)]:
                raise NotApart("one list or dict is given twice, and a graph would take it for two")
            return True
        self.known[id(value)] = value
        if self._compiles and len(self.known) > _MOST:
            raise NotApart(f"the arguments hold more than {_MOST} lists, dicts or objects")
        return False

    def _leave(self, value: Any) -> None:
        parts = list(self._parts(value))
        self._leaves[id(value)] = sum(self._leaves.get(id(part), 1) for part in parts)
        self._changes[id(value)] = not isinstance(value, tuple) or any(self._changes.get(id(part)) for part in parts)
        if self._compiles and self._leaves[id(value)] > _MOST_LEAVES:
            raise NotApart(f"the arguments hold more than {_MOST_LEAVES} values in lists, dicts and objects")

    def _parts(self, value: Any) -> Iterator[Any]:
        """Those that were not taken apart count as one leaf each, whatever they hold."""
        for part in structure_parts(value):
            yield part if id(part) in self.known else None


__all__ = ["NotApart", "taken_apart"]
