"""Compile modules to object files, on several threads of this process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence

from autoconv.backends.llvm.jit import machine_code
from autoconv.backends.llvm.target.machine import this_machine

_TIME_PER_CHARACTER = {0: 0.17, 1: 1.7, 2: 2.5, 3: 3.0}  # level -> microseconds that LLVM takes, about
PIPELINE_VERSION = 12  # Version of the result of `object_file`; part of cache keys.


def object_file(text: str, level: int) -> bytes:
    """Compile a module to an object file at a level, as `machine_code.object_file_compiler` describes it.

    Raises machine_code.BadText for text that is no valid module.
    """
    (result,) = object_files([(text, level)])
    if isinstance(result, BaseException):
        raise result
    return result


def object_files(modules: Sequence[tuple[str, int]]) -> list[bytes | BaseException]:
    """Compile several modules on as many threads as this process may use, each with an LLVM context of its own.

    `modules` are pairs of a text and its level. Where a module cannot be compiled, its error is in the list. Without
    modules, LLVM is only loaded. Not reentrant.
    """
    compile_text = machine_code.object_file_compiler()
    result: list[bytes | BaseException] = [b""] * len(modules)
    pending_modules = order_by_compile_time(modules)

    def compile_pending() -> None:
        """Compile modules until none is pending; an error is stored as the module's result."""
        while True:
            try:
                i = pending_modules.pop()
            except IndexError:
                return
            try:
                result[i] = compile_text(*modules[i])
            except BaseException as error:
                result[i] = error

    thread_count = min(len(modules), this_machine().threads) if machine_code.supports_threads() else 1
    threads = [threading.Thread(target=compile_pending) for _ in range(thread_count - 1)]
    started_threads = []
    with contextlib.suppress(RuntimeError):  # no thread can be started: this one compiles the rest
        for thread in threads:
            thread.start()
            started_threads.append(thread)
    compile_pending()
    for thread in started_threads:
        thread.join()
    return result


def order_by_compile_time(modules: Sequence[tuple[str, int]]) -> list[int]:
    """Return the positions of the modules by ascending compile time.

    Workers pop from the end, so they start with the longest.
    """
    return sorted(range(len(modules)), key=lambda i: len(modules[i][0]) * _TIME_PER_CHARACTER[modules[i][1]])
