"""Stages of a mixed-radix Fourier transform by Stockham's algorithm, which needs no reordering; each is a function.

In `size` rows of `width` numbers, the columns are transformed together. A stage of radix r, at which runs of s numbers
are complete, reads the rows p + k·m (m = size / r / earlier radices), k below r. It writes their transform, times the
roots of unity of p, to r·p + k. In between, real and imaginary parts are in separate arrays; the first stage reads
pairs, and the last one writes them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.fft_radices import radices
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.ir.index_arith import Position, plus, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.graph.dtypes import DType

Number = tuple[Element, Element]


@dataclass(frozen=True)
class Stage:
    """A stage of a transform.

    `run` is the length of complete runs, `rows` the m of the module's docstring, `roots` the offset of the roots of
    unity. `stride` is the distance of rows in the arrays of pairs that the first stage reads and the last one writes.
    """

    radix: int
    run: int
    rows: int
    width: int
    stride: int
    roots: int
    is_first: bool
    is_last: bool


def stages(size: int, width: int, stride: int) -> list[Stage]:
    result: list[Stage] = []
    factors = radices(size) or ()
    rows, run, roots = size, width, 0
    for i, radix in enumerate(factors):
        rows //= radix
        result.append(Stage(radix, run, rows, width, stride, roots, i == 0, i == len(factors) - 1))
        roots += 2 * (radix - 1) * rows if rows > 1 else 0
        run *= radix
    return result


@functools.cache
def roots_of_unity(size: int, sign: int, dtype: DType) -> np.ndarray:
    """Return the roots of all stages: for each k from 1 the real parts over p, then the imaginary ones."""
    tables: list[np.ndarray] = []
    for stage in stages(size, 1, 1):
        if stage.rows > 1:
            for k in range(1, stage.radix):
                tables += exact_roots(k * np.arange(stage.rows), stage.rows * stage.radix, sign)
    return np.concatenate([*tables, np.zeros(1)]).astype(dtype.numpy)


@functools.cache
def roots_in_order(size: int, sign: int, dtype: DType) -> np.ndarray:
    """Return the first half of the powers of one root, real parts and then imaginary ones."""
    return np.concatenate(exact_roots(np.arange(max(size // 2, 1)), size, sign)).astype(dtype.numpy)


def exact_roots(numerators: np.ndarray, denominator: int, sign: int) -> list[np.ndarray]:
    """Return real and imaginary parts, each correct to the last bit: angles are reduced to an eighth of the circle."""
    eighths = numerators * 8 % (8 * denominator)
    octant, rest = eighths // denominator, eighths % denominator
    turned = octant % 2 == 1
    angle = np.where(turned, denominator - rest, rest) * (math.pi / 4) / denominator
    sine, cosine = np.sin(angle), np.cos(angle)
    first, second = np.where(turned, sine, cosine), np.where(turned, cosine, sine)
    quarter = octant // 2
    real = np.choose(quarter, [first, -second, -first, second])
    imag = np.choose(quarter, [second, first, -second, -first])
    return [real, sign * imag]


def write_stage(region: LoweringContext, stage: Stage, dtype: DType, sign: int, scale: float) -> str:
    """Return the name of the function of a stage.

    Its parameters are what it reads (pairs, or two arrays), what it writes, and the roots of unity. `dtype` is that of
    the parts; the last stage multiplies its results by `scale`.
    """
    reads = ["ptr noalias readonly %x"] if stage.is_first else [f"ptr noalias readonly %x{part}" for part in "ri"]
    writes = ["ptr noalias %y"] if stage.is_last else [f"ptr noalias %y{part}" for part in "ri"]
    routine = Routine(region, [*reads, *writes, "ptr noalias readonly %w"])
    out, b = routine.out, routine.b

    def one(p: Position, q: Position | tuple[str, str]) -> None:
        numbers = [_read(b, stage, dtype, p, q, k) for k in range(stage.radix)]
        outputs = _butterfly(b, numbers, sign)
        for k, number in enumerate(outputs):
            if k and stage.rows > 1:
                first = plus(out, p, stage.roots + 2 * (k - 1) * stage.rows)
                root = load(b, dtype, "%w", first), load(b, dtype, "%w", plus(out, first, stage.rows))
                number = _product(b, number, root)
            if stage.is_last and scale != 1.0:
                number = number[0] * scale, number[1] * scale
            _write(b, stage, number, p, q, k)

    def columns(p: Position) -> None:
        if stage.run == 1:
            one(p, 0)
        elif stage.is_last and stage.stride != stage.width and not stage.is_first:
            rows, width = str(stage.run // stage.width), str(stage.width)
            with out.loop("0", rows, unrolled=False) as row, out.loop("0", width, unrolled=stage.width < 4) as q:
                one(p, (row, q))
        else:
            with out.loop("0", str(stage.run), unrolled=stage.run < 4) as q:
                one(p, q)

    if stage.rows == 1:
        columns(0)
    else:
        with out.loop("0", str(stage.rows), unrolled=False) as p:
            columns(p)
    return routine.finish()


def _read(b: ElementWriter, stage: Stage, dtype: DType, p: Position, q: Any, k: int) -> Number:
    row = plus(b.out, p, k * stage.rows)
    if stage.is_first:
        place = plus(b.out, times(b.out, row, stage.stride), q)
        kind = b.pair(b.constant(0, dtype), b.constant(0, dtype)).dtype
        element = load(b, kind, "%x", place)
        assert isinstance(element, Pair)
        return element.real, element.imag
    if isinstance(q, tuple):
        q = plus(b.out, times(b.out, q[0], stage.width), q[1])
    place = plus(b.out, times(b.out, row, stage.run), q)
    return load(b, dtype, "%xr", place), load(b, dtype, "%xi", place)


def _write(b: ElementWriter, stage: Stage, number: Number, p: Position, q: Any, k: int) -> None:
    """Store a number; `q` is a row and a column where rows are further apart than they are wide."""
    out = b.out
    if not stage.is_last:
        place = plus(out, times(out, plus(out, times(out, p, stage.radix), k), stage.run), q)
        store(b, number[0], "%yr", place)
        store(b, number[1], "%yi", place)
        return
    row, column = q if isinstance(q, tuple) else (0, q)
    row = plus(out, row, k * (stage.run // stage.width))
    store(b, b.pair(*number), "%y", plus(out, times(out, row, stage.stride), column))


def _add(x: Number, y: Number) -> Number:
    return x[0] + y[0], x[1] + y[1]


def _subtract(x: Number, y: Number) -> Number:
    return x[0] - y[0], x[1] - y[1]


def _times_i(x: Number, sign: int) -> Number:
    """Multiply by i, or by -i."""
    return (-x[1], x[0]) if sign > 0 else (x[1], -x[0])


def _product(b: ElementWriter, x: Number, root: Number) -> Number:
    return b.fma(x[0], root[0], -(x[1] * root[1])), b.fma(x[0], root[1], x[1] * root[0])


def _butterfly(b: ElementWriter, x: Sequence[Number], sign: int) -> list[Number]:
    if len(x) == 2:
        return [_add(*x), _subtract(*x)]
    if len(x) == 4:
        even, odd = _add(x[0], x[2]), _add(x[1], x[3])
        first, second = _subtract(x[0], x[2]), _times_i(_subtract(x[1], x[3]), sign)
        return [_add(even, odd), _add(first, second), _subtract(even, odd), _subtract(first, second)]
    if len(x) == 8:
        return _of_eight(b, x, sign)
    return _of_odd(b, x, sign)


def _of_eight(b: ElementWriter, x: Sequence[Number], sign: int) -> list[Number]:
    even, odd = _butterfly(b, x[::2], sign), _butterfly(b, x[1::2], sign)
    half = math.sqrt(0.5)
    turned = _times_i(odd[1], sign), _times_i(odd[3], sign)
    odd[1] = ((odd[1][0] + turned[0][0]) * half, (odd[1][1] + turned[0][1]) * half)
    odd[3] = ((turned[1][0] - odd[3][0]) * half, (turned[1][1] - odd[3][1]) * half)
    odd[2] = _times_i(odd[2], sign)
    pairs = list(zip(even, odd, strict=True))
    return [_add(*pair) for pair in pairs] + [_subtract(*pair) for pair in pairs]


def _of_odd(b: ElementWriter, x: Sequence[Number], sign: int) -> list[Number]:
    """Transform an odd number of values: sums of symmetric pairs are multiplied by cosines, differences by sines."""
    count = len(x)
    sums = [_add(x[j], x[count - j]) for j in range(1, count // 2 + 1)]
    gaps = [_subtract(x[j], x[count - j]) for j in range(1, count // 2 + 1)]
    whole = x[0]
    for one in sums:
        whole = _add(whole, one)
    result: list[Any] = [whole] + [None] * (count - 1)
    for k in range(1, count // 2 + 1):
        along, across = x[0], (b.constant(0.0, x[0][0].dtype),) * 2
        for j, (total, gap) in enumerate(zip(sums, gaps, strict=True), 1):
            angle = 2 * math.pi * (j * k % count) / count
            along = b.fma(total[0], math.cos(angle), along[0]), b.fma(total[1], math.cos(angle), along[1])
            sine = sign * math.sin(angle)
            across = b.fma(gap[0], sine, across[0]), b.fma(gap[1], sine, across[1])
        turned = _times_i(across, 1)
        result[k], result[count - k] = _add(along, turned), _subtract(along, turned)
    return result
