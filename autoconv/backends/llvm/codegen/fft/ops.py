"""Lower Fourier transforms of constant sizes; long ones run by their kernels.

The size is constant, and so are the stages and the roots of unity. Along the last dimension each row is transformed by
itself; along another one, as many adjacent columns at once as fit into the processor's cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.backends.llvm.analysis.fft_radices import chirp_size, radices
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.fft.chirp import TABLES, tables, write_chirped_rows
from autoconv.backends.llvm.codegen.fft.stockham import roots_in_order, roots_of_unity, stages, write_stage
from autoconv.backends.llvm.codegen.registry import complex_native
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, partitioned_routine
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, Position, linear_offset, plus, times
from autoconv.backends.llvm.ir.nested_loops import loops
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_MOST = 1 << 18  # bytes of a thread's memory between stages
_BLOCK = 4096  # numbers in the columns that are transformed together,
_FEWEST = 8  # with at least so many columns,
_MOST_COLUMNS = 64  # and at most
_CHIRP_ROWS = 4  # memory of a transform by a chirp, by that of another
_WORK = 6  # cost of a number in a stage, in units of 0.05 ns


def _sizes_along(node: Node) -> list[int]:
    shape = sizes(node.inputs[0].type)
    return [shape[axis] for axis in node.attributes.get("axes", (-1,))]


def _is_native_transform(node: Node) -> bool:
    shape = sizes(node.inputs[0].type)
    if 0 in shape or not shape:
        return False
    return all(is_known(size, node.inputs[0].dtype) for size in _sizes_along(node))


def is_known(size: int, dtype: DType) -> bool:
    """Return whether transforms of that size are native."""
    return 2 * (size if radices(size) is not None else _CHIRP_ROWS * size) * dtype.size <= _MOST


@complex_native("fft", "ifft", fits=_is_native_transform, library=True)
def write_fft(region: LoweringContext, node: Node) -> None:
    (x,), (result,) = node.inputs, node.results
    inverse = node.op.name == "ifft"
    shape, norm = sizes(x.type), node.attributes.get("norm", "backward")
    axes = [axis % len(shape) for axis in node.attributes.get("axes", (-1,)) if shape[axis] > 1]
    source, copy = region.data(x), region.new_array(result.type)
    if not axes:
        region.out.copy(region.address(copy), source, math.prod(shape) * x.dtype.size)
    for axis in reversed(axes):
        _transform_axis(region, x.type, axis, source, region.address(copy), inverse, norm)
        source, last = region.address(copy), copy
        if axis != axes[0]:
            region.drop_later(last, result.type)
            copy = region.new_array(result.type)
    region.set(result, copy)
    if axes:
        _ask_for_numbers(region, node, axes)


def _is_halved(real: Any, dtype: DType) -> bool:
    """Return whether real rows of that length are transformed as rows of half as many complex numbers."""
    return real % 2 == 0 and real > 0 and is_known(real // 2, dtype)


def _fits_real(node: Node) -> bool:
    (x,), (result,) = node.inputs, node.results
    shape, real = sizes(x.type), result if node.op.name == "irfft" else x
    if 0 in shape or 0 in sizes(result.type):
        return False
    size = sizes(real.type)[-1]
    whole = x.dtype if node.op.name == "irfft" else result.dtype
    if node.op.name == "rfft":
        return _is_halved(size, whole) or is_known(size, whole)
    return _is_halved(size, whole) and shape[-1] == size // 2 + 1


@complex_native("rfft", fits=_fits_real, library=True)
def write_rfft(region: LoweringContext, node: Node) -> None:
    """Transform pairs of neighbours as complex numbers, and separate the transforms of even and odd elements."""
    (x,), (result,) = node.inputs, node.results
    kind: Any = result.type
    *rows, size = sizes(x.type)
    if not _is_halved(size, kind.dtype):
        _rfft_as_complex(region, node)
        return
    half = TensorType(kind.dtype, (*rows, size // 2))
    spectrum, between = region.new_array(kind), region.new_array(half)
    scale = float(size) ** -{"backward": 0.0, "forward": 1.0, "ortho": 0.5}[node.attributes.get("norm", "backward")]
    if size > 2:
        _transform_axis(region, half, len(rows), region.data(x), region.address(between), False, "backward")
        source = region.address(between)
    else:
        source = region.data(x)
    name = _rows(region, half, lambda b, x, y, w: _split_half_spectrum(b, kind.dtype, size // 2, scale, x, y, w))
    _call_with_roots(region, name, source, region.address(spectrum), size, -1, kind.dtype)
    region.drop_later(between, half)
    region.set(result, spectrum)
    _ask_for_numbers(region, node, [len(rows)])


@complex_native("irfft", fits=_fits_real, library=True)
def write_irfft(region: LoweringContext, node: Node) -> None:
    (x,), (result,) = node.inputs, node.results
    given: Any = x.type
    *rows, size = sizes(result.type)
    half = TensorType(given.dtype, (*rows, size // 2))
    spectrum, between = region.new_array(result.type), region.new_array(half)
    scale = float(size) ** -{"backward": 1.0, "forward": 0.0, "ortho": 0.5}[node.attributes.get("norm", "backward")]
    name = _rows(region, half, lambda b, x, y, w: _merge_half_spectrum(b, given.dtype, size // 2, scale, x, y, w))
    target = region.address(between if size > 2 else spectrum)
    _call_with_roots(region, name, region.data(x), target, size, 1, given.dtype)
    if size > 2:
        _transform_axis(region, half, len(rows), target, region.address(spectrum), True, "forward")
    region.drop_later(between, half)
    region.set(result, spectrum)
    _ask_for_numbers(region, node, [len(rows)])


def _rfft_as_complex(region: LoweringContext, node: Node) -> None:
    """Transform rows as complex numbers, and keep the first half of each."""
    (x,), (result,) = node.inputs, node.results
    dtype, norm = result.dtype, node.attributes.get("norm", "backward")
    *rows, size = sizes(x.type)
    whole = TensorType(dtype, (*rows, size))
    given, between, made = region.new_array(whole), region.new_array(whole), region.new_array(result.type)

    def widen(b: ElementWriter, source: str, target: str, row: str) -> None:
        with b.out.loop("0", str(size), unrolled=False) as k:
            place = plus(b.out, times(b.out, row, size), k)
            number = load(b, dtype.real_dtype, source, place)
            store(b, b.pair(number, b.constant(0.0, number.dtype)), target, place)

    def cut(b: ElementWriter, source: str, target: str, row: str) -> None:
        with b.out.loop("0", str(size // 2 + 1), unrolled=False) as k:
            element = load(b, dtype, source, plus(b.out, times(b.out, row, size), k))
            store(b, element, target, plus(b.out, times(b.out, row, size // 2 + 1), k))

    _copy_rows(region, whole, widen, region.data(x), region.address(between if size == 1 else given))
    if size > 1:
        _transform_axis(region, whole, len(rows), region.address(given), region.address(between), False, norm)
    _copy_rows(region, whole, cut, region.address(between), region.address(made))
    for one in (given, between):
        region.drop_later(one, whole)
    region.set(result, made)
    _ask_for_numbers(region, node, [len(rows)])


def _copy_rows(
    region: LoweringContext, whole: TensorType, write: Callable[[ElementWriter, str, str, str], None], source: str,
    target: str,
) -> None:  # fmt: skip
    """Run `write` for each row."""
    call(region, _rows(region, whole, write), f"ptr {source}", f"ptr {target}", f"ptr {source}")


def _ask_for_numbers(region: LoweringContext, node: Node, axes: Sequence[int]) -> None:
    """Replace the result by the kernel's where the sum of transformed numbers is not finite.

    Which elements are nan or infinite then depends on the order of the computation.
    """
    (result,) = node.results
    shape, b, out = sizes(result.type), RegisterWriter(region), region.out
    data, flag = region.data(result), out.alloca("i8")
    out.store("i8", 0, flag)

    def check(index: Index) -> None:
        sums = load(b, result.dtype, data, linear_offset(out, index, shape))
        for part in (sums.real, sums.imag) if isinstance(sums, Pair) else (sums,):
            is_wrong = out.cast("zext", out.not_((part - part).same(0).ir), "i8")
            out.store("i8", out.op("or", out.load("i8", flag), is_wrong), flag)

    loops(out, [1 if axis in axes else size for axis, size in enumerate(shape)], check)
    region.call_kernel_if(node, out.icmp("ne", out.load("i8", flag), 0))


def _call_with_roots(
    region: LoweringContext, name: str, source: str, target: str, size: int, sign: int, dtype: DType
) -> None:
    table = roots_in_order(size, sign, dtype.real_dtype)
    roots = region.address(Object(region.body.calls.object(table)(region.out)))
    call(region, name, f"ptr {source}", f"ptr {target}", f"ptr {roots}")


def _rows(region: LoweringContext, half: TensorType, write: Callable[[ElementWriter, str, str, str], None]) -> str:
    """Return a function that runs `write(b, x, y, row)` for each row.

    A row has n complex numbers on one side and n + 1 on the other; `write` defines which.
    """
    arguments = ["ptr noalias readonly %x", "ptr noalias %y", "ptr noalias readonly %w"]
    body = Routine(region, [*arguments, *PART], "i1")
    *rows, _ = sizes(half)
    with body.out.loop("%first", "%last", unrolled=False) as row:
        write(body.b, "%x", "%y", row)
    return partitioned_routine(region, arguments, body, math.prod(rows), _WORK * math.prod(sizes(half)))


def _number(b: ElementWriter, dtype: DType, pointer: str, offset: Position) -> tuple[Element, Element]:
    element = load(b, dtype, pointer, offset)
    assert isinstance(element, Pair)
    return element.real, element.imag


def _root(b: ElementWriter, dtype: DType, k: Position, size: int) -> tuple[Element, Element]:
    return load(b, dtype.real_dtype, "%w", k), load(b, dtype.real_dtype, "%w", plus(b.out, k, size))


def _even_and_odd(b: ElementWriter, dtype: DType, x: str, before: Position, size: int, k: str) -> tuple[Any, Any]:
    """Return the sum and the difference of the number at `k` and the conjugate of the one at `size - k`."""
    out = b.out
    one = _number(b, dtype, x, plus(out, before, k))
    other = _number(b, dtype, x, plus(out, plus(out, before, size), times(out, k, -1)))
    return (one[0] + other[0], one[1] - other[1]), (one[0] - other[0], one[1] + other[1])


def _split_half_spectrum(b: ElementWriter, dtype: DType, size: int, scale: float, x: str, y: str, row: str) -> None:
    """X[k] = (Z[k] + Z*[n - k]) / 2 - i/2 · w^k · (Z[k] - Z*[n - k]) for the n numbers Z."""
    out = b.out
    before, after = times(out, row, size), times(out, row, size + 1)
    real, imag = _number(b, dtype, x, before)
    zero = b.constant(0.0, real.dtype)
    store(b, b.pair((real + imag) * scale, zero), y, after)
    store(b, b.pair((real - imag) * scale, zero), y, plus(out, after, size))
    with out.loop("1", str(size), unrolled=False) as k:
        even, odd = _even_and_odd(b, dtype, x, before, size, k)
        root = _root(b, dtype, k, size)
        first_pair = (
            even[0] + b.fma(odd[0], root[1], odd[1] * root[0]),
            even[1] + b.fma(odd[1], root[1], -(odd[0] * root[0])),
        )
        store(b, b.pair(first_pair[0] * (0.5 * scale), first_pair[1] * (0.5 * scale)), y, plus(out, after, k))


def _merge_half_spectrum(b: ElementWriter, dtype: DType, size: int, scale: float, x: str, y: str, row: str) -> None:
    """Z[k] = (X[k] + X*[n - k]) + i · w^k · (X[k] - X*[n - k]); only the real parts of the first and last X count."""
    out = b.out
    before, after = times(out, row, size + 1), times(out, row, size)
    first, last = (_number(b, dtype, x, plus(out, before, k))[0] for k in (0, size))
    store(b, b.pair((first + last) * scale, (first - last) * scale), y, after)
    with out.loop("1", str(size), unrolled=False) as k:
        even, odd = _even_and_odd(b, dtype, x, before, size, k)
        root = _root(b, dtype, k, size)
        second_pair = (
            even[0] - b.fma(odd[0], root[1], odd[1] * root[0]),
            even[1] + b.fma(odd[0], root[0], -(odd[1] * root[1])),
        )
        store(b, b.pair(second_pair[0] * scale, second_pair[1] * scale), y, plus(out, after, k))


def _transform_axis(
    region: LoweringContext, type_: Any, axis: int, source: str, target: str, inverse: bool, norm: str
) -> None:
    shape, dtype = sizes(type_), type_.dtype
    size, inner = shape[axis], math.prod(shape[axis + 1 :])
    power = {"backward": float(inverse), "forward": float(not inverse), "ortho": 0.5}[norm]
    scale = float(size) ** -power
    transform = _Transform(dtype, size, 1 if inverse else -1, scale)
    if radices(size) is None:
        _transform_by_chirp(region, transform, math.prod(shape[:axis]), inner, source, target)
        return
    columns = min(inner, max(_FEWEST, min(_MOST_COLUMNS, _BLOCK // size)))
    while columns > 1 and 2 * size * columns * dtype.size > _MOST:
        columns //= 2
    for first, count, width in ((0, inner // columns, columns), (inner // columns * columns, 1, inner % columns)):
        if width:
            _transform_blocks(region, transform, math.prod(shape[:axis]), inner, (first, count, width), source, target)


@dataclass(frozen=True, slots=True)
class _Transform:
    """A transform of `size` numbers; `sign` is that of the exponents, and the results are multiplied by `scale`."""

    dtype: DType
    size: int
    sign: int
    scale: float


def _transform_by_chirp(
    region: LoweringContext, transform: _Transform, outer: int, inner: int, source: str, target: str
) -> None:  # fmt: skip
    """Transform along an axis whose size has a large prime factor, in `outer` matrices of `inner` columns."""
    dtype, size = transform.dtype, transform.size
    arguments = ["ptr noalias readonly %x", "ptr noalias %y", *TABLES]
    body = Routine(region, [*arguments, *PART], "i1")
    write_chirped_rows(region, body, dtype, size, inner, transform.scale)
    whole = chirp_size(size)
    work = 2 * _WORK * whole * len(radices(whole) or ()) * outer * inner
    name = partitioned_routine(region, arguments, body, outer * inner, work)
    call(region, name, f"ptr {source}", f"ptr {target}", *tables(region, size, transform.sign, dtype))


def _transform_blocks(
    region: LoweringContext, transform: _Transform, outer: int, inner: int, block: tuple[int, int, int], source: str,
    target: str,
) -> None:  # fmt: skip
    """Transform `count` blocks of `width` columns from column `first` on, in `outer` matrices of `inner` columns."""
    dtype, size = transform.dtype, transform.size
    first, count, width = block
    part = dtype.real_dtype
    table = roots_of_unity(size, transform.sign, part)
    arguments = ["ptr noalias readonly %x", "ptr noalias %y", "ptr noalias readonly %w"]
    body = Routine(region, [*arguments, *PART], "i1")
    out = body.out
    steps = stages(size, width, inner)
    names = [write_stage(region, stage, part, transform.sign, transform.scale) for stage in steps]
    between = [out.alloca(f"[{size * width * part.size} x i8], align 64") for _ in range(4 if len(steps) > 1 else 0)]
    with out.loop("%first", "%last", unrolled=False) as number:
        if count == 1 or inner == 1:
            offset = plus(out, times(out, number, size * inner), first)
        else:
            matrix, column = out.op("udiv", number, count), out.op("urem", number, count)
            offset = plus(out, plus(out, times(out, matrix, size * inner), times(out, column, width)), first)
        x, y = (out.gep(memory(dtype), name, offset, inbounds=False) for name in ("%x", "%y"))
        sources: Sequence[str] = [x]
        for i, (stage, name) in enumerate(zip(steps, names, strict=True)):
            targets: Sequence[str] = [y] if stage.is_last else between[:2] if i % 2 == 0 else between[2:]
            out.call(name, *sources, *targets, "%w")
            sources = targets
    work = _WORK * size * width * len(steps) * outer * count
    name = partitioned_routine(region, arguments, body, outer * count, work)
    roots = region.address(Object(region.body.calls.object(table)(region.out)))
    call(region, name, f"ptr {source}", f"ptr {target}", f"ptr {roots}")
