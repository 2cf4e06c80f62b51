"""Lower Fourier transforms of constant sizes up to a limit; longer ones run by their kernels.

As the sizes are constants, the stages and the roots of unity are too. Along the last dimension each row is
transformed separately. Along another dimension, as many adjacent columns are transformed together as fit into the
processor's cache: a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autoconv.backends.llvm.analysis.fft_radices import chirp_size, radices
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.fft.chirp import TABLE_PARAMETERS, chirp_bytes, table_addresses, write_chirped_rows
from autoconv.backends.llvm.codegen.fft.memory import MAX_STACK_BYTES, BufferMemory
from autoconv.backends.llvm.codegen.fft.stockham import (
    Number,
    StageCalls,
    roots_in_order,
    roots_of_unity,
    stage_bytes,
    stages,
)
from autoconv.backends.llvm.codegen.registry import complex_lowering
from autoconv.backends.llvm.codegen.routine import PartRoutine, call, split_routine
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, Position, linear_offset, plus, times
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.scalars import ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.backends.llvm.schedule.partition import choose_loop_split
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType
from autoconv.lazy_dataclass import dataclass

_MAX_BUFFER_BYTES = 1 << 23  # most bytes of a thread's buffers between stages
_BLOCK_ELEMENTS = 4096  # preferred count of complex numbers in a block of columns, which are transformed together
_MIN_COLUMNS = 8  # fewest columns of a block
_MAX_COLUMNS = 64  # most columns of a block
_CHIRP_MEMORY_FACTOR = 4  # ratio of the memory of a transform by a chirp to that of a direct one
_STAGE_COST = 6  # time of one number in one stage, in units of 0.05 ns


def _transformed_sizes(node: Node) -> list[int]:
    """Return the sizes of the dimensions along which a node transforms."""
    shape = sizes(node.inputs[0].type)
    return [shape[axis] for axis in node.attributes.get("axes", (-1,))]


def _is_native_transform(node: Node) -> bool:
    """Return whether all transformed axes have sizes that native code transforms."""
    shape = sizes(node.inputs[0].type)
    if 0 in shape or not shape:
        return False
    return all(is_native_size(size, node.inputs[0].dtype) for size in _transformed_sizes(node))


def is_native_size(size: int, dtype: DType) -> bool:
    """Return whether native code can transform `size` complex numbers: its two buffers are small enough."""
    return 2 * (size if radices(size) is not None else _CHIRP_MEMORY_FACTOR * size) * dtype.size <= _MAX_BUFFER_BYTES


@complex_lowering("fft", "ifft", fits=_is_native_transform, calls_library=True)
def write_fft(region: LoweringContext, node: Node) -> None:
    """Transform along one axis after the other, the last axis first, each time into a new array."""
    (x,), (result,) = node.inputs, node.results
    is_inverse = node.op.name == "ifft"
    shape, norm = sizes(x.type), node.attributes.get("norm", "backward")
    axes = [axis % len(shape) for axis in node.attributes.get("axes", (-1,)) if shape[axis] > 1]
    source, target = region.data(x), region.new_array(result.type)
    if not axes:
        region.out.copy(region.address(target), source, math.prod(shape) * x.dtype.size)
    for axis in reversed(axes):
        _write_axis_transform(region, x.type, axis, source, region.address(target), is_inverse, norm)
        source = region.address(target)
        if axis != axes[0]:
            region.release_after_item(target, result.type)
            target = region.new_array(result.type)
    region.set(result, target)
    if axes:
        _replace_if_not_finite(region, node, axes)


def _scale(size: int, norm: str, is_inverse: bool) -> float:
    """Return the factor of the results of a transform of `size` numbers."""
    power = {"backward": float(is_inverse), "forward": float(not is_inverse), "ortho": 0.5}[norm]
    return float(size) ** -power


def _is_halved(size: Any, dtype: DType) -> bool:
    """Return whether `size` real numbers are transformed as half as many complex numbers."""
    return size % 2 == 0 and size > 0 and is_native_size(size // 2, dtype)


def _is_native_real_transform(node: Node) -> bool:
    """Return whether native code computes this transform from or to real numbers."""
    (x,), (result,) = node.inputs, node.results
    real_value, complex_value = (result, x) if node.op.name == "irfft" else (x, result)
    shape = sizes(x.type)
    if 0 in shape or 0 in sizes(result.type):
        return False
    size, dtype = sizes(real_value.type)[-1], complex_value.dtype
    if node.op.name == "rfft":
        return _is_halved(size, dtype) or is_native_size(size, dtype)
    return _is_halved(size, dtype) and shape[-1] == size // 2 + 1  # the spectrum is neither cropped nor padded


@complex_lowering("rfft", fits=_is_native_real_transform, calls_library=True)
def write_rfft(region: LoweringContext, node: Node) -> None:
    """Transform pairs of adjacent numbers as complex numbers, and separate the spectra of even and odd elements."""
    (x,), (result,) = node.inputs, node.results
    result_type: Any = result.type
    *rows, size = sizes(x.type)
    if not _is_halved(size, result_type.dtype):
        _write_rfft_as_complex(region, node)
        return
    pair_type = TensorType(result_type.dtype, (*rows, size // 2))
    spectrum, pair_spectrum = region.new_array(result_type), region.new_array(pair_type)
    scale = _scale(size, node.attributes.get("norm", "backward"), is_inverse=False)
    if size > 2:
        addresses = region.data(x), region.address(pair_spectrum)
        # Unscaled: `write_row` applies the scale.
        _write_axis_transform(region, pair_type, len(rows), *addresses, is_inverse=False, norm="backward")
        source = region.address(pair_spectrum)
    else:
        source = region.data(x)

    def write_row(b: ElementWriter, source: str, target: str, row: str) -> None:
        _write_spectrum_from_pairs(b, result_type.dtype, size // 2, scale, source, target, row)

    name = _write_row_routine(region, pair_type, write_row)
    _call_with_roots(region, name, source, region.address(spectrum), size, -1, result_type.dtype)
    region.release_after_item(pair_spectrum, pair_type)
    region.set(result, spectrum)
    _replace_if_not_finite(region, node, [len(rows)])


@complex_lowering("irfft", fits=_is_native_real_transform, calls_library=True)
def write_irfft(region: LoweringContext, node: Node) -> None:
    """Compute the spectrum of pairs of adjacent numbers as complex numbers, and transform it back."""
    (x,), (result,) = node.inputs, node.results
    source_type: Any = x.type
    *rows, size = sizes(result.type)
    pair_type = TensorType(source_type.dtype, (*rows, size // 2))
    real_numbers, pair_spectrum = region.new_array(result.type), region.new_array(pair_type)
    scale = _scale(size, node.attributes.get("norm", "backward"), is_inverse=True)

    def write_row(b: ElementWriter, source: str, target: str, row: str) -> None:  # the spectrum of the pairs
        _write_pairs_from_spectrum(b, source_type.dtype, size // 2, scale, source, target, row)

    name = _write_row_routine(region, pair_type, write_row)
    target = region.address(pair_spectrum if size > 2 else real_numbers)
    _call_with_roots(region, name, region.data(x), target, size, 1, source_type.dtype)
    if size > 2:
        addresses = target, region.address(real_numbers)
        # Unscaled: `write_row` has applied the scale.
        _write_axis_transform(region, pair_type, len(rows), *addresses, is_inverse=True, norm="forward")
    region.release_after_item(pair_spectrum, pair_type)
    region.set(result, real_numbers)
    _replace_if_not_finite(region, node, [len(rows)])


def _write_rfft_as_complex(region: LoweringContext, node: Node) -> None:
    """Convert rows to complex numbers, transform them, and keep the first half of each spectrum."""
    (x,), (result,) = node.inputs, node.results
    dtype, norm = result.dtype, node.attributes.get("norm", "backward")
    *rows, size = sizes(x.type)
    row_type = TensorType(dtype, (*rows, size))
    complex_rows, spectrum = region.new_array(row_type), region.new_array(row_type)
    half_spectrum = region.new_array(result.type)

    def widen(b: ElementWriter, source: str, target: str, row: str) -> None:
        with b.out.loop("0", str(size), unrolled=False) as k:
            offset = plus(b.out, times(b.out, row, size), k)
            number = load(b, dtype.real_dtype, source, offset)
            store(b, b.pair(number, b.constant(0.0, number.dtype)), target, offset)

    def keep_half(b: ElementWriter, source: str, target: str, row: str) -> None:
        with b.out.loop("0", str(size // 2 + 1), unrolled=False) as k:
            element = load(b, dtype, source, plus(b.out, times(b.out, row, size), k))
            store(b, element, target, plus(b.out, times(b.out, row, size // 2 + 1), k))

    widened_rows = spectrum if size == 1 else complex_rows  # a single number is its own spectrum
    _call_row_loop(region, row_type, widen, region.data(x), region.address(widened_rows))
    if size > 1:
        addresses = region.address(complex_rows), region.address(spectrum)
        _write_axis_transform(region, row_type, len(rows), *addresses, is_inverse=False, norm=norm)
    _call_row_loop(region, row_type, keep_half, region.address(spectrum), region.address(half_spectrum))
    for array in (complex_rows, spectrum):
        region.release_after_item(array, row_type)
    region.set(result, half_spectrum)
    _replace_if_not_finite(region, node, [len(rows)])


def _call_row_loop(
    region: LoweringContext, row_type: TensorType, write: Callable[[ElementWriter, str, str, str], None], source: str,
    target: str,
) -> None:  # fmt: skip
    """Write and call a loop over rows whose body `write(b, source, target, row)` writes."""
    unused_roots = source
    name = _write_row_routine(region, row_type, write)
    call(region, name, f"ptr {source}", f"ptr {target}", f"ptr {unused_roots}")


def _replace_if_not_finite(region: LoweringContext, node: Node, axes: Sequence[int]) -> None:
    """Replace the result by the kernel's if the first number of a transformed row, the sum of the row, is not finite.

    In that case the order of the computation determines which elements are nan and which are infinite.
    """
    (result,) = node.results
    shape, b, out = sizes(result.type), RegisterWriter(region), region.out
    data, not_finite_cell = region.data(result), out.alloca("i8")
    out.store("i8", 0, not_finite_cell)

    def check(index: Index) -> None:
        row_sum = load(b, result.dtype, data, linear_offset(out, index, shape))
        for part in (row_sum.real, row_sum.imag) if isinstance(row_sum, Pair) else (row_sum,):
            is_not_finite = out.cast("zext", out.not_((part - part).same(0).ir), "i8")  # inf - inf is nan
            out.store("i8", out.op("or", out.load("i8", not_finite_cell), is_not_finite), not_finite_cell)

    write_loop_nest(out, [1 if axis in axes else size for axis, size in enumerate(shape)], check)
    region.call_kernel_if(node, out.icmp("ne", out.load("i8", not_finite_cell), 0))


def _call_with_roots(
    region: LoweringContext, name: str, source: str, target: str, size: int, sign: int, dtype: DType
) -> None:
    """Call a routine with the table of the roots of unity that it reads in order."""
    table = roots_in_order(size, sign, dtype.real_dtype)
    roots = region.address(Object(region.body.objects.reference(table)(region.out)))
    call(region, name, f"ptr {source}", f"ptr {target}", f"ptr {roots}")


def _write_row_routine(
    region: LoweringContext, row_type: TensorType, write: Callable[[ElementWriter, str, str, str], None]
) -> str:
    """Write a function with a loop over rows, whose routine `write(b, source, target, row)` writes; return its name.

    The last size of `row_type` only estimates the work of a row: `write` determines the lengths of the rows.
    """
    parameters = ["ptr noalias readonly %x", "ptr noalias %y", "ptr noalias readonly %w"]
    routine = PartRoutine(region, parameters)
    *rows, _ = sizes(row_type)
    with routine.out.loop("%first", "%last", unrolled=False) as row:
        write(routine.b, "%x", "%y", row)
    return split_routine(region, parameters, routine, math.prod(rows), _STAGE_COST * math.prod(sizes(row_type)))


def _load_parts(b: ElementWriter, dtype: DType, pointer: str, offset: Position) -> Number:
    """Load a complex number as its parts."""
    element = load(b, dtype, pointer, offset)
    assert isinstance(element, Pair)
    return Number(element.real, element.imag)


def _load_root(b: ElementWriter, dtype: DType, k: Position, size: int) -> Number:
    """Return the real and imaginary part of the root `k` in `%w`, a table of `size` real, then imaginary parts."""
    real = load(b, dtype.real_dtype, "%w", k)
    return Number(real, load(b, dtype.real_dtype, "%w", plus(b.out, k, size)))


def _load_even_and_odd(
    b: ElementWriter, dtype: DType, source: str, offset: Position, pair_count: int, k: str
) -> tuple[Number, Number]:
    """Return the sum and the difference of the number at `k` and the conjugate of the number at `pair_count - k`."""
    out, number = b.out, _load_parts(b, dtype, source, plus(b.out, offset, k))
    mirrored = _load_parts(b, dtype, source, plus(out, plus(out, offset, pair_count), times(out, k, -1)))
    even = Number(number.real + mirrored.real, number.imag - mirrored.imag)
    return even, Number(number.real - mirrored.real, number.imag + mirrored.imag)


def _write_spectrum_from_pairs(
    b: ElementWriter, dtype: DType, pair_count: int, scale: float, source: str, target: str, row: str
) -> None:
    """Compute the spectrum X of 2n real numbers from the transform Z of n pairs of them.

    X[k] = (Z[k] + Z*[n - k]) / 2 - i/2 · w^k · (Z[k] - Z*[n - k]),   w = exp(-iπ / n)

    `pair_count` is n. The results are multiplied by `scale`.
    """
    out = b.out
    source_offset, target_offset = times(out, row, pair_count), times(out, row, pair_count + 1)
    real, imag = _load_parts(b, dtype, source, source_offset)
    zero = b.constant(0.0, real.dtype)
    store(b, b.pair((real + imag) * scale, zero), target, target_offset)
    store(b, b.pair((real - imag) * scale, zero), target, plus(out, target_offset, pair_count))
    with out.loop("1", str(pair_count), unrolled=False) as k:
        even, odd = _load_even_and_odd(b, dtype, source, source_offset, pair_count, k)
        root = _load_root(b, dtype, k, pair_count)
        real = even.real + b.fma(odd.real, root.imag, odd.imag * root.real)
        imag = even.imag + b.fma(odd.imag, root.imag, -(odd.real * root.real))
        store(b, b.pair(real * (0.5 * scale), imag * (0.5 * scale)), target, plus(out, target_offset, k))


def _write_pairs_from_spectrum(
    b: ElementWriter, dtype: DType, pair_count: int, scale: float, source: str, target: str, row: str
) -> None:
    """Compute the transform Z of n pairs of real numbers from the spectrum X of the 2n numbers.

    Z[k] = (X[k] + X*[n - k]) + i · w^k · (X[k] - X*[n - k]),   w = exp(iπ / n)

    `pair_count` is n. Of X[0] and X[n], only the real parts are used. The results are multiplied by `scale`.
    """
    out = b.out
    source_offset, target_offset = times(out, row, pair_count + 1), times(out, row, pair_count)
    first, last = (_load_parts(b, dtype, source, plus(out, source_offset, k)).real for k in (0, pair_count))
    store(b, b.pair((first + last) * scale, (first - last) * scale), target, target_offset)
    with out.loop("1", str(pair_count), unrolled=False) as k:
        even, odd = _load_even_and_odd(b, dtype, source, source_offset, pair_count, k)
        root = _load_root(b, dtype, k, pair_count)
        real = even.real - b.fma(odd.real, root.imag, odd.imag * root.real)
        imag = even.imag + b.fma(odd.real, root.real, -(odd.imag * root.imag))
        store(b, b.pair(real * scale, imag * scale), target, plus(out, target_offset, k))


def _write_axis_transform(
    region: LoweringContext, type_: Any, axis: int, source: str, target: str, is_inverse: bool, norm: str
) -> None:
    """Transform complex numbers at `source` along one axis, and store the results at `target`."""
    shape, dtype = sizes(type_), type_.dtype
    size, column_count = shape[axis], math.prod(shape[axis + 1 :])
    transform = _Transform(dtype, size, 1 if is_inverse else -1, _scale(size, norm, is_inverse))
    if radices(size) is None:
        _write_chirp_transform(region, transform, math.prod(shape[:axis]), column_count, source, target)
        return
    block_columns = min(column_count, max(_MIN_COLUMNS, min(_MAX_COLUMNS, _BLOCK_ELEMENTS // size)))
    while block_columns > 1 and 2 * size * block_columns * dtype.size > MAX_STACK_BYTES:
        block_columns //= 2
    block_count, remaining_columns = divmod(column_count, block_columns)
    for first, count, width in ((0, block_count, block_columns), (block_count * block_columns, 1, remaining_columns)):
        if width:
            blocks, matrix_count = _ColumnBlocks(first, count, width), math.prod(shape[:axis])
            _write_block_transform(region, transform, matrix_count, column_count, blocks, source, target)


@dataclass(frozen=True, slots=True)
class _Transform:
    """A transform of `size` complex numbers: `sign` is that of the exponents, `scale` a factor of the results."""

    dtype: DType
    size: int
    sign: int
    scale: float


class _ColumnBlocks(NamedTuple):
    """Adjacent blocks of columns of a matrix: the first column, the number of blocks, and the columns of each."""

    first: int
    block_count: int
    width: int


def _write_chirp_transform(
    region: LoweringContext, transform: _Transform, matrix_count: int, column_count: int, source: str, target: str
) -> None:  # fmt: skip
    """Transform `matrix_count` matrices of `column_count` columns along an axis whose size has a large prime factor."""
    dtype, size, count = transform.dtype, transform.size, matrix_count * column_count
    convolution_size = chirp_size(size)
    work = 2 * _STAGE_COST * convolution_size * len(radices(convolution_size) or ()) * count
    memory = BufferMemory(region, chirp_bytes(size, dtype), choose_loop_split(count, work))
    parameters = ["ptr noalias readonly %x", "ptr noalias %y", *TABLE_PARAMETERS, *memory.parameters]
    routine = PartRoutine(region, parameters)
    write_chirped_rows(region, routine, dtype, size, column_count, transform.scale, memory.write_address(routine.out))
    name = split_routine(region, parameters, routine, count, work)
    tables = table_addresses(region, size, transform.sign, dtype)
    call(region, name, f"ptr {source}", f"ptr {target}", *tables, *memory.arguments)


def _write_block_transform(
    region: LoweringContext, transform: _Transform, matrix_count: int, column_count: int, blocks: _ColumnBlocks,
    source: str, target: str,
) -> None:  # fmt: skip
    """Transform blocks of columns in each of `matrix_count` matrices of `column_count` columns."""
    dtype, size = transform.dtype, transform.size
    first, count, width = blocks
    real_dtype = dtype.real_dtype
    table = roots_of_unity(size, transform.sign, real_dtype)
    all_stages = stages(size, width, column_count)
    work = _STAGE_COST * size * width * len(all_stages) * matrix_count * count
    memory = BufferMemory(region, stage_bytes(size * width, real_dtype), choose_loop_split(matrix_count * count, work))
    parameters = ["ptr noalias readonly %x", "ptr noalias %y", "ptr noalias readonly %w", *memory.parameters]
    routine = PartRoutine(region, parameters)
    out, address = routine.out, memory.write_address(routine.out)
    stage_calls = StageCalls(region, out, all_stages, real_dtype, transform.sign, transform.scale, address)
    with out.loop("%first", "%last", unrolled=False) as block_number:
        if count == 1:  # the number of a block is that of its matrix
            offset = plus(out, times(out, block_number, size * column_count), first)
        else:
            matrix, number = out.op("udiv", block_number, count), out.op("urem", block_number, count)
            offset = plus(out, plus(out, times(out, matrix, size * column_count), times(out, number, width)), first)
        x, y = (out.gep(memory_type(dtype), name, offset, inbounds=False) for name in ("%x", "%y"))
        stage_calls.write(x, y)
    name = split_routine(region, parameters, routine, matrix_count * count, work)
    roots = region.address(Object(region.body.objects.reference(table)(region.out)))
    call(region, name, f"ptr {source}", f"ptr {target}", f"ptr {roots}", *memory.arguments)
