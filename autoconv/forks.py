"""Locks that are free in a forked child, and cleanup of the state that a fork's missing threads leave behind.

A fork copies only one thread. A lock held by another thread would stay locked in the child for ever, and the state
that it protects may be inconsistent. Therefore every lock of the package is created here. Locks of work on shared
state (a trace, a conversion, a compilation) are waited for: the fork begins when no other thread holds one, or after
five seconds, or 60 while another thread imports a module. In the child, the locks of other threads are released,
and callbacks registered with `after_fork` repair the state of these threads. Modules that they were importing are
imported anew.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  (registers fork handlers that take its locks; they must precede ours)
import itertools
import logging  # noqa: F401  (the same)
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from autoconv._start import (
    IMPORT_LOCK,
    IMPORT_TIMEOUT,
    forget_unfinished_imports,
    have_other_threads_imports,
)
from autoconv._start import (
    LazyImport as LazyImport,
)

_FORK_TIMEOUT = 5.0  # seconds that a fork waits for other threads
_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5  # seconds that a fork waits for one lock at a time

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
# Lock for which a fork waits -> (its position in the lock order, number of its creation).
_LOCK_ORDER: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()
_CREATION_NUMBERS = itertools.count()
_GENERATION = [0]  # number of forks since the package was loaded
_CHILD_CALLBACKS: list[Callable[[], object]] = []  # callbacks of `after_fork`
_UNDO_BY_BLOCK: dict[object, tuple[int, Callable[[], object]]] = {}  # active block -> (its thread, `undo`)


class _HeldLocks(threading.local):
    """The locks that this thread holds while it forks."""

    locks: tuple[Any, ...] = ()


_HELD_LOCKS = _HeldLocks()

# The lock order: a thread that holds a lock may only acquire locks of later positions.
IMPORT, DATASET, TRACE, CONVERSION, PARSE, COMPILATION = range(6)


def new_lock(order: int | None = None) -> Any:
    """Return a reentrant lock. `order` is its position in the lock order: a fork waits until it is free."""
    lock = threading.RLock()  # reentrant, since a plain lock does not expose its owner
    _register(lock, order)
    return lock


def _register(lock: Any, order: int | None) -> None:
    _LOCKS.add(lock)
    if order is not None:
        _LOCK_ORDER[lock] = order, next(_CREATION_NUMBERS)


@contextmanager
def release(lock: Any) -> Iterator[None]:
    """Let other threads acquire a lock during the block, even if this thread has acquired it several times."""
    state = lock._release_save() if lock._is_owned() else None
    try:
        yield
    finally:
        if state is not None:
            lock._acquire_restore(state)


def generation() -> int:
    """Return the number of forks between this process and the one that loaded this package."""
    return _GENERATION[0]


def after_fork(callback: Callable[[], object]) -> None:
    """Register a callback for each forked child, called once all locks of other threads are free."""
    _CHILD_CALLBACKS.append(callback)


@contextmanager
def undo_in_children(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` in a forked child if another thread was inside the block when the fork's wait timed out."""
    block = object()
    _UNDO_BY_BLOCK[block] = threading.get_ident(), undo
    try:
        yield
    finally:
        del _UNDO_BY_BLOCK[block]


def _before_fork() -> None:
    """Acquire the locks for which a fork waits, in their order.

    After the timeout, only the locks before the first one that another thread still holds are acquired.
    """
    start, timeout = time.monotonic(), _FIRST_WAIT
    while True:
        locks = []
        for lock in sorted(_LOCK_ORDER.keys(), key=lambda lock: _LOCK_ORDER[lock]):
            if not lock.acquire(timeout=timeout):
                break
            locks.append(lock)
        else:
            break
        waited_seconds = time.monotonic() - start
        if waited_seconds > _FORK_TIMEOUT and (waited_seconds > IMPORT_TIMEOUT or not have_other_threads_imports()):
            break
        for lock in locks:  # the owner of the next one may wait for these
            lock.release()
        timeout = min(2 * timeout, _LONGEST_WAIT)
    _HELD_LOCKS.locks = tuple(locks)


def _release_held_locks() -> None:
    """Release the locks that `_before_fork` acquired."""
    locks, _HELD_LOCKS.locks = _HELD_LOCKS.locks, ()
    for lock in locks:
        lock.release()


def _repair_child() -> None:
    """Free the locks of threads that are not in the child, and let the callbacks repair their state."""
    _GENERATION[0] += 1
    _release_held_locks()
    for lock in list(_LOCKS):
        if not lock._is_owned():
            lock._at_fork_reinit()
    _call_suppressing_errors(forget_unfinished_imports)
    this_thread = threading.get_ident()
    for block, (thread, undo) in reversed(list(_UNDO_BY_BLOCK.items())):
        if thread != this_thread:
            del _UNDO_BY_BLOCK[block]
            _call_suppressing_errors(undo)
    for callback in _CHILD_CALLBACKS:
        _call_suppressing_errors(callback)


def _call_suppressing_errors(function: Callable[[], object]) -> None:
    with suppress(Exception):  # one failing callback must not prevent the others
        function()


_register(IMPORT_LOCK, IMPORT)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_release_held_locks, after_in_child=_repair_child)
