"""Fourier transforms of sizes with large prime factors, as convolutions with a chirp (Bluestein, 1970).

    X[k] = w[k] · Σ_j (x[j] · w[j]) · conj(w[k - j]),   w[k] = exp(∓iπ k² / n)

The convolution is computed by two transforms of a size of at least 2n - 1 that has small factors.
"""

from __future__ import annotations

import functools

import numpy as np

from autoconv.backends.llvm.analysis.fft_radices import chirp_size
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.fft.stockham import (
    StageCalls,
    buffer_bytes,
    exact_roots,
    roots_of_unity,
    stage_bytes,
    stages,
)
from autoconv.backends.llvm.codegen.routine import Routine, pointers
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.index_arith import Position, plus, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dtypes import DType

# The chirp, the spectrum of its conjugate, and the roots of unity of the forward and the inverse transform.
TABLE_PARAMETERS = tuple(f"ptr noalias readonly {name}" for name in ("%chirp", "%kernel", "%w", "%v"))


@functools.cache
def _chirp(size: int, sign: int) -> np.ndarray:
    """Return w[k] of the module's docstring for all k below `size`."""
    numbers = np.arange(size)
    real, imag = exact_roots(numbers * numbers % (2 * size), 2 * size, sign)
    return real + 1j * imag


@functools.cache
def _spectrum(size: int, sign: int) -> np.ndarray:
    """Return the transform of the conjugate chirp, extended to the convolution's size.

    The numbers are divided by that size, the scale of the inverse transform that follows the multiplication.
    """
    convolution_size = chirp_size(size)
    chirp = _chirp(size, sign).conj()
    result = np.zeros(convolution_size, np.complex128)
    result[:size] = chirp
    result[convolution_size - size + 1 :] = chirp[:0:-1]
    return np.fft.fft(result) / convolution_size


def table_addresses(region: LoweringContext, size: int, sign: int, dtype: DType) -> list[str]:
    """Return the addresses of the tables, as arguments for `TABLE_PARAMETERS`."""
    convolution_size, real_dtype = chirp_size(size), dtype.real_dtype
    arrays = [_chirp(size, sign).astype(dtype.numpy), _spectrum(size, sign).astype(dtype.numpy)]
    arrays += [roots_of_unity(convolution_size, -1, real_dtype), roots_of_unity(convolution_size, 1, real_dtype)]
    return pointers(region, *(Object(region.body.objects.reference(table)(region.out)) for table in arrays))


def chirp_bytes(size: int, dtype: DType) -> int:
    """Return the bytes of memory that the transform of `size` numbers of `dtype` needs."""
    return 2 * buffer_bytes(chirp_size(size), dtype) + stage_bytes(chirp_size(size), dtype.real_dtype)


def write_chirped_rows(
    region: LoweringContext, routine: Routine, dtype: DType, size: int, column_count: int, scale: float, memory: str
) -> None:
    """Write the loop from `%first` to `%last` over transforms along the middle axis of arrays […, size, columns].

    `%x` is the source and `%y` the target. Each transform is of one column of one matrix. At `memory` there are
    `chirp_bytes` bytes.
    """
    convolution_size, real_dtype = chirp_size(size), dtype.real_dtype
    out, b = routine.out, routine.b
    forward = _write_transform(region, convolution_size, real_dtype, -1)
    backward = _write_transform(region, convolution_size, real_dtype, 1)
    *buffers, memory = (out.gep("i8", memory, i * buffer_bytes(convolution_size, dtype)) for i in range(3))
    with out.loop("%first", "%last", unrolled=False) as row:
        if column_count == 1:
            offset = times(out, row, size)
        else:
            matrix, column = out.op("udiv", row, column_count), out.op("urem", row, column_count)
            offset = plus(out, times(out, matrix, size * column_count), column)

        def position_of(k: Position, offset: Position = offset) -> Position:
            return plus(out, offset, times(out, k, column_count))

        with out.loop("0", str(size), unrolled=False) as k:
            number, root = _load_pair(b, dtype, "%x", position_of(k)), _load_pair(b, dtype, "%chirp", k)
            store(b, _multiply_pairs(b, number, root), buffers[0], k)
        tail = out.gep(memory_type(dtype), buffers[0], size)
        out.clear(tail, (convolution_size - size) * dtype.size)
        out.call(forward, buffers[0], buffers[1], "%w", memory)
        with out.loop("0", str(convolution_size), unrolled=False) as k:
            number, factor = _load_pair(b, dtype, buffers[1], k), _load_pair(b, dtype, "%kernel", k)
            store(b, _multiply_pairs(b, number, factor), buffers[1], k)
        out.call(backward, buffers[1], buffers[0], "%v", memory)
        with out.loop("0", str(size), unrolled=False) as k:
            product = _multiply_pairs(b, _load_pair(b, dtype, buffers[0], k), _load_pair(b, dtype, "%chirp", k))
            if scale != 1.0:
                product = b.pair(product.real * scale, product.imag * scale)
            store(b, product, "%y", position_of(k))


def _write_transform(region: LoweringContext, size: int, real_dtype: DType, sign: int) -> str:
    """Write a function that transforms a row of `size` complex numbers, without a scale; return its name."""
    parameters = ["ptr noalias readonly %x", "ptr noalias %y", "ptr noalias readonly %w", "ptr noalias %memory"]
    routine = Routine(region, parameters)
    calls = StageCalls(region, routine.out, stages(size, 1, 1), real_dtype, sign, scale=1.0, memory="%memory")
    calls.write("%x", "%y")
    return routine.finish()


def _load_pair(b: ElementWriter, dtype: DType, pointer: str, offset: Position) -> Pair:
    """Load a complex number."""
    result = load(b, dtype, pointer, offset)
    assert isinstance(result, Pair)
    return result


def _multiply_pairs(b: ElementWriter, x: Pair, y: Pair) -> Pair:
    """Return the product of two complex numbers."""
    real: Element = b.fma(x.real, y.real, -(x.imag * y.imag))
    return b.pair(real, b.fma(x.real, y.imag, x.imag * y.real))
