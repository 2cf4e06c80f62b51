"""Native code of exception handlers (see `exceptions.ll`), which is compiled for the first `try`."""

from __future__ import annotations

import functools

from autoconv.backends.llvm.runtime.llvm_text import read

# Name -> (type of the result, types of the parameters).
SIGNATURES = {"catch_error": ("ptr", "ptr, ptr"), "end_handling": ("void", "ptr")}


@functools.cache
def text() -> str:
    return read("exceptions")
