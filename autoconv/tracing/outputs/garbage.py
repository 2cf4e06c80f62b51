"""Early collection of cyclic garbage of traces.

The nodes of a graph and their values refer to each other. So reference counting frees neither the temporaries of a
trace nor a dropped trace. Python's collector waits until new objects are a quarter of all old ones, so the memory of a
function that retraces often would grow.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.process_state import without_collections

_MAX_DROPPED_BYTES = 1 << 20  # estimated bytes of dropped traces, from which garbage is collected
_TIME_SHARE = 0.1  # largest share of elapsed time that collections take


@contextmanager
def collect_young_garbage() -> Iterator[None]:
    """Collect the cyclic garbage that the code inside `with` makes.

    Collections are off in the block, so at its end its garbage is in generation 0, which is then collected. The block
    must not run code of the program.
    """
    with without_collections() as was_enabled:
        yield
    if was_enabled:
        gc.collect(0)


class DroppedTraces:
    """Counter of the bytes of dropped traces, which collects garbage when they exceed `_MAX_DROPPED_BYTES`.

    Collections are put off where they would take more than `_TIME_SHARE` of the elapsed time.
    """

    def __init__(self) -> None:
        self._dropped_bytes = 0
        self._next_collection = 0.0  # the earliest time, by `time.monotonic`

    def add(self, byte_count: int) -> None:
        """Add the bytes of a dropped trace, and collect garbage if enough have been dropped."""
        self._dropped_bytes += byte_count
        start = time.monotonic()
        if self._dropped_bytes < _MAX_DROPPED_BYTES or start < self._next_collection or not gc.isenabled():
            return
        self._dropped_bytes = 0
        gc.collect()
        _trim_heap()
        end = time.monotonic()
        self._next_collection = end + (end - start) * (1 / _TIME_SHARE - 1)


def _trim_heap() -> None:
    """Return free memory of the C library's heap, which LLVM uses, to the system; on Linux with glibc only."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


DROPPED = DroppedTraces()
