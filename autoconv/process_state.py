"""Temporary changes of process-wide state: the recursion limit, the warning filters, the garbage collector.

Several threads may be inside such a block at once. The previous state is restored when the last one leaves, and in a
forked child if its missing threads were inside one.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.forks import PARSE, new_lock, undone_in_children

_DEEP = 60_000  # frames of recursion while converting
_LOCK = new_lock()
_FILTERS = new_lock(waited=PARSE)


class _BlockCount:
    """The number of active blocks, and the state before the first of them."""

    def __init__(self) -> None:
        self.blocks = 0
        self.before = 0


_LIMIT = _BlockCount()
_COLLECTOR = _BlockCount()


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit: long chains of elif are deep trees."""
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
    """Suppress warnings in the block. One thread at a time, since warning filters are process-wide."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def without_collections() -> Iterator[bool]:
    """Disable garbage collection in the block; yields whether it was enabled before."""
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
