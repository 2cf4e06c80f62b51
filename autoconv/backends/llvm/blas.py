"""Calls of the BLAS that NumPy brought along, and of the threads that it has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.text import FunctionText, ModuleText


@contextmanager
def alone(out: FunctionText, large: bool = True) -> Iterator[None]:
    """BLAS and LAPACK without threads of their own, which they ask for where something is `large`."""
    if not large or "blas_set_threads" not in abi.symbols():
        yield
        return
    before = out.new(f"call i32 {out.module.declare('blas_get_threads', 'i32', '')}()")
    set_threads = out.module.declare("blas_set_threads", "void", "i32")
    out.line(f"call void {set_threads}(i32 1)")
    yield
    out.line(f"call void {set_threads}(i32 {before})")


def declared_gemm(module: ModuleText, name: str, kind: str) -> str:
    """`name` is the function of that kind of numbers, its arguments those of the C interface with 64-bit sizes."""
    return module.declare(
        name, "void", f"i32, i32, i32, i64, i64, i64, {kind}, ptr, i64, ptr, i64, {kind}, ptr, i64"
    )
