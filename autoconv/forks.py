"""Locks that are free in a forked child, and cleanup of the state that a fork's missing threads leave behind.

A fork copies only one thread. A lock held by another thread would stay locked in the child for ever, and the state
that it protects may be inconsistent. Therefore every lock of the package is created here. Locks of work on shared
state (a trace, a conversion, a compilation) are waited for: the fork begins when no other thread holds one, or after
five seconds, or 60 while another thread imports a module. In the child, the locks of other threads are released, and
callbacks registered with `after_fork` repair the state of these threads.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  (registers fork handlers that take its locks; they must precede ours)
import gc
import itertools
import logging  # noqa: F401  (the same)
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import _bootstrap  # type: ignore[attr-defined]
from typing import Any

_PATIENCE = 5.0  # seconds that a fork waits for other threads
_IMPORTS_END = 60.0  # the same while one of them imports a module: a child would inherit Python's own lock of that
_FIRST_TURN, _LONGEST_TURN = 0.02, 0.5  # seconds that a fork waits for one lock in a turn

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
_WAITED: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()  # and lock order
_NUMBERS = itertools.count()  # order of creation, for locks of one position
_GENERATION = [0]  # number of forks since the package was loaded
_IN_CHILD: list[Callable[[], object]] = []  # callbacks of `after_fork`
_UNDO: dict[object, tuple[int, Callable[[], object]]] = {}  # by block: the thread inside it


class _Forking(threading.local):
    """The locks that this thread holds while it forks."""

    locks: tuple[Any, ...] = ()


_FORKING = _Forking()

# Lock order: a thread that holds one of these may only acquire later ones.
IMPORT, DATASET, TRACE, CONVERSION, PARSE, COMPILATION = range(6)


def new_lock(waited: int | None = None) -> Any:
    """Return a reentrant lock. `waited` is its position in the lock order: a fork waits until it is free."""
    result = threading.RLock()  # reentrant, since a plain lock does not expose its owner
    _LOCKS.add(result)
    if waited is not None:
        _WAITED[result] = waited, next(_NUMBERS)
    return result


@contextmanager
def lazy_import() -> Iterator[None]:
    """Guard for imports that any thread may perform at any time: a fork waits for them.

    A child would inherit Python's own lock of the module. Another thread that holds that lock may wait for this one;
    therefore the import continues without it after a timeout. No garbage is collected meanwhile: what modules make
    stays, and looking for garbage in it takes a tenth of the time.
    """
    is_acquired = _IMPORTS.acquire(timeout=_PATIENCE)
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        if is_acquired:
            _IMPORTS.release()


@contextmanager
def release(lock: Any) -> Iterator[None]:
    """Let other threads take a lock during the block, however often this thread holds it."""
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


def after_fork(tell: Callable[[], object]) -> None:
    """Register a callback for each forked child, called once all locks of other threads are free."""
    _IN_CHILD.append(tell)


@contextmanager
def undone_in_children(undo: Callable[[], object]) -> Iterator[None]:
    """Call `undo` in a forked child if another thread was inside the block when the fork's wait timed out."""
    block = object()
    _UNDO[block] = threading.get_ident(), undo
    try:
        yield
    finally:
        del _UNDO[block]


def _before_fork() -> None:
    begin, turn = time.monotonic(), _FIRST_TURN
    while True:
        locks = []
        for lock in sorted(_WAITED.keys(), key=lambda lock: _WAITED[lock]):
            if not lock.acquire(timeout=turn):
                break
            locks.append(lock)
        else:
            break
        waited = time.monotonic() - begin
        if waited > _PATIENCE and (waited > _IMPORTS_END or not _others_import()):
            break
        for lock in locks:  # the owner of the next one may wait for these
            lock.release()
        turn = min(2 * turn, _LONGEST_TURN)
    _FORKING.locks = tuple(locks)


def _others_import() -> bool:
    """Return whether other threads are importing modules, and none of them can be waiting for an import of this one."""
    owners = {
        getattr(lock_reference(), "owner", None)
        for lock_reference in list(getattr(_bootstrap, "_module_locks", {}).values())
    }
    return bool(owners - {None}) and threading.get_ident() not in owners


def _in_parent() -> None:
    locks, _FORKING.locks = _FORKING.locks, ()
    for lock in locks:
        lock.release()


def _in_child() -> None:
    _GENERATION[0] += 1
    _in_parent()
    for lock in list(_LOCKS):
        if not lock._is_owned():
            lock._at_fork_reinit()
    this = threading.get_ident()
    for block, (thread, undo) in reversed(list(_UNDO.items())):
        if thread != this:
            del _UNDO[block]
            _try(undo)
    for tell in _IN_CHILD:
        _try(tell)


def _try(function: Callable[[], object]) -> None:
    with suppress(Exception):  # one failing callback must not prevent the others
        function()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
