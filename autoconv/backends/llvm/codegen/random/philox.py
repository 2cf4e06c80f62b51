"""Native functions that draw counter-based random numbers: Philox's words for a key, and distributions from the words.

Words, and the order of their use, are those of `ops.random.bits`. Uniform numbers and integers equal those of the
kernels to the last bit, and normal numbers within rounding, because elementary functions are native. `ops.py` lowers
the ops. A block is four words of 32 bits; the state of a draw is a key and a counter in two halves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.parallel.partitioned import call_parts
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.backends.llvm.schedule.partition import MAX_PARTS, Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, float32, float64, int32, int64, uint32, uint64
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.random.bits import MIN_UNIFORM, PRECISION, RESERVED_WORDS, TRUNCATION, words_per_normal_pair
from autoconv.ops.random.philox import BLOCK_WORDS, MULTIPLIERS, ROUNDS, WEYL

_CHUNK_NUMBERS = 512  # numbers whose words are drawn at once; a multiple of the words of a block
_MIN_SHARED_COUNT = 1 << 16  # fewest numbers of a draw that threads share
STATE_NAMES = ("%key", "%counter_low", "%counter_high")
_LOW_HALF = (1 << 32) - 1


def _i64_parameters(*names: str) -> list[str]:
    """Return the named parameters, of 64 bits each."""
    return [f"i64 {name}" for name in names]


# ---- words


def write_philox(module: ModuleText) -> str:
    """Write a function that stores the words of `%blocks` blocks, from block `%block` on; return its name."""
    parameters = ["ptr noalias %bits", *_i64_parameters("%block", "%blocks", *STATE_NAMES)]
    out = FunctionText(module, Signature("void", parameters))
    with out.loop("0", "%blocks") as i:
        low = out.op("add", out.op("add", "%block", i), "%counter_low")
        carry = out.cast("zext", out.icmp("ult", low, "%counter_low"), "i64")
        high = out.op("add", "%counter_high", carry)
        words = [out.op("and", low, _LOW_HALF), out.op("lshr", low, 32)]
        words += [out.op("and", high, _LOW_HALF), out.op("lshr", high, 32)]
        keys = [out.op("and", "%key", _LOW_HALF), out.op("lshr", "%key", 32)]
        for round_ in range(ROUNDS):
            if round_:
                sums = (out.op("add", key, step) for key, step in zip(keys, WEYL, strict=True))
                keys = [out.op("and", key, _LOW_HALF) for key in sums]
            products = [out.op("mul", words[2 * half], factor) for half, factor in enumerate(MULTIPLIERS)]
            first_upper, second_upper = (out.op("lshr", product, 32) for product in products)
            words = [
                out.op("xor", out.op("xor", second_upper, words[1]), keys[0]), out.op("and", products[1], _LOW_HALF),
                out.op("xor", out.op("xor", first_upper, words[3]), keys[1]), out.op("and", products[0], _LOW_HALF),
            ]  # fmt: skip
        offset = out.op("shl", i, 2)
        for lane, word in enumerate(words):
            out.store("i32", out.cast("trunc", word, "i32"), out.gep("i32", "%bits", out.op("add", offset, lane)))
    out.ret()
    return out.finish("philox")


class _FastRuleWriter(ElementWriter):
    """A writer of logarithms, sines and cosines whose arguments are always in the range of the vectorised rules.

    No argument is rare, as none needs the C library; therefore `mark_rare` writes nothing.
    """

    avoids_library_calls = True  # choose the vectorised rules

    def mark_rare(self, condition: Element) -> None: ...


# ---- distributions


class _DrawWriter:
    """A writer of a function that draws the numbers of the chunks (of `_CHUNK_NUMBERS`) from `%first` to `%last`.

    A number takes `words_per_number` words. `extra_names` are further parameters of 64 bits. `finish` adds a function
    that runs all chunks, on several threads if there are enough numbers.
    """

    def __init__(
        self, region: LoweringContext, dtype: DType, words_per_number: int = 1, extra_names: Sequence[str] = ()
    ) -> None:
        self.parameters = ["ptr noalias %result", *_i64_parameters("%count", *STATE_NAMES, *extra_names)]
        self._region = region
        self._routine = PartRoutine(region, self.parameters)
        self.out = self._routine.out
        self.b = _FastRuleWriter(self.out)
        self.dtype = dtype
        self.words_per_number = words_per_number
        self.philox_function = write_philox(self._routine.module)

    def write_words(self, first_number: str) -> str:
        """Write code that draws the words of the chunk whose first number is `first_number`; return their address."""
        out, size = self.out, _CHUNK_NUMBERS * self.words_per_number
        buffer = out.alloca(f"[{size} x i32]")
        block = out.op("lshr", out.mul(first_number, self.words_per_number), 2)
        out.call(self.philox_function, buffer, block, size // BLOCK_WORDS, *STATE_NAMES)
        return buffer

    def words_as_integer(self, words: str, i: str) -> Element:
        """Return the one or two words of a number as an integer of 64 bits; the first word is the lower half."""
        if self.words_per_number == 1:
            return self._word(words, i)
        low, high = (self._word(words, self.out.add(self.out.mul(i, 2), half)) for half in range(2))
        return low | self.b.bits("shl", high, 32)

    def _word(self, words: str, i: str) -> Element:
        """Return a word as an integer of 64 bits."""
        return self.b.cast(load(self.b, uint32, words, i), uint64)

    def fraction(self, words: str, first: str, dtype: DType) -> Element:
        """Return a number in [0, 1) from the lower bits of a word, or of a pair of words for float64."""
        b, precision = self.b, PRECISION[dtype.name]
        if dtype is not float64:
            word = b.wrap(int32, load(b, uint32, words, first).ir)
            return b.cast(word & ((1 << precision) - 1), float32) * 2.0**-precision
        upper = self._word(words, first) & ((1 << (precision - 32)) - 1)
        bits_of_pair = b.bits("shl", upper, 32) | self._word(words, self.out.add(first, 1))
        return b.cast(b.wrap(int64, bits_of_pair.ir), float64) * 2.0**-precision

    def normal_pair(self, words: str, first: str) -> tuple[Element, Element]:
        """Apply Box and Muller's transform to the words from `first` on, with each step rounded to the dtype."""
        b, is_double = self.b, self.dtype is float64
        dtype = float64 if is_double else float32
        second = self.out.add(first, 2 if is_double else 1)
        radius_fraction, angle_fraction = (self.fraction(words, offset, dtype) for offset in (first, second))
        least = MIN_UNIFORM if is_double else float(np.float32(MIN_UNIFORM))
        bounded_fraction = b.cast(b.select(radius_fraction < least, b.constant(least, dtype), radius_fraction), float64)
        radius = b.intrinsic("sqrt", b.cast(ELEMENTS["log"](b, bounded_fraction), dtype) * -2.0)
        angle = b.cast(b.cast(b.cast(angle_fraction, float64) * (2.0 * math.pi), dtype), float64)
        sine, cosine = (b.cast(ELEMENTS[function](b, angle), dtype) for function in ("sin", "cos"))
        return sine * radius, cosine * radius

    def loop_over_chunks(self, write: Callable[[str, str], None]) -> None:
        """Write the loop over the chunks; `write(first number, length)` writes the body for a chunk."""
        out = self.out
        with out.loop("%first", "%last") as chunk_number:
            start = out.mul(chunk_number, _CHUNK_NUMBERS)
            remaining_count = out.sub("%count", start)
            write(start, out.select(out.icmp("slt", remaining_count, _CHUNK_NUMBERS), remaining_count, _CHUNK_NUMBERS))

    def store(self, element: Element, offset: str) -> None:
        """Store a number in the dtype of the draw at an offset of the result."""
        store(self.b, self.b.cast(element, self.dtype), "%result", offset)

    def finish(self, count: Position) -> str:
        """Write the function that draws `count` numbers, a constant or an i64 register; return its name."""
        chunks_function = self._routine.finish("ret i1 false")
        routine = Routine(self._region, self.parameters)
        out = routine.out
        if isinstance(count, int) and count >= _MIN_SHARED_COUNT and current_target().has_pool:
            chunks = -(-count // _CHUNK_NUMBERS)
            split = Split(dimension=None, size=chunks, step=-(-chunks // MAX_PARTS))
            call_parts(split, routine.module, out, chunks_function, self.parameters, has_rare=False)
            return routine.finish()
        chunk_count = out.op("udiv", out.op("add", "%count", _CHUNK_NUMBERS - 1), _CHUNK_NUMBERS)
        if isinstance(count, str) and current_target().has_pool:
            part_work = _MIN_SHARED_COUNT // MAX_PARTS
            split = Split(
                dimension=None, size=chunk_count, shape=("%count",), min_part_work=part_work,
                min_work=_MIN_SHARED_COUNT,
            )  # fmt: skip
            call_parts(split, routine.module, out, chunks_function, self.parameters, has_rare=False)
        else:
            arguments = (parameter.name for parameter in out.signature.parameters)
            out.call(chunks_function, *arguments, 0, 0, chunk_count)  # part 0: all chunks
        return routine.finish()


def _loop_over_numbers(out: FunctionText, start: str, length: str, write: Callable[[str, str], None]) -> None:
    """Write the loop over the numbers of a chunk; `write(i, offset)` writes the body, for an offset in the result."""
    with out.loop("0", length) as i:
        write(i, out.add(start, i))


def write_uniform(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Write a function that draws uniform numbers in [0, 1): multiples of 2**-precision; return its name."""
    draw = _DrawWriter(region, dtype, 2 if dtype is float64 else 1)

    def write_chunk(start: str, length: str) -> None:
        words = draw.write_words(start)
        _loop_over_numbers(
            draw.out, start, length,
            lambda i, offset: draw.store(draw.fraction(words, draw.out.mul(i, draw.words_per_number), dtype), offset),
        )  # fmt: skip

    draw.loop_over_chunks(write_chunk)
    return draw.finish(count)


def write_gaussian(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Write a function that draws normal numbers; return its name.

    Numbers are computed in pairs, in a buffer for one chunk, since their count may be odd.
    """
    draw = _DrawWriter(region, dtype, 2 if dtype is float64 else 1)
    out, b = draw.out, draw.b
    computed_dtype = float64 if dtype is float64 else float32
    numbers = out.alloca(f"[{_CHUNK_NUMBERS} x {memory_type(computed_dtype)}]")

    def write_chunk(start: str, length: str) -> None:
        """Store normal numbers: pairs are computed into a buffer first, and an odd last number is dropped."""
        words = draw.write_words(start)
        with out.loop("0", out.op("lshr", out.op("add", length, 1), 1)) as i:
            first_position = out.mul(i, 2)
            for k, number in enumerate(draw.normal_pair(words, out.mul(first_position, draw.words_per_number))):
                store(b, number, numbers, out.add(first_position, k))

        def store_number(i: str, offset: str) -> None:
            draw.store(load(b, computed_dtype, numbers, i), offset)

        _loop_over_numbers(out, start, length, store_number)

    draw.loop_over_chunks(write_chunk)
    return draw.finish(count)


def write_integers_function(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Write a function that draws integers: `%least` plus the remainder of words by `%range`; return its name."""
    draw = _DrawWriter(region, dtype, 2 if dtype.size == 8 else 1, ["%least", "%range"])
    out, b = draw.out, draw.b
    least, range_ = b.wrap(uint64, "%least"), b.wrap(uint64, "%range")

    def write_chunk(start: str, length: str) -> None:
        """Store least + word % range; ranges from 2 to 2**32 - 1 have remainders by multiplication."""
        words = draw.write_words(start)

        def write_quick_remainders() -> None:
            """Write remainders by multiplication by the inverse; later steps correct the quotient's rounding error."""
            inverse, signed_range = 1.0 / b.cast(range_, float64), b.wrap(int64, "%range")

            def remainder(x: Element) -> Element:
                """Return `x` modulo the range, from an approximate quotient that is corrected twice."""
                quotient = b.convert("fptoui", b.cast(x, float64) * inverse, uint64)
                difference = b.wrap(int64, (x - quotient * range_).ir)
                correction = b.intrinsic("floor", b.cast(difference, float64) * inverse)
                difference = difference - b.convert("fptosi", correction, int64) * signed_range
                difference = b.select(difference < 0, difference + signed_range, difference)
                return b.wrap(uint64, b.select(difference >= signed_range, difference - signed_range, difference).ir)

            write_numbers(remainder)

        def write_numbers(remainder: Callable[[Element], Element]) -> None:
            def write_number(i: str, offset: str) -> None:
                draw.store(least + remainder(draw.words_as_integer(words, i)), offset)

            _loop_over_numbers(out, start, length, write_number)

        is_small = b.compare("lt", range_, 1 << 32) & b.compare("gt", range_, 1)
        out.either(is_small.ir, write_quick_remainders, lambda: write_numbers(lambda x: b.remainder(x, range_)))

    draw.loop_over_chunks(write_chunk)
    return draw.finish(count)


def write_bits(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Write a function that draws integers of all bits: one word each, or two; return its name."""
    draw = _DrawWriter(region, dtype, 2 if dtype.size == 8 else 1)

    def write_chunk(start: str, length: str) -> None:
        """Store the words from `start` as integers over the full range of the dtype."""
        words = draw.write_words(start)

        def store_number(i: str, offset: str) -> None:
            draw.store(draw.words_as_integer(words, i), offset)

        _loop_over_numbers(draw.out, start, length, store_number)

    draw.loop_over_chunks(write_chunk)
    return draw.finish(count)


def group_size(dtype: DType) -> int:
    """Return how many normal numbers come from a block of words."""
    return 8 // words_per_normal_pair(dtype)


def write_truncated(region: LoweringContext, dtype: DType, group_count: Position) -> str:
    """Write a function that draws `%wanted` normal numbers within two standard deviations; return its name.

    `%count` is the number of groups of `group_size` numbers. Each group has its own range of blocks, from which it
    takes the first numbers within the bound.
    """
    draw = _DrawWriter(region, dtype, 1, ["%wanted"])
    out, b, size = draw.out, draw.b, group_size(dtype)
    blocks_per_group = RESERVED_WORDS * size // BLOCK_WORDS
    words, filled_cell, block_count_cell = out.alloca(f"[{BLOCK_WORDS} x i32]"), out.alloca("i64"), out.alloca("i64")

    def write_group(i: str, group: str) -> None:
        """Draw blocks of numbers until the group is full."""
        group_start, first_block = out.mul(group, size), out.mul(group, blocks_per_group)
        out.store("i64", 0, filled_cell)
        out.store("i64", 0, block_count_cell)
        draw_label, done_label = out.label("again"), out.label("complete")
        out.branch(draw_label)
        out.begin(draw_label)
        block_number = out.load("i64", block_count_cell)
        out.call(draw.philox_function, words, out.op("add", first_block, block_number), 1, *STATE_NAMES)
        out.store("i64", out.op("add", block_number, 1), block_count_cell)
        for first in range(0, BLOCK_WORDS, words_per_normal_pair(dtype)):
            for number in draw.normal_pair(words, str(first)):
                store_if_within_bound(number, group_start)
        out.branch_if(out.icmp("slt", out.load("i64", filled_cell), size), draw_label, done_label)
        out.begin(done_label)

    def store_if_within_bound(number: Element, group_start: str) -> None:
        """Add the number to the group if it is within the bound, and to the result if there is room."""
        filled_count = b.wrap(int64, out.load("i64", filled_cell))
        is_within_bound = b.compare("lt", b.intrinsic("fabs", number), TRUNCATION) & (filled_count < size)
        position = b.wrap(int64, group_start) + filled_count
        is_inside = is_within_bound & (position < b.wrap(int64, "%wanted"))
        out.either(is_inside.ir, lambda: draw.store(number, position.ir), lambda: None)
        out.store("i64", (filled_count + b.cast(is_within_bound, int64)).ir, filled_cell)

    draw.loop_over_chunks(lambda start, length: _loop_over_numbers(out, start, length, write_group))
    return draw.finish(group_count)
