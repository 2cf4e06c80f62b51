"""Shared native code for references, memory and threads; each part is compiled at its first use in a process."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from autoconv.backends.llvm.jit.engine import Code, begin_compilation, start_helper
from autoconv.backends.llvm.runtime import (
    array_pool,
    call_dispatch,
    exceptions,
    numpy_random,
    objects,
    references,
    thread_pool,
)
from autoconv.backends.llvm.target.machine import this_machine


class _Part(NamedTuple):
    """A part of the shared code: a cached function that loads it, its text, and its optimisation level."""

    load: Callable[[], Any]
    text: Callable[[], str]
    level: int


def shared_addresses(text: str) -> dict[str, int]:
    """Return the addresses of the shared functions that a text declares, by name."""
    result = {name: address for part in _needed_parts(text) for name, address in part.load().items()}
    result |= numpy_random.addresses() if numpy_random.PREFIX in text else {}
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
    parts = [*_needed_parts(text), _DISPATCH]
    if any(item is MEMORY_HANDLER for item in objects):
        parts.append(_ARRAY_POOL)
    return {part.text(): part.level for part in parts if not _is_loaded(part)}


def start_compiling_ahead() -> None:
    """Have the helper load LLVM and compile the shared code while the first graph of the process is traced."""
    if not _PARTS_AHEAD:
        return
    start_helper()
    while _PARTS_AHEAD:
        part = _PARTS_AHEAD.pop()
        if not _is_loaded(part) and (part is not _PARALLEL or this_machine().is_parallel):
            begin_compilation(part.text(), part.level)


def _is_loaded(code_part: _Part) -> bool:
    """Return whether this process has loaded a part of the shared code."""
    cached: Any = _load_pool if code_part is _PARALLEL else code_part.load
    return bool(cached.cache_info().currsize)


MEMORY_HANDLER = object()  # stands for `memory_handler()`, whose code may not be compiled yet


def resolve_item(item: Any) -> Any:
    """Return the object for an item of a table of objects, which is MEMORY_HANDLER for the memory handler."""
    return memory_handler() if item is MEMORY_HANDLER else item


@functools.cache
def memory_handler() -> Any:
    """Return the memory handler of large arrays, as PyDataMem_SetHandler takes it."""
    code = Code({array_pool.text(): 0}, array_pool.FUNCTIONS)
    return array_pool.new_capsule([code.address(name) for name in array_pool.FUNCTIONS], code)


def shared_address(name: str) -> int:
    """Return the address of a function or global of the dispatch code."""
    return _load_dispatch().address(name)


@functools.cache
def _load_dispatch() -> Code:
    return _keep_alive(Code({call_dispatch.text(): 0}, call_dispatch.SYMBOLS, _load_references()))


@functools.cache
def _load_references() -> dict[str, int]:
    return _load_functions(references.text(), 0, references.SIGNATURES)


@functools.cache
def _load_objects() -> dict[str, int]:
    return _load_functions(objects.text(), 1, objects.SIGNATURES)


@functools.cache
def _load_exceptions() -> dict[str, int]:
    return _load_functions(exceptions.text(), 0, exceptions.SIGNATURES, _load_references())


def _load_parallel() -> dict[str, int]:
    return _load_pool(0)


@functools.cache
def _load_pool(number: int) -> dict[str, int]:
    """Load a copy of the code of thread pools; the globals of each copy are a separate pool."""
    code = _keep_alive(Code({thread_pool.text(): 0}, ["parallel", "workers"]))
    ctypes.c_int64.from_address(code.address("workers")).value = this_machine().threads - 1
    return {"parallel": code.address("parallel")}


_REFERENCES = _Part(_load_references, references.text, 0)
_PARALLEL = _Part(_load_parallel, thread_pool.text, 0)
_DISPATCH = _Part(_load_dispatch, call_dispatch.text, 0)
_EXCEPTIONS = _Part(_load_exceptions, exceptions.text, 0)
_ARRAY_POOL = _Part(memory_handler, array_pool.text, 0)
# Marker in the text of a module -> the part that the module then needs.
_PARTS_BY_MARKER = {
    "": _REFERENCES,
    '@"parallel"': _PARALLEL,
    '@"catch_error"': _EXCEPTIONS,
    '@"object_': _Part(_load_objects, objects.text, 1),
}


def _needed_parts(text: str) -> list[_Part]:
    """Return the parts whose functions a text declares."""
    return [part for marker, part in _PARTS_BY_MARKER.items() if marker in text]


def _load_functions(
    text: str, level: int, names: Iterable[str], known_addresses: dict[str, int] | None = None
) -> dict[str, int]:
    """Load shared code for the life of the process; return the addresses of the named functions."""
    code = _keep_alive(Code({text: level}, [*names], known_addresses))
    return {name: code.address(name) for name in names}


# Parts that most programs need, from the last one to compile to the first; empty after the start of the first trace.
_PARTS_AHEAD = [_PARALLEL, _ARRAY_POOL, _EXCEPTIONS, _REFERENCES, _DISPATCH]
_LOADED_CODE: list[Code] = []


def _keep_alive(code: Code) -> Code:
    """Keep loaded code until the process ends, and return it."""
    _LOADED_CODE.append(code)
    return code
