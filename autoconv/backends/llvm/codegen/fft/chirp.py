"""Fourier transforms of sizes with large prime factors, as convolutions with a chirp (Bluestein, 1970).

    X[k] = w[k] · Σ_j (x[j] · w[j]) · conj(w[k - j]),   w[k] = exp(∓iπ k² / n)

The convolution is computed by two transforms of a size of at least 2n - 1 that has small factors.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from autoconv.backends.llvm.analysis.fft_radices import chirp_size
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.fft.stockham import exact_roots, roots_of_unity, stages, write_stage
from autoconv.backends.llvm.codegen.routine import Routine, pointers
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.index_arith import Position, plus, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dtypes import DType

TABLES = tuple(f"ptr noalias readonly {name}" for name in ("%chirp", "%kernel", "%w", "%v"))


@functools.cache
def _chirp(size: int, sign: int) -> np.ndarray:
    numbers = np.arange(size)
    real, imag = exact_roots(numbers * numbers % (2 * size), 2 * size, sign)
    return real + 1j * imag


@functools.cache
def _spectrum(size: int, sign: int) -> np.ndarray:
    """Return the transform of the conjugate chirp, which wraps around, over the size of the convolution."""
    whole = chirp_size(size)
    chirp = _chirp(size, sign).conj()
    result = np.zeros(whole, np.complex128)
    result[:size] = chirp
    result[whole - size + 1 :] = chirp[:0:-1]
    return np.fft.fft(result) / whole


def tables(region: LoweringContext, size: int, sign: int, dtype: DType) -> list[str]:
    """Return the addresses of what `TABLES` name, as arguments of a routine."""
    whole, part = chirp_size(size), dtype.real_dtype
    found = [_chirp(size, sign).astype(dtype.numpy), _spectrum(size, sign).astype(dtype.numpy)]
    found += [roots_of_unity(whole, -1, part), roots_of_unity(whole, 1, part)]
    return pointers(region, *(Object(region.body.calls.object(table)(region.out)) for table in found))


def write_chirped_rows(
    region: LoweringContext, body: Routine, dtype: DType, size: int, inner: int, scale: float
) -> None:
    """Write the loop over the rows of `%x` and `%y`, arrays of the shape (outer, size, inner)."""
    whole, part = chirp_size(size), dtype.real_dtype
    out, b = body.out, body.b
    there = _transform(region, whole, part, -1)
    back = _transform(region, whole, part, 1)
    rows = [out.alloca(f"[{whole * dtype.size} x i8], align 64") for _ in range(2)]
    with out.loop("%first", "%last", unrolled=False) as number:
        if inner == 1:
            offset = times(out, number, size)
        else:
            matrix, column = out.op("udiv", number, inner), out.op("urem", number, inner)
            offset = plus(out, times(out, matrix, size * inner), column)

        def at(k: Position, offset: Position = offset) -> Position:
            return plus(out, offset, times(out, k, inner))

        with out.loop("0", str(size), unrolled=False) as k:
            store(b, _product(b, _load(b, dtype, "%x", at(k)), _load(b, dtype, "%chirp", k)), rows[0], k)
        rest = out.gep(memory(dtype), rows[0], size)
        out.clear(rest, (whole - size) * dtype.size)
        out.call(there, rows[0], rows[1], "%w")
        with out.loop("0", str(whole), unrolled=False) as k:
            store(b, _product(b, _load(b, dtype, rows[1], k), _load(b, dtype, "%kernel", k)), rows[1], k)
        out.call(back, rows[1], rows[0], "%v")
        with out.loop("0", str(size), unrolled=False) as k:
            product = _product(b, _load(b, dtype, rows[0], k), _load(b, dtype, "%chirp", k))
            if scale != 1.0:
                product = b.pair(product.real * scale, product.imag * scale)
            store(b, product, "%y", at(k))


def _transform(region: LoweringContext, size: int, part: DType, sign: int) -> str:
    """Return the name of a function that transforms a row of `size` pairs, without a scale."""
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %y", "ptr noalias readonly %w"])
    out, steps = routine.out, stages(size, 1, 1)
    names = [write_stage(region, stage, part, sign, 1.0) for stage in steps]
    between = [out.alloca(f"[{size * part.size} x i8], align 64") for _ in range(4 if len(steps) > 1 else 0)]
    given: Sequence[str] = ["%x"]
    for i, (stage, name) in enumerate(zip(steps, names, strict=True)):
        made: Sequence[str] = ["%y"] if stage.is_last else between[:2] if i % 2 == 0 else between[2:]
        out.call(name, *given, *made, "%w")
        given = made
    return routine.finish()


def _load(b: ElementWriter, dtype: DType, pointer: str, place: Position) -> Pair:
    result = load(b, dtype, pointer, place)
    assert isinstance(result, Pair)
    return result


def _product(b: ElementWriter, x: Pair, y: Pair) -> Pair:
    real: Element = b.fma(x.real, y.real, -(x.imag * y.imag))
    return b.pair(real, b.fma(x.real, y.imag, x.imag * y.real))


__all__ = ["TABLES", "tables", "write_chirped_rows"]
