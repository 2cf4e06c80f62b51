"""Early collection of cyclic garbage of traces; Python's collector waits until a quarter of all objects is garbage.

The nodes of a graph and their values refer to each other. So reference counting frees neither the leftovers of a trace
nor a dropped trace. The memory of a function that is traced again and again would grow.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.process_state import without_collections

_MOST_WAITING = 1 << 20  # bytes of dropped traces before a collection
_SHARE = 0.1  # share of elapsed time for collections


@contextmanager
def young_garbage() -> Iterator[None]:
    """Collect the garbage that the block made.

    Within the block, which runs no code of the program, collections are off, so that all of it is still young.
    """
    with without_collections() as collects:
        yield
    if collects:
        gc.collect(0)


class DroppedTraces:
    """Counts the bytes of dropped traces, and collects them when they are many.

    Collections take at most a tenth of the time, even in a process with very many objects.
    """

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
    """Return free memory of the C library's heap, used by LLVM, to the system, where that is possible."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


DROPPED = DroppedTraces()
