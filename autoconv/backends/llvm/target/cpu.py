"""Instruction-set features of this processor, and the tuning name that LLVM gets."""

from __future__ import annotations

import functools
import itertools
import platform


@functools.cache
def instructions() -> frozenset[str]:
    """Return the instruction sets of the first processor, as the system reports them; empty if it reports none."""
    told = description()
    return frozenset((told.get("flags") or told.get("Features") or "").split())


@functools.cache
def has_half() -> bool:
    """Return whether this machine has instructions that convert 16-bit floats to float32 and back."""
    return "f16c" in instructions() or platform.machine().lower() in ("aarch64", "arm64")


@functools.cache
def has_ldexp() -> bool:
    """Return whether LLVM lowers `llvm.ldexp` to a single instruction, for vectors too.

    LLVM as of llvmlite 0.50 does so with AVX-512.
    """
    import llvmlite  # light: only for its version

    version = tuple(int(part) for part in llvmlite.__version__.split(".")[:2] if part.isdigit())
    return {"avx512f", "avx512vl"} <= instructions() and version >= (0, 50)


@functools.cache
def description() -> dict[str, str]:
    """Return the system's description of its first processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = list(itertools.takewhile(str.strip, file))
    except OSError:
        lines = []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
