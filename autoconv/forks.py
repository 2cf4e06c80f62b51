"""Locks that are free in a forked child, and cleanup of the state that a fork's missing threads leave behind.

A fork copies only one thread. A lock held by another thread would stay locked in the child for ever, and the state
that it protects may be inconsistent. Therefore every lock of the package is created here. Locks of work on shared
state (a trace, a conversion, a compilation) are waited for: the fork begins when no other thread holds one, or after
five seconds, or 60 while another thread imports a module. In the child, the locks of other threads are released,
and callbacks registered with `after_fork` repair the state of these threads. Modules that they were importing are
imported anew.

This module is imported with the package, so it imports only what takes no time to load.
"""

from __future__ import annotations

import _thread
import itertools
import os
import sys
import time
import weakref

from autoconv._start import (
    IMPORT_LOCK,
    IMPORT_TIMEOUT,
    forget_unfinished_imports,
    have_other_threads_imports,
    is_imported,
)
from autoconv._start import (
    LazyImport as LazyImport,
)

TYPE_CHECKING = False  # the name that type checkers take for true
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FORK_TIMEOUT = 5.0  # seconds that a fork waits for other threads
_FIRST_WAIT, _LONGEST_WAIT = 0.02, 0.5  # seconds that a fork waits for one lock at a time

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
# Lock for which a fork waits -> (its position in the lock order, number of its creation).
_LOCK_ORDER: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()
_CREATION_NUMBERS = itertools.count()
# Module of the standard library whose fork handlers acquire a lock -> the name of that lock.
_LIBRARY_LOCK_NAMES = {"logging": "_lock", "concurrent.futures.thread": "_global_shutdown_lock"}
_IMPORTED_BEFORE = frozenset(name for name in _LIBRARY_LOCK_NAMES if name in sys.modules)
_GENERATION = [0]  # number of forks since the package was loaded
_CHILD_CALLBACKS: list[Callable[[], object]] = []  # callbacks of `after_fork`
_UNDO_BY_BLOCK: dict[object, tuple[int, Callable[[], object]]] = {}  # active block -> (its thread, `undo`)


class _HeldLocks(_thread._local):
    """The locks that this thread holds while it forks."""

    locks: tuple[Any, ...] = ()


_HELD_LOCKS = _HeldLocks()

# The lock order: a thread that holds a lock may only acquire locks of later positions.
IMPORT, DATASET, TRACE, CONVERSION, COMPILATION = range(5)


def new_lock(order: int | None = None) -> Any:
    """Return a reentrant lock. `order` is its position in the lock order: a fork waits until it is free."""
    lock = _thread.RLock()  # reentrant, since a plain lock does not expose its owner
    _register(lock, order)
    return lock


def _register(lock: Any, order: int | None) -> None:
    _LOCKS.add(lock)
    if order is not None:
        _LOCK_ORDER[lock] = order, next(_CREATION_NUMBERS)


class release:
    """Let other threads acquire a lock during the block, even if this thread has acquired it several times."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._state = self._lock._release_save() if self._lock._is_owned() else None

    def __exit__(self, *error: object) -> None:
        if self._state is not None:
            self._lock._acquire_restore(self._state)


def generation() -> int:
    """Return the number of forks between this process and the one that loaded this package."""
    return _GENERATION[0]


def after_fork(callback: Callable[[], object]) -> None:
    """Register a callback for each forked child, called once all locks of other threads are free."""
    _CHILD_CALLBACKS.append(callback)


class undo_in_children:
    """Call `undo` in a forked child if another thread was inside the block when the fork's wait timed out."""

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        _UNDO_BY_BLOCK[self] = _thread.get_ident(), self._undo

    def __exit__(self, *error: object) -> None:
        del _UNDO_BY_BLOCK[self]


def _before_fork() -> None:
    """Acquire the locks for which a fork waits, in their order.

    After the timeout, only the locks before the first one that another thread still holds are acquired.
    """
    locks = _acquire(0, _ordered_locks)
    _HELD_LOCKS.locks = tuple(_wait_for_locks() if locks is None else locks)


def _wait_for_locks() -> list[Any]:
    """Return the locks of this package that are acquired in the end, after waiting for other threads.

    A thread that holds one may need a lock of the standard library, which a handler has acquired for this fork.
    Therefore the library's locks are released first, and acquired again after the locks of this package.
    """
    for lock in _library_locks():
        is_reentrant = hasattr(lock, "_is_owned")
        if lock._is_owned() if is_reentrant else lock.locked():
            lock.release()
    start, timeout = time.monotonic(), _FIRST_WAIT
    while (locks := _acquire(timeout, _ordered_locks, _library_locks)) is None:
        waited_seconds = time.monotonic() - start
        if waited_seconds > _FORK_TIMEOUT and (waited_seconds > IMPORT_TIMEOUT or not have_other_threads_imports()):
            for lock in _library_locks():  # their handlers would wait without a limit as well
                lock.acquire()
            return _acquire_first(_ordered_locks())
        timeout = min(2 * timeout, _LONGEST_WAIT)
    return [lock for lock in locks if lock in _LOCK_ORDER]


def _ordered_locks() -> list[Any]:
    return sorted(_LOCK_ORDER.keys(), key=lambda lock: _LOCK_ORDER[lock])


def _library_locks() -> list[Any]:
    """Return the locks that the standard library's fork handlers acquire before `_before_fork` runs.

    These are the handlers that were registered after it; Python calls them in reverse order. A handler of a module that
    is imported while the fork waits is not called before this fork, but is called after it, to release the lock.
    """
    return [
        getattr(sys.modules[module], name)
        for module, name in _LIBRARY_LOCK_NAMES.items()
        if module not in _IMPORTED_BEFORE and is_imported(module)
    ]


def _acquire(timeout: float, *groups: Callable[[], list[Any]]) -> list[Any] | None:
    """Acquire groups of locks and return them; if one is not free in time, release those before it and return None.

    A group is determined when those before it are acquired, because threads that held these may have extended it.
    """
    acquired: list[Any] = []
    for group in groups:
        for lock in group():
            if not lock.acquire(timeout=timeout):
                for held in acquired:  # the thread that holds `lock` may wait for one of them
                    held.release()
                return None
            acquired.append(lock)
    return acquired


def _acquire_first(locks: list[Any]) -> list[Any]:
    """Acquire the locks before the first one that another thread holds, and return them."""
    return list(itertools.takewhile(lambda lock: lock.acquire(blocking=False), locks))


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
    this_thread = _thread.get_ident()
    for block, (thread, undo) in reversed(list(_UNDO_BY_BLOCK.items())):
        if thread != this_thread:
            del _UNDO_BY_BLOCK[block]
            _call_suppressing_errors(undo)
    for callback in _CHILD_CALLBACKS:
        _call_suppressing_errors(callback)


def _call_suppressing_errors(function: Callable[[], object]) -> None:
    try:
        function()
    except Exception:
        return  # one failing callback must not prevent the others


_register(IMPORT_LOCK, IMPORT)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_release_held_locks, after_in_child=_repair_child)
