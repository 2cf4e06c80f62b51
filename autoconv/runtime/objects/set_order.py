"""The order in which sets iterate, which depends on how they were filled.

Python keeps the elements in a hash table. Of two elements whose hashes collide, the one inserted first comes first. The
size of the table depends on whether elements came one by one or from another set. A copy of a set may therefore iterate
in another order than the set.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Set
from typing import Any

_MAX_INSERTIONS = 50_000  # in search of an order


def insertion_order(elements: set[Any], *, one_by_one: bool = False) -> list[Any] | frozenset[Any] | None:
    """Return a container of the elements, from which a set is made that iterates as `elements` does, also as it grows.

    The result is a list, whose items are inserted one by one, or a frozenset, whose table is taken over. With
    `one_by_one`, a list is preferred. The result is None if neither reproduces the order.
    """
    order, size = list(set.__iter__(elements)), _table_size(elements)
    if not one_by_one:
        copied = frozenset(elements)
        if _iterates_as(set(copied), order, size):
            return copied
    result: list[Any] | None = _search_order(order, size, set)
    if result is not None:
        return result
    result = _search_order(order, size, lambda tried: set(frozenset(tried)))
    return None if result is None else frozenset(result)


def _search_order(order: list[Any], size: int, make: Callable[[list[Any]], set[Any]]) -> list[Any] | None:
    """Search for an order of insertion that gives the order of iteration.

    An element that comes too early took the place of the one expected there, which is inserted before it in the next
    attempt. Tables that grow are filled anew in their own order, so that this may not end: a shuffled order is next.
    """
    candidate, generator = order.copy(), random.Random(0)
    for attempt in range(1, _MAX_INSERTIONS // (len(order) + 10) + 2):
        filled = make(candidate)
        if _table_size(filled) != size:
            return None
        mismatch = next(((a, b) for a, b in zip(set.__iter__(filled), order, strict=True) if a is not b), None)
        if mismatch is None:
            return candidate
        early, expected = (_position(candidate, element) for element in mismatch)
        if attempt % (len(order) + 1) == 0:
            generator.shuffle(candidate)
        elif early < expected:
            candidate.insert(early, candidate.pop(expected))
        else:  # the table grew between the two
            candidate.append(candidate.pop(early))
    return None


def _position(elements: list[Any], expected: Any) -> int:
    return next(n for n, element in enumerate(elements) if element is expected)


def _iterates_as(filled: set[Any], order: list[Any], size: int) -> bool:
    return _table_size(filled) == size and all(a is b for a, b in zip(set.__iter__(filled), order, strict=True))


def _table_size(elements: Set[Any]) -> int:
    """Return the bytes of a table of its own; a few elements need none."""
    return set.__sizeof__(elements) - type(elements).__basicsize__  # type: ignore[arg-type]


__all__ = ["insertion_order"]
