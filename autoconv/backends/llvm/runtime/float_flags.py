"""The processor's flags of floating-point errors, as functions that native code calls."""

from __future__ import annotations

import platform

from autoconv.backends.llvm.runtime.llvm_text import read

_FILES = {
    "x86_64": "float_flags_x86", "amd64": "float_flags_x86", "aarch64": "float_flags_arm", "arm64": "float_flags_arm",
}  # fmt: skip


def text(machine: str = platform.machine().lower()) -> str:
    """Return LLVM text: `float_errors()` returns the flags, 0 if there was no error; other functions set them."""
    return f"{read(_FILES.get(machine, 'no_float_flags'))}\n{read('keep_float_errors')}"
