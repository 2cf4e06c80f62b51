"""The hash table of a typed set, or of a typed dict: the slots, and the order, of CPython's sets.

A slot has the number of its entry, from 1. It is FREE, or REMOVED where an entry was. An entry goes into the last
removed slot on its way, if there is one. The table grows when three fifths of its slots are not free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

# Positions in the header of an index, of 8 bytes each. COUNT: entries in the index; MASK: slots - 1; FILL: slots that
# are not free; FINGER: where `pop` of a set begins; HOLES: removed entries of a dict; REMOVALS: removed entries so far.
COUNT, MASK, FILL, FINGER, HOLES, REMOVALS = range(6)
INDEX_HEADER = 48  # bytes
MIN_SLOTS = 8
SLOT_SIZE = 4  # bytes
FREE, REMOVED = 0, (1 << 32) - 1
LINEAR_PROBES, PERTURB_SHIFT, LARGE_SET = 9, 5, 50_000


def new_index() -> bytearray:
    """Return an index without entries."""
    header = np.zeros(INDEX_HEADER // 8, np.int64)
    header[MASK] = MIN_SLOTS - 1
    return bytearray(header.tobytes() + bytes(MIN_SLOTS * SLOT_SIZE))


def removal_count(index: bytearray) -> int:
    """Return how many entries were removed so far."""
    return int(np.frombuffer(index, np.int64, INDEX_HEADER // 8)[REMOVALS])


def note_removal(index: bytearray) -> None:
    """Count the removal of an entry of a dict."""
    np.frombuffer(index, np.int64, INDEX_HEADER // 8)[REMOVALS] += 1


def entry_positions(index: bytearray, length: int) -> Sequence[int]:
    """Return the positions of the entries among `length` entries and holes of a dict."""
    header = np.frombuffer(index, np.int64, INDEX_HEADER // 8)
    if not header[HOLES]:
        return range(length)
    numbers = {*np.frombuffer(index, np.uint32, int(header[MASK]) + 1, INDEX_HEADER).tolist()}
    return [position for position in range(length) if position >= header[COUNT] or position + 1 in numbers]


def has_reused_slots() -> bool:
    """Return whether the sets of this Python use the last removed slot again, as typed sets do."""
    numbers = {0, 8, 16}
    numbers -= {8, 16}
    numbers.add(24)
    expected = SetTable([], new_index())
    for number in (0, 8, 16):
        expected.add(number)
    for number in (8, 16):
        expected.remove(number)
    expected.add(24)
    return list(numbers) == list(expected)


class SetTable:
    """A set of `keys`, whose order is not that of the set, with its index."""

    def __init__(self, keys: list[Any], index: bytearray) -> None:
        """Add the keys that are not in the index yet."""
        self.keys, self._index = keys, index
        self._header = np.frombuffer(index, np.int64, INDEX_HEADER // 8).tolist()
        self._slots = np.frombuffer(index, np.uint32, self._header[MASK] + 1, INDEX_HEADER).tolist()
        new_keys = keys[self._header[COUNT] :]
        del keys[self._header[COUNT] :]
        for key in new_keys:
            self.add(key)

    def save(self) -> None:
        """Write the header and the slots to the index."""
        self._header[COUNT] = len(self.keys)
        slots = np.array(self._slots, np.uint32)
        self._index[:] = np.array(self._header, np.int64).tobytes() + slots.tobytes()

    def __iter__(self) -> Iterator[Any]:
        return iter([self.keys[number - 1] for number in self._slots if number not in (FREE, REMOVED)])

    def add(self, key: Any) -> None:
        """Add a key, if it is not there."""
        slot, reused_slot = self._find(key)
        if self._slots[slot] != FREE:
            return
        self.keys.append(key)
        if reused_slot is not None:
            self._slots[reused_slot] = len(self.keys)
            return
        self._slots[slot] = len(self.keys)
        self._header[FILL] += 1
        if self._header[FILL] * 5 >= self._header[MASK] * 3:
            self._grow(len(self.keys) * (2 if len(self.keys) > LARGE_SET else 4))

    def remove(self, key: Any) -> None:
        """Remove a key; the last one takes its place among the keys."""
        slot, _ = self._find(key)
        position = self._slots[slot] - 1
        moved_slot, _ = self._find(self.keys[-1])
        self._slots[moved_slot] = position + 1
        self._slots[slot] = REMOVED
        self.keys[position] = self.keys[-1]
        self.keys.pop()
        self._header[REMOVALS] += 1

    def pop(self) -> Any:
        """Remove and return the next key after the finger."""
        slot = self._header[FINGER] & self._header[MASK]
        while self._slots[slot] in (FREE, REMOVED):
            slot = (slot + 1) & self._header[MASK]
        key = self.keys[self._slots[slot] - 1]
        self._header[FINGER] = slot + 1
        self.remove(key)
        return key

    def clear(self) -> None:
        """Remove all keys."""
        self.keys.clear()
        self._header[MASK], self._header[FILL] = MIN_SLOTS - 1, 0
        self._header[REMOVALS] += 1
        self._slots = [FREE] * MIN_SLOTS

    def _find(self, key: Any) -> tuple[int, int | None]:
        """Return the slot of a key, or else a free one; and the last removed slot on the way, if there is one."""
        hash_ = hash(key) % (1 << 64)
        base, mask, removed_slot = hash_ & self._header[MASK], self._header[MASK], None
        while True:
            for slot in range(base, base + 1 + (LINEAR_PROBES if base + LINEAR_PROBES <= mask else 0)):
                number = self._slots[slot]
                if number == REMOVED:
                    removed_slot = slot
                elif number == FREE or self.keys[number - 1] == key:
                    return slot, removed_slot
            hash_ >>= PERTURB_SHIFT
            base = (base * 5 + 1 + hash_) & mask

    def _grow(self, least_size: int) -> None:
        """Make more slots than `least_size`; the entries keep the order of their slots."""
        numbers: Sequence[int] = [number for number in self._slots if number not in (FREE, REMOVED)]
        self._header[MASK] = max(MIN_SLOTS, 1 << least_size.bit_length()) - 1
        self._header[FILL] = len(numbers)
        self._slots = [FREE] * (self._header[MASK] + 1)
        for number in numbers:
            slot, _ = self._find(self.keys[number - 1])
            self._slots[slot] = number
