"""Number of worker threads, and the largest number of parts of a loop."""

from __future__ import annotations

import os

from autoconv.config import SETTINGS

MOST_PARTS = 32
MOST_THREADS = 64


def available() -> bool:
    """Return whether this system has the threads that the pool is written for."""
    return os.name == "posix"


def thread_count() -> int:
    """Return the number of threads that run parts, the caller's included.

    It is AUTOCONV_NUM_THREADS, or the number of usable processors.
    """
    may_use = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(SETTINGS.threads or may_use, MOST_THREADS)
