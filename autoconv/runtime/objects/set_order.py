"""The order in which sets iterate, which depends on how they were filled.

Python keeps the elements in a hash table. Of two elements whose hashes collide, the one inserted first comes first. The
size of the table depends on whether elements came one by one or from another set. A copy of a set may therefore iterate
in another order than the set. Two sets with the same iteration order may still have different tables: elements in
other slots, or slots that removals left unusable. Elements that are added later then have different positions in the
two orders.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Set
from typing import Any

_MAX_INSERTIONS = 50_000  # the number of insertions after which a search for an order ends
_SLOT_SIZE = 2 * ctypes.sizeof(ctypes.c_void_p)  # in bytes: an address and a hash


def insertion_order(elements: set[Any], *, one_by_one: bool = False) -> list[Any] | frozenset[Any] | None:
    """Return a container of the elements, from which a set is made whose hash table equals that of `elements`.

    The items of a list are inserted one by one; the table of a frozenset is copied. With `one_by_one`, a list is
    preferred. The result is None if neither gives this table, as after a removal.
    """
    table = _HashTable(elements)
    if table.has_removed_slots:
        return None
    if not one_by_one:
        frozen_copy = frozenset(elements)
        if table.equals(set(frozen_copy)):
            return frozen_copy
    result: list[Any] | None = _search_order(elements, table, set)
    if result is not None:
        return result
    result = _search_order(elements, table, lambda candidate: set(frozenset(candidate)))
    return None if result is None else frozenset(result)


def _search_order(elements: set[Any], table: _HashTable, make_set: Callable[[list[Any]], set[Any]]) -> list[Any] | None:
    """Search for an order of insertion that gives the table.

    If an element comes too early, it took the place of the element that is expected there. The next attempt inserts the
    expected element before the early one. A growing table is refilled in slot order, so these corrections may cycle:
    after every len(order) + 1 attempts, the order is shuffled.
    """
    order = list(set.__iter__(elements))
    candidate, generator = order.copy(), random.Random(0)
    for attempt in range(1, _MAX_INSERTIONS // (len(order) + 10) + 2):
        filled_set = make_set(candidate)
        if _table_size(filled_set) != table.size:
            return None
        if table.equals(filled_set):
            return candidate
        found_and_expected = zip(set.__iter__(filled_set), order, strict=True)
        mismatch = next(((found, expected) for found, expected in found_and_expected if found is not expected), None)
        if mismatch is None or attempt % (len(order) + 1) == 0:
            generator.shuffle(candidate)
            continue
        early_position, expected_position = (_position(candidate, element) for element in mismatch)
        if early_position < expected_position:
            candidate.insert(early_position, candidate.pop(expected_position))
        else:  # the table grew between the two insertions
            candidate.append(candidate.pop(early_position))
    return None


def _position(elements: list[Any], expected: Any) -> int:
    """Return the position of an object in a list, by identity."""
    return next(position for position, element in enumerate(elements) if element is expected)


class _Header(ctypes.Structure):
    """CPython's fields of a set after those of every object."""

    _fields_ = (
        ("fill", ctypes.c_ssize_t), ("used", ctypes.c_ssize_t), ("mask", ctypes.c_ssize_t), ("slots", ctypes.c_void_p),
    )  # fmt: skip


class _HashTable:
    """The slots of a set's hash table: the addresses and hashes of the elements.

    `has_removed_slots` is true if some slots had elements that were removed.
    """

    def __init__(self, elements: set[Any]) -> None:
        header = _Header.from_address(id(elements) + object.__basicsize__)
        self.size = _table_size(elements)
        self.has_removed_slots = header.fill != header.used
        self._slots = ctypes.string_at(header.slots, _SLOT_SIZE * (header.mask + 1))

    def equals(self, elements: set[Any]) -> bool:
        return _table_size(elements) == self.size and _HashTable(elements)._slots == self._slots


def _table_size(elements: Set[Any]) -> int:
    """Return the size in bytes of the separately allocated hash table, 0 while the elements fit into the set object."""
    return set.__sizeof__(elements) - type(elements).__basicsize__  # type: ignore[arg-type]
