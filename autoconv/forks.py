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
import gc
import itertools
import logging  # noqa: F401  (the same)
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import _bootstrap  # type: ignore[attr-defined]
from typing import Any

_FORK_TIMEOUT = 5.0  # seconds that a fork waits for other threads
_IMPORT_TIMEOUT = 60.0  # the same while one of them imports a module, whose import lock a child would inherit
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
    _LOCKS.add(lock)
    if order is not None:
        _LOCK_ORDER[lock] = order, next(_CREATION_NUMBERS)
    return lock


@contextmanager
def lazy_import() -> Iterator[None]:
    """Guard for imports that any thread may perform at any time: a fork waits for them.

    A child would inherit Python's own lock of the module. Another thread that holds that lock may wait for this one;
    therefore the import continues without it after a timeout. Garbage collection is disabled meanwhile: objects of
    modules stay alive, and examining them takes a tenth of the time. They are not examined right afterwards either.
    """
    is_acquired = _IMPORTS.acquire(timeout=_FORK_TIMEOUT)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _move_to_oldest_generation()
            gc.enable()
        if is_acquired:
            _IMPORTS.release()


def _move_to_oldest_generation() -> None:
    """Move all objects to the oldest generation of the garbage collector, which searches it least often.

    The tens of thousands of objects that modules make would be examined twice on their way there, for 40 ms each: at
    the end of the import, and during the program's first call. Frozen objects of the program stay frozen.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


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


_IMPORTS = new_lock(IMPORT)


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
        if waited_seconds > _FORK_TIMEOUT and (waited_seconds > _IMPORT_TIMEOUT or not _has_importing_threads()):
            break
        for lock in locks:  # the owner of the next one may wait for these
            lock.release()
        timeout = min(2 * timeout, _LONGEST_WAIT)
    _HELD_LOCKS.locks = tuple(locks)


def _has_importing_threads() -> bool:
    """Return whether other threads are importing modules, and this thread is not."""
    owners = {
        getattr(lock_reference(), "owner", None)
        for lock_reference in list(getattr(_bootstrap, "_module_locks", {}).values())
    }
    return bool(owners - {None}) and threading.get_ident() not in owners


def _forget_unfinished_imports() -> None:
    """Let a child import the modules that other threads were importing: their locks would stay acquired for ever."""
    this_thread, module_locks = threading.get_ident(), getattr(_bootstrap, "_module_locks", {})
    for name, lock_reference in list(module_locks.items()):
        if getattr(lock_reference(), "owner", None) not in (None, this_thread):
            del module_locks[name]
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                del sys.modules[name]


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
    _call_suppressing_errors(_forget_unfinished_imports)
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_release_held_locks, after_in_child=_repair_child)
