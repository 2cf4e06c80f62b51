"""Native code of exception handlers, see `exceptions.ll`; compiled on the first `try`."""

from __future__ import annotations

import functools

from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.runtime.llvm_text import read

FUNCTIONS = {"catch_error": ("ptr", "ptr, ptr"), "end_handling": ("void", "ptr")}


def declared(module: ModuleText) -> list[str]:
    """Declare the functions in a module and return their names there."""
    return [module.declare(name, *of) for name, of in FUNCTIONS.items()]


@functools.cache
def text() -> str:
    return read("exceptions")
