"""The machine for which code is written.

`compile_graph` takes a Target, by default that of this machine. Passes and lowerings read only `current_target()`,
which `with compiling_for(...)` sets, and not the machine, the settings or the environment.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
from collections.abc import Iterator
from contextvars import ContextVar

from autoconv.backends.llvm.target.cpu import instructions
from autoconv.config.settings import usable_threads
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Registers:
    """The number of vector registers, and the bytes of a register."""

    count: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The properties of a machine on which code depends.

    features      instruction sets, by the system's names
    architecture  name of the instruction set, as `platform.machine()` in lower case
    llvm          first two numbers of the version of llvmlite
    threads       threads that run parts of loops, the caller's included
    has_pool      whether the thread pool supports the system
    cache         bytes that loops may read repeatedly without waiting for memory
    has_libraries whether code may call Python, NumPy and its BLAS, LAPACK and sorts
    pointer       bytes of an address
    glibc         first two numbers of the version of the C library, if it is glibc
    """

    features: frozenset[str] = frozenset()
    architecture: str = "x86_64"
    llvm: tuple[int, ...] = ()
    threads: int = 1
    has_pool: bool = True
    cache: int = 3 << 19  # 1.5 MB
    has_libraries: bool = True
    pointer: int = 8
    glibc: tuple[int, ...] = ()

    @property
    def is_parallel(self) -> bool:
        """True if several threads can share the work."""
        return self.has_pool and self.threads > 1

    @property
    def vector_registers(self) -> Registers | None:
        """The vector registers; None for an unknown machine, or for a machine with short vectors."""
        if "avx512f" in self.features:
            return Registers(32, 64)
        return Registers(16, 32) if {"avx2", "fma"} <= self.features else None

    @property
    def has_wide_vectors(self) -> bool:
        """True if vectors of 512 bits do not slow the processor down, as in those after Skylake and Cascade Lake."""
        return "avx512_vbmi2" in self.features

    @property
    def can_mask_lanes(self) -> bool:
        """True if instructions of vectors can leave out lanes."""
        return "avx512f" in self.features

    @property
    def can_compress(self) -> bool:
        """True if an instruction moves selected lanes of 8 numbers of 32 or 64 bits together."""
        return {"avx512f", "avx512vl"} <= self.features

    @property
    def stores_compressed_slowly(self) -> bool:
        """True if storing selected lanes takes a hundred cycles, as on AMD's Zen 4: NumPy's sorts do it throughout."""
        is_zen = {"avx512f", "sse4a"} <= self.features  # only AMD's processors have sse4a
        return is_zen and "avx512_vp2intersect" not in self.features

    @property
    def has_half_conversions(self) -> bool:
        """True if there are instructions that convert 16-bit floats to float32 and back."""
        return "f16c" in self.features or self.architecture in ("aarch64", "arm64")

    @property
    def has_accurate_pow(self) -> bool:
        """True if the C library's `pow`, which code may call, errs by less than 0.55 units in the last place."""
        return self.has_libraries and self.glibc >= (2, 28)

    @property
    def has_ldexp(self) -> bool:
        """True if LLVM lowers `llvm.ldexp` to one instruction, for vectors too; as of llvmlite 0.50 by AVX-512."""
        return {"avx512f", "avx512vl"} <= self.features and self.llvm >= (0, 50)


def this_machine() -> Target:
    """Return the target of this process, with its `usable_threads`."""
    return _with_threads(usable_threads())


@functools.lru_cache(maxsize=1)
def _with_threads(threads: int) -> Target:
    """Return the target of this machine, with a number of threads."""
    import llvmlite  # light: only for its version

    version = tuple(int(part) for part in llvmlite.__version__.split(".")[:2] if part.isdigit())
    return Target(
        features=instructions(), architecture=platform.machine().lower(), llvm=version, threads=threads,
        has_pool=os.name == "posix", glibc=_glibc_version(),
    )  # fmt: skip


def _glibc_version() -> tuple[int, ...]:
    """Return the first two numbers of the version of glibc; empty for another C library."""
    name, version = platform.libc_ver()
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) if name == "glibc" else ()


_TARGET: ContextVar[Target | None] = ContextVar("target", default=None)


def current_target() -> Target:
    """Return the target of the compilation in progress, by default that of this machine."""
    return _TARGET.get() or this_machine()


@contextlib.contextmanager
def compiling_for(target: Target | None) -> Iterator[None]:
    """Set the target of the compilations in the block; None keeps the present target."""
    token = _TARGET.set(target or current_target())
    try:
        yield
    finally:
        _TARGET.reset(token)
