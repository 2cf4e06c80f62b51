"""Temporary changes of process-wide state: the recursion limit, the warning filters, the garbage collector.

Several threads may be in a block of `deep_recursion`, `without_collections` or `rare_collections` at once. The previous
state is restored when the last one leaves, also in a forked child, for threads that the fork did not copy.
"""

from __future__ import annotations

import gc
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from autoconv.forks import new_lock, undo_in_children

_CONVERSION_RECURSION_LIMIT = 60_000  # frames of recursion while converting
_RARE_COLLECTION_THRESHOLD = 20_000  # new objects between two collections of generation 0; Python's default is 700
_LOCK = new_lock()
_ANY_TEXT = re.compile("(?#autoconv)")  # no filter of the program is equal to one with this pattern


class _BlockCount:
    """The number of active blocks, and the limit (of recursion, or of objects) before the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.previous_limit = 0


_RECURSION_BLOCKS = _BlockCount()
_COLLECTOR_BLOCKS = _BlockCount()
_RARE_COLLECTION_BLOCKS = _BlockCount()


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit: long chains of elif are deep trees."""
    with undo_in_children(_restore_recursion_limit):
        _raise_recursion_limit()
        try:
            yield
        finally:
            _restore_recursion_limit()


def _raise_recursion_limit() -> None:
    """Raise the limit for the first active block."""
    with _LOCK:
        if not _RECURSION_BLOCKS.count:
            _RECURSION_BLOCKS.previous_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_RECURSION_BLOCKS.previous_limit, _CONVERSION_RECURSION_LIMIT))
        _RECURSION_BLOCKS.count += 1


def _restore_recursion_limit() -> None:
    """Restore the limit after the last active block."""
    with _LOCK:
        _RECURSION_BLOCKS.count -= 1
        if not _RECURSION_BLOCKS.count:
            sys.setrecursionlimit(_RECURSION_BLOCKS.previous_limit)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress warnings in the block."""
    with _first_filter("ignore"):
        yield


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Append the warnings in the block to the list that is yielded, and show none."""
    module: Any = warnings
    outer_display = module.showwarning, module._showwarnmsg_impl
    caught: list[warnings.WarningMessage] = []
    with _first_filter("always"):
        module.showwarning, module._showwarnmsg_impl = module._showwarning_orig, caught.append
        try:
            yield caught
        finally:
            module.showwarning, module._showwarnmsg_impl = outer_display


@contextmanager
def _first_filter(action: str) -> Iterator[None]:
    """Put a filter for all warnings before the others in the block.

    After a block of the module `warnings`, Python would show warnings again that it has shown already.
    """
    filters: Any = warnings.filters
    own_filter = (action, _ANY_TEXT, Warning, None, 0)

    def remove() -> None:
        with suppress(ValueError):  # the program has emptied the list
            filters.remove(own_filter)

    with undo_in_children(remove):
        filters.insert(0, own_filter)
        try:
            yield
        finally:
            remove()


@contextmanager
def without_collections() -> Iterator[bool]:
    """Disable garbage collection in the block; yields whether it was enabled before."""
    with _LOCK:
        was_enabled = bool(_COLLECTOR_BLOCKS.count) or gc.isenabled()
        if was_enabled:
            gc.disable()
            _COLLECTOR_BLOCKS.count += 1
    if not was_enabled:
        yield False
        return
    with undo_in_children(_restore_collector):
        try:
            yield True
        finally:
            _restore_collector()


def _restore_collector() -> None:
    """Enable garbage collection after the last active block."""
    with _LOCK:
        _COLLECTOR_BLOCKS.count -= 1
        if not _COLLECTOR_BLOCKS.count:
            gc.enable()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Raise the number of new objects after which garbage is collected, for a block that makes many lasting objects.

    Nothing changes where collections are off, or the program has chosen a larger number.
    """
    with undo_in_children(_restore_threshold):
        _raise_threshold()
        try:
            yield
        finally:
            _restore_threshold()


def _raise_threshold() -> None:
    """Raise the threshold in the first of nested blocks, unless it is 0 or larger already."""
    with _LOCK:
        _RARE_COLLECTION_BLOCKS.count += 1
        threshold, *later_thresholds = gc.get_threshold()
        if _RARE_COLLECTION_BLOCKS.count == 1 and 0 < threshold < _RARE_COLLECTION_THRESHOLD:
            _RARE_COLLECTION_BLOCKS.previous_limit = threshold
            gc.set_threshold(_RARE_COLLECTION_THRESHOLD, *later_thresholds)


def _restore_threshold() -> None:
    """Restore the threshold after the last block, unless the program has changed it."""
    with _LOCK:
        _RARE_COLLECTION_BLOCKS.count -= 1
        threshold, *later_thresholds = gc.get_threshold()
        is_raised = threshold == _RARE_COLLECTION_THRESHOLD and _RARE_COLLECTION_BLOCKS.previous_limit
        if not _RARE_COLLECTION_BLOCKS.count and is_raised:
            gc.set_threshold(_RARE_COLLECTION_BLOCKS.previous_limit, *later_thresholds)
            _RARE_COLLECTION_BLOCKS.previous_limit = 0
