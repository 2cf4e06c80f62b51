"""Number and width of the vector registers."""

from __future__ import annotations

from dataclasses import dataclass

from autoconv.backends.llvm.target.cpu import instructions


@dataclass(frozen=True)
class Registers:
    """The number of vector registers, and the bytes of one."""

    count: int
    size: int


def registers() -> Registers | None:
    """Return the vector registers; None for an unknown machine, or one with short vectors."""
    known = instructions()
    if "avx512f" in known:
        return Registers(32, 64)
    return Registers(16, 32) if {"avx2", "fma"} <= known else None
