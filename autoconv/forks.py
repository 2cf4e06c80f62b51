"""Locks that a forked process gets free, and what else of this package is of threads that a fork leaves behind.

A fork copies one thread. A lock that another thread holds would stay locked in the child for ever, and what it protects
may be half done. So every lock of the package is made here. What protects work on shared state (a trace, a conversion,
a compilation) is waited for: the fork begins when no other thread is in it, or after five seconds. In the child, the
locks of other threads are made free, and those who said so (`after_fork`) put in order what these threads left.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  (has locks taken before forks: what comes in while one waits is half told)
import itertools
import logging  # noqa: F401  (the same)
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_PATIENCE = 5.0  # seconds that a fork waits for other threads
_FIRST_TURN, _LONGEST_TURN = 0.02, 0.5  # seconds that it waits for one lock, before it lets go of the others

_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
_WAITED: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()  # with their places in the order
_NUMBERS = itertools.count()
_GENERATION = [0]
_IN_CHILD: list[Callable[[], object]] = []
_UNDO: dict[object, tuple[int, Callable[[], object]]] = {}  # by block: the thread that is in it


class _Forking(threading.local):
    """The locks that this thread holds while it forks."""

    held: tuple[Any, ...] = ()


_FORKING = _Forking()

# Where in the order of locks they are that a thread takes one inside of the other, the outermost first.
IMPORT, DATASET, TRACE, CONVERSION, PARSE, COMPILATION = range(6)


def new_lock(waited: int | None = None) -> Any:
    """A lock that its owner may take again. `waited` is its place in the order above: a fork waits until no other
    thread holds it."""
    made = threading.RLock()  # not a plain one: of that it is not to be seen who holds it
    _LOCKS.add(made)
    if waited is not None:
        _WAITED[made] = waited, next(_NUMBERS)
    return made


@contextmanager
def lazy_import() -> Iterator[None]:
    """For imports that a thread may do at any time: a fork waits for them.

    A child would inherit Python's own lock of the module. Another thread that already has that lock may wait for
    this one, so that after a while the import goes on without it.
    """
    taken = _IMPORTS.acquire(timeout=_PATIENCE)
    try:
        yield
    finally:
        if taken:
            _IMPORTS.release()


def generation() -> int:
    """How many forks there are between this process and the one that loaded this package."""
    return _GENERATION[0]


_IMPORTS = new_lock(IMPORT)


def after_fork(tell: Callable[[], object]) -> None:
    """Has `tell` called in each forked child, once all locks of other threads are free."""
    _IN_CHILD.append(tell)


@contextmanager
def undone_in_children(undo: Callable[[], object]) -> Iterator[None]:
    """Has `undo` called in a forked child that another thread was in the block for when the fork could wait no more."""
    block = object()
    _UNDO[block] = threading.get_ident(), undo
    try:
        yield
    finally:
        del _UNDO[block]


def _before() -> None:
    deadline, turn = time.monotonic() + _PATIENCE, _FIRST_TURN
    while True:
        taken = []
        for lock in sorted(_WAITED.keys(), key=lambda lock: _WAITED[lock]):
            if not lock.acquire(timeout=turn):
                break
            taken.append(lock)
        else:
            break
        if time.monotonic() > deadline:
            break
        for lock in taken:  # who holds the next one may wait for these
            lock.release()
        turn = min(2 * turn, _LONGEST_TURN)
    _FORKING.held = tuple(taken)


def _in_parent() -> None:
    held, _FORKING.held = _FORKING.held, ()
    for lock in held:
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
    with suppress(Exception):  # what one part of the package has to put in order is not to stop the others
        function()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
