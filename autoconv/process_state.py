"""State of the whole process that is changed for a while: Python's limit of recursion, the filters of warnings, the
collector of garbage.

Several threads may be in such a block at once: what was there before comes back when the last one leaves, and in a
forked child when the threads that stayed behind were in one.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.forks import PARSE, new_lock, undone_in_children

_DEEP = 60_000  # frames
_LOCK = new_lock()
_FILTERS = new_lock(waited=PARSE)


class _Shared:
    """How many blocks changed something, and what was there before the first of them."""

    def __init__(self) -> None:
        self.blocks = 0
        self.before = 0


_LIMIT = _Shared()
_COLLECTOR = _Shared()


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Long chains of elif are deep trees: lets them through."""
    with undone_in_children(_leave_deep):
        _enter_deep()
        try:
            yield
        finally:
            _leave_deep()


def _enter_deep() -> None:
    with _LOCK:
        if not _LIMIT.blocks:
            _LIMIT.before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_LIMIT.before, _DEEP))
        _LIMIT.blocks += 1


def _leave_deep() -> None:
    with _LOCK:
        _LIMIT.blocks -= 1
        if not _LIMIT.blocks:
            sys.setrecursionlimit(_LIMIT.before)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Nothing is warned of in the block, which one thread at a time is in: filters of warnings are the process's."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def without_collections() -> Iterator[bool]:
    """Nothing is collected in the block; whether something was before it."""
    with _LOCK:
        mine = bool(_COLLECTOR.blocks) or gc.isenabled()
        if mine:
            gc.disable()
            _COLLECTOR.blocks += 1
    if not mine:
        yield False
        return
    with undone_in_children(_collect_again):
        try:
            yield True
        finally:
            _collect_again()


def _collect_again() -> None:
    with _LOCK:
        _COLLECTOR.blocks -= 1
        if not _COLLECTOR.blocks:
            gc.enable()
