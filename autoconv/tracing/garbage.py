"""Cyclic garbage of traces, collected early: Python's collector waits for a quarter of all objects to be garbage.

The nodes of a graph and their values refer to each other, so what a trace leaves behind, and a trace that is dropped,
are not freed when nobody refers to them any more. A function that is traced again and again would grow by what waits.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.process_state import without_collections

_MOST_WAITING = 1 << 20  # bytes of dropped traces that wait to be collected
_SHARE = 0.1  # of the time that goes by, for collections


@contextmanager
def young_garbage() -> Iterator[None]:
    """Collects what the block made and left behind. Within the block, which runs no code of the program, nothing is
    collected, so that all of it is still young."""
    with without_collections() as collects:
        yield
    if collects:
        gc.collect(0)


class Dropped:
    """Counts the bytes of traces that were dropped, and has them collected when they are many; not so often that the
    collections of a process with very many objects take more than a tenth of the time."""

    def __init__(self) -> None:
        self._waiting = 0
        self._next = 0.0

    def add(self, weight: int) -> None:
        self._waiting += weight
        start = time.monotonic()
        if self._waiting < _MOST_WAITING or start < self._next or not gc.isenabled():
            return
        self._waiting = 0
        gc.collect()
        _give_back()
        end = time.monotonic()
        self._next = end + (end - start) * (1 / _SHARE - 1)


def _give_back() -> None:
    """Has the C library's heap, in which LLVM works, give what is free to the system, where it can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


DROPPED = Dropped()
