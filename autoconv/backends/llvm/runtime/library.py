"""Shared native code for references, memory and threads; each part is compiled at its first use in a process."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from autoconv.backends.llvm.jit.engine import Code, prepare_object_files, start_helper, warm_up
from autoconv.backends.llvm.runtime import array_pool, call_dispatch, exceptions, objects, references, thread_pool
from autoconv.backends.llvm.target.machine import this_machine


def addresses(text: str) -> dict[str, int]:
    """Return the addresses of the shared functions that a text declares, by name."""
    result = {name: address for load, _, _ in _needed_parts(text) for name, address in load().items()}
    return {**result, **_load_pool(_POOL.get())} if "parallel" in result else result


@contextlib.contextmanager
def using_pool(number: int) -> Iterator[None]:
    """Link the code that the block compiles to a numbered pool of threads; 0 is the pool of all other code."""
    token = _POOL.set(number)
    try:
        yield
    finally:
        _POOL.reset(token)


_POOL: ContextVar[int] = ContextVar("pool", default=0)


def pending_texts(text: str, objects: Iterable[Any] = ()) -> dict[str, int]:
    """Return the shared texts that a module with this text and these objects needs and that are not compiled yet.

    Each text is mapped to its optimisation level.
    """
    _PARTS_AHEAD.clear()
    parts = [*_needed_parts(text), (_load_dispatch, call_dispatch.text, 0)]
    if any(item is HANDLER for item in objects):
        parts.append((handler, array_pool.text, 0))
    return {part_text(): level for load, part_text, level in parts if not _is_loaded(load)}


def start_compiling_ahead() -> None:
    """Load LLVM and compile the shared code in a background thread, once in a process.

    This saves a quarter of the time of the first call. A thread that needs the code earlier waits for it.
    """
    if not _PARTS_AHEAD or _STARTED or this_machine().threads == 1:
        return
    _STARTED.append(True)
    start_helper()  # here, since the thread may start late
    with contextlib.suppress(RuntimeError):  # no thread can be started
        threading.Thread(target=_compile_ahead, name="autoconv-ahead").start()


def _compile_ahead() -> None:
    with contextlib.suppress(Exception):  # the error recurs where the code is needed
        warm_up()
        while _PARTS_AHEAD:
            load, text, _ = _PARTS_AHEAD.pop()
            if not _is_loaded(load):
                prepare_object_files({text(): 0})


def _is_loaded(load: Any) -> bool:
    return bool((_load_pool if load is _load_parallel else load).cache_info().currsize)


HANDLER = object()  # stands for `handler()`, whose code may not be compiled yet


def resolve_item(item: Any) -> Any:
    """Return the object for an item of a table of objects, which is HANDLER for the memory handler."""
    return handler() if item is HANDLER else item


@functools.cache
def handler() -> Any:
    """Return the memory handler of large arrays, as PyDataMem_SetHandler takes it."""
    code = Code({array_pool.text(): 0}, array_pool.FUNCTIONS)
    return array_pool.new_capsule([code.address(name) for name in array_pool.FUNCTIONS], code)


def shared_address(name: str) -> int:
    """Return the address of a function or global of the dispatch code."""
    return _load_dispatch().address(name)


@functools.cache
def _load_dispatch() -> Code:
    return _keep_alive(Code({call_dispatch.text(): 0}, call_dispatch.FUNCTIONS, _load_references()))


@functools.cache
def _load_references() -> dict[str, int]:
    return _load_functions(references.text(), 0, references.FUNCTIONS)


@functools.cache
def _load_objects() -> dict[str, int]:
    return _load_functions(objects.text(), 1, objects.FUNCTIONS)


@functools.cache
def _load_exceptions() -> dict[str, int]:
    return _load_functions(exceptions.text(), 0, exceptions.FUNCTIONS, _load_references())


def _load_parallel() -> dict[str, int]:
    return _load_pool(0)


@functools.cache
def _load_pool(number: int) -> dict[str, int]:
    """Load a copy of the code of thread pools; the globals of each copy are a separate pool."""
    code = _keep_alive(Code({thread_pool.text(): 0}, ["parallel", "workers"]))
    ctypes.c_int64.from_address(code.address("workers")).value = this_machine().threads - 1
    return {"parallel": code.address("parallel")}


# The loader of a part, its text, and its optimisation level, by a marker in the text of modules that need the part.
_PARTS = {
    "": (_load_references, references.text, 0),
    '@"parallel"': (_load_parallel, thread_pool.text, 0),
    '@"catch_error"': (_load_exceptions, exceptions.text, 0),
    '@"object_': (_load_objects, objects.text, 1),
}


def _needed_parts(text: str) -> list[Any]:
    return [part for mark, part in _PARTS.items() if mark in text]


def _load_functions(text: str, level: int, names: Iterable[str], known: dict[str, int] | None = None) -> dict[str, int]:
    code = _keep_alive(Code({text: level}, [*names], known))
    return {name: code.address(name) for name in names}


# Parts to compile ahead, from the last one to the first; empty after the first compilation of a graph.
_PARTS_AHEAD: list[Any] = [
    (_load_parallel, thread_pool.text, 0), (handler, array_pool.text, 0), (_load_dispatch, call_dispatch.text, 0),
    (_load_references, references.text, 0),
]  # fmt: skip
_STARTED: list[bool] = []
_LOADED_CODE: list[Code] = []


def _keep_alive(code: Code) -> Code:
    _LOADED_CODE.append(code)
    return code
