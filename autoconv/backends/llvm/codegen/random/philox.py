"""Counter-based random numbers: Philox's words for a key, and distributions made from them; `ops.py` lowers the ops.

The words, and the order in which they are used, are those of `ops.random.bits`. Uniform numbers and integers are
equal to the last bit. Normal numbers are computed by native functions, so they are equal within rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.routine import PART, Routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import memory
from autoconv.backends.llvm.schedule.partition import MOST_PARTS, Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, float32, float64, int32, int64, uint32, uint64
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.random.bits import MIN_UNIFORM, PRECISION, RESERVED, TRUNCATION, words_of_pair
from autoconv.ops.random.philox import MULTIPLIERS, ROUNDS, WEYL

_CHUNK = 512  # numbers that are drawn before they are transformed; a multiple of the four words of a block
_SPLIT = 1 << 16  # numbers from which threads share the work
_KEY_NAMES = ("%key", "%low", "%high")
_MASK = (1 << 32) - 1


def _i64_parameters(*names: str) -> list[str]:
    """Return parameters of 64 bits."""
    return [f"i64 {name}" for name in names]


# ---- words


def philox(module: ModuleText) -> str:
    """Return the name of the function that writes four words for each of `blocks` blocks from number `block` on."""
    parameters = ["ptr noalias %bits", *_i64_parameters("%block", "%blocks", *_KEY_NAMES)]
    out = FunctionText(module, Signature("void", parameters))
    with out.loop("0", "%blocks") as i:
        counted = out.op("add", out.op("add", "%block", i), "%low")
        carry = out.cast("zext", out.icmp("ult", counted, "%low"), "i64")
        upper = out.op("add", "%high", carry)
        words = [out.op("and", counted, _MASK), out.op("lshr", counted, 32)]
        words += [out.op("and", upper, _MASK), out.op("lshr", upper, 32)]
        keys = [out.op("and", "%key", _MASK), out.op("lshr", "%key", 32)]
        for turn in range(ROUNDS):
            if turn:
                sums = (out.op("add", key, step) for key, step in zip(keys, WEYL, strict=True))
                keys = [out.op("and", key, _MASK) for key in sums]
            products = [out.op("mul", words[2 * half], factor) for half, factor in enumerate(MULTIPLIERS)]
            first, second = (out.op("lshr", product, 32) for product in products)
            words = [
                out.op("xor", out.op("xor", second, words[1]), keys[0]), out.op("and", products[1], _MASK),
                out.op("xor", out.op("xor", first, words[3]), keys[1]), out.op("and", products[0], _MASK),
            ]  # fmt: skip
        place = out.op("shl", i, 2)
        for lane, word in enumerate(words):
            out.store("i32", out.cast("trunc", word, "i32"), out.gep("i32", "%bits", out.op("add", place, lane)))
    out.ret()
    return out.finish("philox")


class _Writer(ElementWriter):
    """Write angles and logarithms, whose arguments are always in range."""

    in_loop = True

    def mark_rare(self, condition: Element) -> None: ...


# ---- distributions


class _Draw:
    """A function over the numbers from `%first` to `%last`, in chunks.

    `bits(position)` returns the address of a chunk's words, `each` for a number. `finish` returns a function that runs
    it on several threads, where that is worth it.
    """

    def __init__(self, region: LoweringContext, dtype: DType, each: int = 1, extra: Sequence[str] = ()) -> None:
        self.parameters = ["ptr noalias %result", *_i64_parameters("%count", *_KEY_NAMES, *extra)]
        self._region = region
        self._body = Routine(region, [*self.parameters, *PART], "i1")
        self.out = self._body.out
        self.b = _Writer(self.out)
        self.dtype = dtype
        self.each = each
        self.philox = philox(self._body.module)

    def bits(self, position: str) -> str:
        """Return the address of the words from that position on, a multiple of a chunk, as many as a chunk has."""
        out, size = self.out, _CHUNK * self.each
        buffer = out.alloca(f"[{size} x i32]")
        block = out.op("lshr", out.mul(position, self.each), 2)
        out.call(self.philox, buffer, block, size // 4, *_KEY_NAMES)
        return buffer

    def word_pair(self, bits: str, i: str) -> Element:
        """Return the words of a number as an integer of 64 bits, the first in its lower half."""
        if self.each == 1:
            return self._word(bits, i)
        low, high = (self._word(bits, self.out.add(self.out.mul(i, 2), half)) for half in range(2))
        return low | self.b.bits("shl", high, 32)

    def _word(self, bits: str, i: str) -> Element:
        return self.b.cast(load(self.b, uint32, bits, i), uint64)

    def fraction(self, bits: str, first: str, dtype: DType) -> Element:
        """Return a number in [0, 1) from the lower bits of a word, or of a pair for float64."""
        b, precision = self.b, PRECISION[dtype.name]
        if dtype is not float64:
            word = b.wrap(int32, load(b, uint32, bits, first).ir)
            return b.cast(word & ((1 << precision) - 1), float32) * 2.0**-precision
        upper = self._word(bits, first) & ((1 << (precision - 32)) - 1)
        whole = b.bits("shl", upper, 32) | self._word(bits, self.out.add(first, 1))
        return b.cast(b.wrap(int64, whole.ir), float64) * 2.0**-precision

    def normal_pair(self, bits: str, first: str) -> tuple[Element, Element]:
        """Apply Box and Muller's transform to the words from `first` on; each step is rounded but for float64."""
        b, double = self.b, self.dtype is float64
        kind = float64 if double else float32
        one, other = (self.fraction(bits, self.out.add(first, k * (2 if double else 1)), kind) for k in range(2))
        least = MIN_UNIFORM if double else float(np.float32(MIN_UNIFORM))
        wide = b.cast(b.select(one < least, b.constant(least, kind), one), float64)
        radius = b.intrinsic("sqrt", b.cast(ELEMENTS["log"](b, wide), kind) * -2.0)
        angle = b.cast(b.cast(b.cast(other, float64) * (2.0 * math.pi), kind), float64)
        sine, cosine = (b.cast(ELEMENTS[wave](b, angle), kind) for wave in ("sin", "cos"))
        return sine * radius, cosine * radius

    def chunks(self, write: Callable[[str, str], None]) -> None:
        """Run `write(start, length)` for each chunk of the part."""
        out = self.out
        with out.loop("%first", "%last") as number:
            start = out.mul(number, _CHUNK)
            left = out.sub("%count", start)
            write(start, out.select(out.icmp("slt", left, _CHUNK), left, _CHUNK))

    def put(self, element: Element, place: str) -> None:
        store(self.b, self.b.cast(element, self.dtype), "%result", place)

    def finish(self, count: Position) -> str:
        """Return the name of the function. `count` is the number that is drawn, or 0 if it is unknown."""
        body = self._body.finish("ret i1 false")
        whole = Routine(self._region, self.parameters)
        out = whole.out
        if isinstance(count, int) and count >= _SPLIT and current_target().has_pool:
            chunks = -(-count // _CHUNK)
            step = -(-chunks // MOST_PARTS)
            run_split(Split(None, chunks, step), whole.module, out, body, self.parameters, False)
        else:
            number = out.op("udiv", out.op("add", "%count", _CHUNK - 1), _CHUNK)
            if isinstance(count, str) and current_target().has_pool:
                split = Split(None, number, None, ("%count",), 1, part=_SPLIT // MOST_PARTS, least=_SPLIT)
                run_split(split, whole.module, out, body, self.parameters, False)
                return whole.finish()
            out.call(body, *(parameter.name for parameter in out.signature.parameters), 0, 0, number)
        return whole.finish()


def _each_number(out: FunctionText, start: str, length: str, write: Callable[[str, str], None]) -> None:
    """Run `write(i, place)` for each number of a chunk."""
    with out.loop("0", length) as i:
        write(i, out.add(start, i))


def uniform(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw multiples of 2 to the minus precision in [0, 1)."""
    draw = _Draw(region, dtype, 2 if dtype is float64 else 1)

    def chunk(start: str, length: str) -> None:
        bits = draw.bits(start)
        _each_number(
            draw.out, start, length,
            lambda i, place: draw.put(draw.fraction(bits, draw.out.mul(i, draw.each), dtype), place),
        )  # fmt: skip

    draw.chunks(chunk)
    return draw.finish(count)


def gaussian(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw normal numbers in pairs, by way of an array for a chunk: the last pair may have one number."""
    draw = _Draw(region, dtype, 2 if dtype is float64 else 1)
    out, b = draw.out, draw.b
    kind = float64 if dtype is float64 else float32
    numbers = out.alloca(f"[{_CHUNK} x {memory(kind)}]")

    def chunk(start: str, length: str) -> None:
        bits = draw.bits(start)
        with out.loop("0", out.op("lshr", out.op("add", length, 1), 1)) as i:
            place = out.mul(i, 2)
            for k, number in enumerate(draw.normal_pair(bits, out.mul(place, draw.each))):
                store(b, number, numbers, out.add(place, k))
        _each_number(out, start, length, lambda i, place: draw.put(load(b, kind, numbers, i), place))

    draw.chunks(chunk)
    return draw.finish(count)


def integers(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw `%least` plus the remainder of the words by `%range`."""
    draw = _Draw(region, dtype, 2 if dtype.size == 8 else 1, ["%least", "%range"])
    out, b = draw.out, draw.b
    low, range_ = b.wrap(uint64, "%least"), b.wrap(uint64, "%range")

    def chunk(start: str, length: str) -> None:
        bits = draw.bits(start)

        def write_quick_remainders() -> None:
            """Compute the remainders without a division; a second step corrects the error of the float quotient."""
            inverse, signed_range = 1.0 / b.cast(range_, float64), b.wrap(int64, "%range")

            def remainder(x: Element) -> Element:
                quotient = b.convert("fptoui", b.cast(x, float64) * inverse, uint64)
                rest = b.wrap(int64, (x - quotient * range_).ir)
                again = b.intrinsic("floor", b.cast(rest, float64) * inverse)
                rest = rest - b.convert("fptosi", again, int64) * signed_range
                rest = b.select(rest < 0, rest + signed_range, rest)
                return b.wrap(uint64, b.select(rest >= signed_range, rest - signed_range, rest).ir)

            write(remainder)

        def write(remainder: Callable[[Element], Element]) -> None:
            _each_number(out, start, length, lambda i, place: draw.put(low + remainder(draw.word_pair(bits, i)), place))

        small = b.compare("lt", range_, 1 << 32) & b.compare("gt", range_, 1)
        out.either(small.ir, write_quick_remainders, lambda: write(lambda x: b.remainder(x, range_)))

    draw.chunks(chunk)
    return draw.finish(count)


def bits(region: LoweringContext, dtype: DType, count: Position) -> str:
    draw = _Draw(region, dtype, 2 if dtype.size == 8 else 1)

    def chunk(start: str, length: str) -> None:
        words = draw.bits(start)
        _each_number(draw.out, start, length, lambda i, place: draw.put(draw.word_pair(words, i), place))

    draw.chunks(chunk)
    return draw.finish(count)


def group_size(dtype: DType) -> int:
    """Return how many normal numbers a block of words makes."""
    return 8 // words_of_pair(dtype)


def draw_truncated(region: LoweringContext, dtype: DType, groups: Position) -> str:
    """Draw normal numbers without those beyond two standard deviations, `%wanted` in all.

    `%count` is the number of groups, which are as large as what a block makes. A group has a range of blocks of its
    own, from which it takes the first numbers that are near enough.
    """
    draw = _Draw(region, dtype, 1, ["%wanted"])
    out, b, size = draw.out, draw.b, group_size(dtype)
    words, filled, turn = out.alloca("[4 x i32]"), out.alloca("i64"), out.alloca("i64")

    def group(i: str, place: str) -> None:
        begin, block = out.mul(place, size), out.mul(place, RESERVED * size // 4)
        out.store("i64", 0, filled)
        out.store("i64", 0, turn)
        again, done = out.label("again"), out.label("complete")
        out.branch(again)
        out.begin(again)
        number = out.load("i64", turn)
        out.call(draw.philox, words, out.op("add", block, number), 1, *_KEY_NAMES)
        out.store("i64", out.op("add", number, 1), turn)
        for first in range(0, 4, words_of_pair(dtype)):
            for found in draw.normal_pair(words, str(first)):
                keep(found, begin)
        out.branch_if(out.icmp("slt", out.load("i64", filled), size), again, done)
        out.begin(done)

    def keep(found: Element, begin: str) -> None:
        have = b.wrap(int64, out.load("i64", filled))
        near = b.compare("lt", b.intrinsic("fabs", found), TRUNCATION) & (have < size)
        at = b.wrap(int64, begin) + have
        inside = near & (at < b.wrap(int64, "%wanted"))
        out.either(inside.ir, lambda: draw.put(found, at.ir), lambda: None)
        out.store("i64", (have + b.cast(near, int64)).ir, filled)

    draw.chunks(lambda start, length: _each_number(out, start, length, group))
    return draw.finish(groups)
