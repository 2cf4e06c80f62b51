"""The processor's flags of floating-point errors, as functions that native code calls."""

from __future__ import annotations

import platform

from autoconv.backends.llvm.runtime.llvm_text import read

_FILES = {
    "x86_64": "float_flags_x86", "amd64": "float_flags_x86", "aarch64": "float_flags_arm", "arm64": "float_flags_arm",
}  # fmt: skip


_NO_FLAGS = "no_float_flags"


def text(machine: str = platform.machine().lower()) -> str:
    """Return LLVM text for a machine: `float_errors()` returns the flags, 0 without an error; other functions set them.

    On a machine whose flags are not read, there is never an error.
    """
    return _functions_text(_FILES.get(machine, _NO_FLAGS))


def no_flags_text() -> str:
    """Return LLVM text of the same functions, for code without flags: there is never an error."""
    return _functions_text(_NO_FLAGS)


def _functions_text(file: str) -> str:
    """Return the text of a file of functions for the flags, and of one that calls these."""
    return f"{read(file)}\n{read('keep_float_errors')}"
