"""Stages of a mixed-radix Fourier transform by Stockham's algorithm, which needs no reordering.

The columns of `size` rows of `width` numbers are transformed together. Each stage is a function. For a stage of radix
r, let m be the size divided by r and by the earlier radices. The stage reads r·m rows of `run` numbers each, where
`run` is the width times the earlier radices. For each p below m, it reads a group of r rows: p + k·m for all k below r.
It writes their transform, times the roots of unity of p, to rows of the same length: r·p + k for all k below r.

The first stage reads pairs of real and imaginary parts, and the last stage writes such pairs. Between stages, the parts
are in separate arrays.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.llvm.analysis.fft_radices import radices
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.graph.dtypes import DType
from autoconv.lazy_dataclass import dataclass


class Number(NamedTuple):
    """The parts of a complex number, in registers."""

    real: Element
    imag: Element


@dataclass(frozen=True)
class Stage:
    """A stage of a transform.

    `run` is the length of the rows that the stage reads: the width times the earlier radices. `group_count` is the m of
    the module's docstring, `roots_offset` the offset of the stage's roots of unity in their table. `stride` is the
    distance of rows in the arrays of pairs that the first stage reads and the last stage writes.
    """

    radix: int
    run: int
    group_count: int
    width: int
    stride: int
    roots_offset: int
    is_first: bool
    is_last: bool


def stages(size: int, width: int, stride: int) -> list[Stage]:
    """Return the stages of a transform of `size` rows; see Stage for `width` and `stride`."""
    result: list[Stage] = []
    factors = radices(size) or ()
    group_count, run, roots_offset = size, width, 0
    for i, radix in enumerate(factors):
        group_count //= radix
        stage = Stage(
            radix=radix, run=run, group_count=group_count, width=width, stride=stride, roots_offset=roots_offset,
            is_first=i == 0, is_last=i == len(factors) - 1,
        )  # fmt: skip
        result.append(stage)
        roots_offset += 2 * (radix - 1) * group_count if group_count > 1 else 0
        run *= radix
    return result


@functools.cache
def roots_of_unity(size: int, sign: int, dtype: DType) -> np.ndarray:
    """Return the roots of all stages: for each k from 1, the real parts for all p, then the imaginary parts.

    k and p are those of the module's docstring; `dtype` is that of the parts.
    """
    tables: list[np.ndarray] = []
    for stage in stages(size, 1, 1):
        if stage.group_count > 1:
            for k in range(1, stage.radix):
                tables += exact_roots(k * np.arange(stage.group_count), stage.group_count * stage.radix, sign)
    return np.concatenate([*tables, np.zeros(1)]).astype(dtype.numpy)  # never empty, so that it has an address


@functools.cache
def roots_in_order(size: int, sign: int, dtype: DType) -> np.ndarray:
    """Return the first half of the powers of exp(±2πi / size): the real parts, then the imaginary parts."""
    return np.concatenate(exact_roots(np.arange(max(size // 2, 1)), size, sign)).astype(dtype.numpy)


def exact_roots(numerators: np.ndarray, denominator: int, sign: int) -> list[np.ndarray]:
    """Return the real and imaginary parts of exp(±2πi · numerators / denominator).

    Angles are reduced to an eighth of the circle, so that each part is correct to the last bit.
    """
    eighths = numerators * 8 % (8 * denominator)
    octant, remainder = eighths // denominator, eighths % denominator
    is_mirrored = octant % 2 == 1
    angle = np.where(is_mirrored, denominator - remainder, remainder) * (math.pi / 4) / denominator
    sine, cosine = np.sin(angle), np.cos(angle)
    first, second = np.where(is_mirrored, sine, cosine), np.where(is_mirrored, cosine, sine)
    quarter = octant // 2
    real = np.choose(quarter, [first, -second, -first, second])
    imag = np.choose(quarter, [second, first, -second, -first])
    return [real, sign * imag]


def buffer_bytes(count: int, dtype: DType) -> int:
    """Return the bytes of `count` numbers of `dtype`, rounded up to a multiple of 64, a cache line."""
    return -(-count * dtype.size // 64) * 64


def stage_bytes(count: int, dtype: DType) -> int:
    """Return the bytes of the buffers that `StageCalls` needs for `count` numbers with parts of `dtype`."""
    return 4 * buffer_bytes(count, dtype)


class StageCalls:
    """A writer of calls of all stages in sequence; between stages, buffers hold the parts of the numbers.

    `dtype` is that of the parts, `sign` that of the exponents, and `scale` a factor of the results. At `memory` there
    are `stage_bytes` bytes for the buffers.
    """

    def __init__(
        self, region: LoweringContext, out: FunctionText, all_stages: Sequence[Stage], dtype: DType, sign: int,
        scale: float, memory: str,
    ) -> None:  # fmt: skip
        self._out, self._stages = out, all_stages
        self._names = [_write_stage(region, stage, dtype, sign, scale) for stage in all_stages]
        # Two pairs of buffers, which the stages use alternately; a pair holds real and imaginary parts.
        count = all_stages[0].radix * all_stages[0].group_count * all_stages[0].width
        self._buffers = [out.gep("i8", memory, i * buffer_bytes(count, dtype)) for i in range(4)]

    def write(self, x: str, y: str) -> None:
        """Write the calls that transform the numbers at `x` to those at `y`; the roots of unity are at `%w`."""
        sources: Sequence[str] = [x]
        for i, (stage, name) in enumerate(zip(self._stages, self._names, strict=True)):
            buffers = self._buffers[:2] if i % 2 == 0 else self._buffers[2:]
            targets: Sequence[str] = [y] if stage.is_last else buffers
            self._out.call(name, *sources, *targets, "%w")
            sources = targets


def _write_stage(region: LoweringContext, stage: Stage, dtype: DType, sign: int, scale: float) -> str:
    """Write the function of a stage, and return its name.

    Its parameters are the sources (pairs, or two arrays), the targets, and the roots of unity. `dtype` is the dtype of
    the real and imaginary parts; the last stage multiplies its results by `scale`.
    """
    sources = ["%x"] if stage.is_first else ["%xr", "%xi"]
    targets = ["%y"] if stage.is_last else ["%yr", "%yi"]
    source_parameters = [f"ptr noalias readonly {name}" for name in sources]
    target_parameters = [f"ptr noalias {name}" for name in targets]
    routine = Routine(region, [*source_parameters, *target_parameters, "ptr noalias readonly %w"])
    out, b = routine.out, routine.b

    def write_butterfly(p: Position, q: Position | tuple[str, str]) -> None:
        """Transform the numbers at position `q` of the rows of a group, for the p of the module's docstring.

        `q` is a pair (row, column) if the target's rows are not adjacent.
        """
        numbers = [_read(b, stage, dtype, p, q, k) for k in range(stage.radix)]
        outputs = _butterfly(b, numbers, sign)
        for k, number in enumerate(outputs):
            if k and stage.group_count > 1:
                root_offset = plus(out, p, stage.roots_offset + 2 * (k - 1) * stage.group_count)
                imag_offset = plus(out, root_offset, stage.group_count)
                root = Number(load(b, dtype, "%w", root_offset), load(b, dtype, "%w", imag_offset))
                number = _multiply(b, number, root)
            if stage.is_last and scale != 1.0:
                number = Number(number.real * scale, number.imag * scale)
            _write(b, stage, number, p, q, k)

    def write_columns(p: Position) -> None:
        """Write the butterflies of all columns of position `p`."""
        if stage.run == 1:
            write_butterfly(p, 0)
        elif stage.is_last and stage.stride != stage.width and not stage.is_first:
            # A row of `run` numbers becomes several rows of the target, which are not adjacent.
            target_rows, width = str(stage.run // stage.width), str(stage.width)
            with out.loop("0", target_rows, unrolled=False) as row, out.loop("0", width, unrolled=stage.width < 4) as q:
                write_butterfly(p, (row, q))
        else:
            with out.loop("0", str(stage.run), unrolled=stage.run < 4) as q:
                write_butterfly(p, q)

    if stage.group_count == 1:
        write_columns(0)
    else:
        with out.loop("0", str(stage.group_count), unrolled=False) as p:
            write_columns(p)
    return routine.finish()


def _read(b: ElementWriter, stage: Stage, dtype: DType, p: Position, q: Any, k: int) -> Number:
    """Load the number `k` of a butterfly; `p` and `q` are as in `write_butterfly`."""
    row = plus(b.out, p, k * stage.group_count)
    if stage.is_first:
        offset = plus(b.out, times(b.out, row, stage.stride), q)
        pair_dtype = b.pair(b.constant(0, dtype), b.constant(0, dtype)).dtype
        element = load(b, pair_dtype, "%x", offset)
        assert isinstance(element, Pair)
        return Number(element.real, element.imag)
    if isinstance(q, tuple):
        q = plus(b.out, times(b.out, q[0], stage.width), q[1])
    offset = plus(b.out, times(b.out, row, stage.run), q)
    return Number(load(b, dtype, "%xr", offset), load(b, dtype, "%xi", offset))


def _write(b: ElementWriter, stage: Stage, number: Number, p: Position, q: Any, k: int) -> None:
    """Store the result `k` of a butterfly; `p` and `q` are as in `write_butterfly`."""
    out = b.out
    if not stage.is_last:
        offset = plus(out, times(out, plus(out, times(out, p, stage.radix), k), stage.run), q)
        store(b, number.real, "%yr", offset)
        store(b, number.imag, "%yi", offset)
        return
    row, column = q if isinstance(q, tuple) else (0, q)
    row = plus(out, row, k * (stage.run // stage.width))
    store(b, b.pair(*number), "%y", plus(out, times(out, row, stage.stride), column))


def _add(x: Number, y: Number) -> Number:
    return Number(x.real + y.real, x.imag + y.imag)


def _subtract(x: Number, y: Number) -> Number:
    return Number(x.real - y.real, x.imag - y.imag)


def _times_i(x: Number, sign: int) -> Number:
    """Multiply by i if `sign` is positive, else by -i."""
    return Number(-x.imag, x.real) if sign > 0 else Number(x.imag, -x.real)


def _multiply(b: ElementWriter, x: Number, root: Number) -> Number:
    real = b.fma(x.real, root.real, -(x.imag * root.imag))
    return Number(real, b.fma(x.real, root.imag, x.imag * root.real))


def _multiply_add(b: ElementWriter, x: Number, factor: float, addend: Number) -> Number:
    """Return the product of a complex and a real number, plus `addend`."""
    return Number(b.fma(x.real, factor, addend.real), b.fma(x.imag, factor, addend.imag))


def _butterfly(b: ElementWriter, x: Sequence[Number], sign: int) -> list[Number]:
    """Return the transform of as many numbers as the radix of a stage: 2, 4, 8 or an odd number."""
    if len(x) == 2:
        return [_add(*x), _subtract(*x)]
    if len(x) == 4:
        even, odd = _add(x[0], x[2]), _add(x[1], x[3])
        first, second = _subtract(x[0], x[2]), _times_i(_subtract(x[1], x[3]), sign)
        return [_add(even, odd), _add(first, second), _subtract(even, odd), _subtract(first, second)]
    if len(x) == 8:
        return _butterfly_of_8(b, x, sign)
    return _butterfly_of_odd(b, x, sign)


def _butterfly_of_8(b: ElementWriter, x: Sequence[Number], sign: int) -> list[Number]:
    """Transform 8 numbers: two transforms of 4, joined by the eighth roots of unity."""
    even, odd = _butterfly(b, x[::2], sign), _butterfly(b, x[1::2], sign)
    root_of_half = math.sqrt(0.5)
    sum_of_1 = _add(odd[1], _times_i(odd[1], sign))
    difference_of_3 = _subtract(_times_i(odd[3], sign), odd[3])
    odd[1] = Number(sum_of_1.real * root_of_half, sum_of_1.imag * root_of_half)
    odd[3] = Number(difference_of_3.real * root_of_half, difference_of_3.imag * root_of_half)
    odd[2] = _times_i(odd[2], sign)
    pairs = list(zip(even, odd, strict=True))
    return [_add(*pair) for pair in pairs] + [_subtract(*pair) for pair in pairs]


def _butterfly_of_odd(b: ElementWriter, x: Sequence[Number], sign: int) -> list[Number]:
    """Transform an odd number of values.

    Sums of the pairs at j and count - j are multiplied by cosines, differences by sines.
    """
    count = len(x)
    sums = [_add(x[j], x[count - j]) for j in range(1, count // 2 + 1)]
    differences = [_subtract(x[j], x[count - j]) for j in range(1, count // 2 + 1)]
    first_output = x[0]
    for pair_sum in sums:
        first_output = _add(first_output, pair_sum)
    result: list[Any] = [first_output] + [None] * (count - 1)
    for k in range(1, count // 2 + 1):
        zero = b.constant(0.0, x[0].real.dtype)
        cosine_part, sine_part = x[0], Number(zero, zero)
        for j, (total, difference) in enumerate(zip(sums, differences, strict=True), 1):
            angle = 2 * math.pi * (j * k % count) / count
            cosine = math.cos(angle)
            cosine_part = _multiply_add(b, total, cosine, cosine_part)
            sine = sign * math.sin(angle)
            sine_part = _multiply_add(b, difference, sine, sine_part)
        rotated_part = _times_i(sine_part, 1)
        result[k], result[count - k] = _add(cosine_part, rotated_part), _subtract(cosine_part, rotated_part)
    return result
