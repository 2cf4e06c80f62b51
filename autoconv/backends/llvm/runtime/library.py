"""Shared native code: references, memory, threads; each part is compiled once in a process, on first use, and kept."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from autoconv.backends.llvm.jit.engine import Code, make_ready, start_helper, warm_up
from autoconv.backends.llvm.runtime import array_pool, call_dispatch, exceptions, objects, references, thread_pool
from autoconv.backends.llvm.target.machine import this_machine


def addresses(text: str) -> dict[str, int]:
    """Return the addresses of the shared functions that the text declares, by name."""
    found = {name: at for find, _, _ in _parts(text) for name, at in find().items()}
    return {**found, **_pool(_POOL.get())} if "parallel" in found else found


@contextlib.contextmanager
def using_pool(number: int) -> Iterator[None]:
    """Link the code that the block compiles to a pool of threads: 0 is the pool that others use as well."""
    before = _POOL.set(number)
    try:
        yield
    finally:
        _POOL.reset(before)


_POOL: ContextVar[int] = ContextVar("pool", default=0)


def pending_texts(text: str, objects: Iterable[Any] = ()) -> dict[str, int]:
    """Return the shared texts that a module with this text and these objects needs and that are not compiled yet.

    Each text is mapped to its optimisation level.
    """
    _AHEAD.clear()
    parts = [*_parts(text), (_dispatch, call_dispatch.text, 0)]
    if any(item is HANDLER for item in objects):
        parts.append((handler, array_pool.text, 0))
    return {own(): level for find, own, level in parts if not _is_loaded(find)}


def make_ready_ahead() -> None:
    """Load LLVM and compile the shared code in a background thread, once in a process.

    That saves a quarter of the time of the first call. A thread that needs the code earlier waits for its compilation.
    """
    if not _AHEAD or _STARTED or this_machine().threads == 1:
        return
    _STARTED.append(True)
    start_helper()  # the thread would have to wait for its turn
    with contextlib.suppress(RuntimeError):  # no thread can be started
        threading.Thread(target=_work_ahead, name="autoconv-ahead").start()


def _work_ahead() -> None:
    with contextlib.suppress(Exception):  # the error recurs where the code is needed
        warm_up()
        while _AHEAD:
            find, text, _ = _AHEAD.pop()
            if not _is_loaded(find):
                make_ready({text(): 0})


def _is_loaded(find: Any) -> bool:
    return bool((_pool if find is _parallel else find).cache_info().currsize)


HANDLER = object()  # stands for `handler()`, whose code may not be compiled yet


def resolve_item(item: Any) -> Any:
    """Return the object that an item of a table of objects stands for."""
    return handler() if item is HANDLER else item


@functools.cache
def handler() -> Any:
    """Return the memory handler of large arrays, as PyDataMem_SetHandler takes it."""
    code = Code({array_pool.text(): 0}, array_pool.FUNCTIONS)
    return array_pool.capsule([code.address(name) for name in array_pool.FUNCTIONS], code)


def shared_address(name: str) -> int:
    """Return the address of a function or global of the dispatch code."""
    return _dispatch().address(name)


@functools.cache
def _dispatch() -> Code:
    return _keep_alive(Code({call_dispatch.text(): 0}, call_dispatch.FUNCTIONS, _references()))


@functools.cache
def _references() -> dict[str, int]:
    return _functions(references.text(), 0, references.FUNCTIONS)


@functools.cache
def _objects() -> dict[str, int]:
    return _functions(objects.text(), 1, objects.FUNCTIONS)


@functools.cache
def _exceptions() -> dict[str, int]:
    return _functions(exceptions.text(), 0, exceptions.FUNCTIONS, _references())


def _parallel() -> dict[str, int]:
    return _pool(0)


@functools.cache
def _pool(number: int) -> dict[str, int]:
    """Load a copy of the code of thread pools: the globals of each copy are one pool."""
    code = _keep_alive(Code({thread_pool.text(): 0}, ["parallel", "workers"]))
    ctypes.c_int64.from_address(code.address("workers")).value = this_machine().threads - 1
    return {"parallel": code.address("parallel")}


# For each marker in the text of a graph's module: the loader of the part, its text, and its optimisation level.
_PARTS = {
    "": (_references, references.text, 0),
    '@"parallel"': (_parallel, thread_pool.text, 0),
    '@"catch_error"': (_exceptions, exceptions.text, 0),
    '@"object_': (_objects, objects.text, 1),
}


def _parts(text: str) -> list[Any]:
    return [part for mark, part in _PARTS.items() if mark in text]


def _functions(text: str, level: int, names: Iterable[str], known: dict[str, int] | None = None) -> dict[str, int]:
    code = _keep_alive(Code({text: level}, [*names], known))
    return {name: code.address(name) for name in names}


# Parts to compile ahead, the first one last; empty once a graph is being compiled.
_AHEAD: list[Any] = [
    (_parallel, thread_pool.text, 0), (handler, array_pool.text, 0), (_dispatch, call_dispatch.text, 0),
    (_references, references.text, 0),
]  # fmt: skip
_STARTED: list[bool] = []
_KEPT: list[Code] = []


def _keep_alive(code: Code) -> Code:
    _KEPT.append(code)
    return code
