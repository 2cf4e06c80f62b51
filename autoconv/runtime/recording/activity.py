"""The flags and counts of recording threads, which converted code and native code read at each call."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autoconv.forks import after_fork, new_lock


class _ThreadFlag(threading.local):
    """Thread-local flag: `untraced` is true if the thread records nothing."""

    untraced: bool = True


THREAD_FLAG = _ThreadFlag()


class _IsUntraced:
    """An object that is true in threads that record nothing, and false in others.

    Its truth value is computed without a Python frame: each function tests it on entry, even one at the recursion
    limit.
    """

    __bool__ = staticmethod(functools.partial(getattr, THREAD_FLAG, "untraced"))


class _ThreadCounts(threading.local):
    """The share of one thread in the counts of `_Activity`."""

    recording_count = forced_count = tape_count = 0


class _Activity:
    """The counts of recording threads, of blocks of `as_if_traced`, and of active tapes.

    When the counts change, `on_change` is called with the new value of `untraced`: True while no thread records, a
    per-thread flag while some do, and False while all threads behave as if they recorded.
    """

    def __init__(self) -> None:
        self.recording_count = 0
        self.forced_count = 0
        self.tape_count = 0
        self.lock = new_lock()
        self.thread_counts = _ThreadCounts()
        self.is_untraced = _IsUntraced()
        self.on_change: Callable[[object], None] = lambda untraced: None

    def add(self, change: int, forced_change: int = 0) -> None:
        """Change the number of recording threads, and the number of blocks of `as_if_traced`; notify the listener."""
        with self.lock:
            self.recording_count += change
            self.forced_count += forced_change
            self.thread_counts.recording_count += change
            self.thread_counts.forced_count += forced_change
            BUSY.value = self.recording_count + self.forced_count + self.tape_count
            self.on_change(not self.forced_count and (self.is_untraced if self.recording_count else True))

    def add_tape(self, change: int) -> None:
        """Change the number of active tapes."""
        with self.lock:
            self.tape_count += change
            self.thread_counts.tape_count += change
            BUSY.value = self.recording_count + self.forced_count + self.tape_count

    def forget_other_threads(self) -> None:
        """Drop the counts of other threads, in a forked child."""
        counts = self.thread_counts
        self.recording_count, self.forced_count = counts.recording_count, counts.forced_count
        self.tape_count = counts.tape_count
        self.add(0)  # updates BUSY and notifies the listener


# Recording threads plus active tapes, read by native code: while it is not 0, calls take the slow path.
BUSY = ctypes.c_int64(0)
ACTIVITY = _Activity()
after_fork(ACTIVITY.forget_other_threads)


def count_tape(change: int = 1) -> None:
    """Count a tape as active, or with -1 as finished; active tapes record function calls."""
    ACTIVITY.add_tape(change)


def register_listener(on_change: Callable[[object], None]) -> None:
    """Register `on_change`, called now and at each change with the value of `untraced`."""
    ACTIVITY.on_change = on_change
    ACTIVITY.add(0)  # notifies the listener


@contextmanager
def as_if_traced() -> Iterator[None]:
    """Run converted code through the operators inside the block, in all threads, without recording."""
    ACTIVITY.add(0, forced_change=1)
    try:
        yield
    finally:
        ACTIVITY.add(0, forced_change=-1)
