"""What all native code shares, compiled once in a process and never let go: references, memory, threads."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from autoconv.backends.llvm import dispatch, pool, prelude, threads
from autoconv.backends.llvm.engine import Code


@functools.cache
def addresses() -> dict[str, int]:
    """Of the functions that graphs call, by name."""
    names = [*prelude.FUNCTIONS, *(["parallel"] if threads.available() else [])]
    return {name: _code().address(name) for name in names}


@functools.cache
def handler() -> Any:
    """The memory handler of large arrays, as PyDataMem_SetHandler takes it."""
    return pool.capsule([_code().address(name) for name in pool.FUNCTIONS])


def shared_address(name: str) -> int:
    """Of a function or a global that is for this process alone."""
    return _code().address(name)


@functools.cache
def _code() -> Code:
    text = prelude.TEXT + pool.TEXT + dispatch.TEXT
    exports = [*prelude.FUNCTIONS, *pool.FUNCTIONS, *dispatch.FUNCTIONS]
    if threads.available():
        text, exports = text + threads.TEXT, [*exports, "parallel", "workers"]
    code = Code(text, exports, level=0)
    if threads.available():
        ctypes.c_int64.from_address(code.address("workers")).value = threads.thread_count() - 1
    return code
