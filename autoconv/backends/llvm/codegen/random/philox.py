"""Counter-based random numbers: Philox's bits for a key, and distributions made from them; `ops.py` lowers the ops.

The bits, and the order in which they are used, are those of `ops.random.bits`. Uniform numbers and integers are
equal to the last bit. Normal numbers are computed by native functions, so they are equal within rounding.

Philox4x64-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.routine import PART, Routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.partition import MOST_PARTS, Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, float64, int64, uint64
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.random.bits import PRECISION, TRUNCATION

_CHUNK = 512  # numbers that are drawn before they are transformed; a multiple of the four of a block
_SPLIT = 1 << 16  # numbers from which threads share the work
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS = 10
_KEY = ("i64 %key0", "i64 %key1", "i64 %draw")
_KEY_NAMES = ("%key0", "%key1", "%draw")


# ---- bits


def _philox(routine: Routine) -> str:
    """Return the name of the function that writes four numbers for each of `blocks` blocks from number `block` on."""
    parameters = ("ptr noalias %bits", "i64 %block", "i64 %blocks", *_KEY)
    out = FunctionText(routine.module, Signature("void", parameters))
    with out.loop("0", "%blocks") as i:
        counted = out.op("add", out.op("add", "%block", i), 1)
        words = [counted, "%draw", "0", "0"]
        keys = ["%key0", "%key1"]
        for turn in range(_ROUNDS):
            if turn:
                keys = [out.op("add", key, _signed(step)) for key, step in zip(keys, _WEYL, strict=True)]
            high0, low0 = _product(out, words[0], _MULTIPLIERS[0])
            high1, low1 = _product(out, words[2], _MULTIPLIERS[1])
            words = [
                out.op("xor", out.op("xor", high1, words[1]), keys[0]), low1,
                out.op("xor", out.op("xor", high0, words[3]), keys[1]), low0,
            ]  # fmt: skip
        first = out.op("shl", i, 2)
        for lane, word in enumerate(words):
            place = out.gep("i64", "%bits", out.op("add", first, lane))
            out.store("i64", word, place)
    out.ret()
    return out.finish("philox")


def _product(out: FunctionText, x: str, factor: int) -> tuple[str, str]:
    """Return the upper and the lower 64 bits of a product."""
    whole = out.op("mul", out.cast("zext", x, "i128"), factor)
    return out.cast("trunc", out.op("lshr", whole, 64), "i64"), out.cast("trunc", whole, "i64")


def _signed(number: int) -> int:
    return number - (1 << 64) if number >= 1 << 63 else number


class _Writer(ElementWriter):
    """Write angles and logarithms, whose arguments are always in range."""

    in_loop = True

    def rare(self, condition: Element) -> None: ...


# ---- distributions


class _Draw:
    """A function over the numbers from `%first` to `%last`, in chunks.

    `bits(position)` returns the address of a chunk's bits. `finish` returns a function that runs it on several threads,
    where that is worth it.
    """

    def __init__(self, region: LoweringContext, dtype: DType, extra: Sequence[str] = ()) -> None:
        self.parameters = ["ptr noalias %result", "i64 %position", "i64 %count", *_KEY, *extra]
        self._region = region
        self._body = Routine(region, [*self.parameters, *PART], "i1")
        self.out = self._body.out
        self.b = _Writer(self.out)
        self.dtype = dtype
        self._philox = _philox(self._body)

    def bits(self, position: str) -> str:
        """Return the address of the bits from that position on, as many as a chunk has."""
        out = self.out
        buffer = out.alloca(f"[{_CHUNK + 4} x i64]")
        block = out.op("lshr", position, 2)
        out.call(self._philox, buffer, block, _CHUNK // 4 + 1, *_KEY_NAMES)
        return out.gep("i64", buffer, out.op("and", position, 3))

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


def _each(out: FunctionText, start: str, length: str, write: Callable[[str, str], None]) -> None:
    """Run `write(i, place)` for each number of a chunk."""
    with out.loop("0", length) as i:
        write(i, out.add(start, i))


def uniform(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw multiples of 2 to the minus precision in [0, 1)."""
    draw = _Draw(region, dtype)
    out, b, precision = draw.out, draw.b, PRECISION[dtype.name]

    def chunk(start: str, length: str) -> None:
        bits = draw.bits(out.op("add", start, "%position"))

        def write(i: str, place: str) -> None:
            found = b.cast(b.bits("lshr", load(b, int64, bits, i), 64 - precision), dtype)
            draw.put(found * 2.0**-precision, place)

        _each(out, start, length, write)

    draw.chunks(chunk)
    return draw.finish(count)


def gaussian(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw normal numbers by Box and Muller's transform in float64: `%count` cosines, then `%left` of their sines."""
    draw = _Draw(region, dtype, ["i64 %left"])
    out, b = draw.out, draw.b
    sines = out.alloca(f"[{_CHUNK} x double]")

    def chunk(start: str, length: str) -> None:
        here = out.op("add", start, "%position")
        radii, angles = draw.bits(here), draw.bits(out.op("add", here, "%count"))

        def pair(i: str, place: str) -> None:
            first, second = (
                b.cast(b.bits("lshr", load(b, int64, bits, i), 11), float64) * 2.0**-53 for bits in (radii, angles)
            )
            radius = b.intrinsic("sqrt", ELEMENTS["log1p"](b, -first) * -2.0)
            angle = second * (2.0 * math.pi)
            draw.put(radius * ELEMENTS["cos"](b, angle), place)
            store(b, radius * ELEMENTS["sin"](b, angle), sines, i)

        _each(out, start, length, pair)
        wanted = out.sub("%left", start)
        shorter = out.icmp("slt", wanted, length)
        behind = out.add(start, "%count")
        _each(
            out, behind, out.select(shorter, wanted, length),
            lambda i, place: draw.put(load(b, float64, sines, i), place),
        )  # fmt: skip

    draw.chunks(chunk)
    return draw.finish(count)


def integers(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw `%low` plus the remainder of the bits by `%range`."""
    draw = _Draw(region, dtype, ["i64 %low", "i64 %range"])
    out, b = draw.out, draw.b
    low, range_ = b.wrap(uint64, "%low"), b.wrap(uint64, "%range")

    def chunk(start: str, length: str) -> None:
        bits = draw.bits(out.op("add", start, "%position"))

        def quick() -> None:
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
            _each(out, start, length, lambda i, place: draw.put(low + remainder(load(b, uint64, bits, i)), place))

        small = b.compare("lt", range_, 1 << 32) & b.compare("gt", range_, 1)
        out.either(small.ir, quick, lambda: write(lambda x: b.remainder(x, range_)))

    draw.chunks(chunk)
    return draw.finish(count)


def bits(region: LoweringContext, dtype: DType, count: Position) -> str:
    draw = _Draw(region, dtype)
    out, b = draw.out, draw.b

    def chunk(start: str, length: str) -> None:
        bits = draw.bits(out.op("add", start, "%position"))
        _each(out, start, length, lambda i, place: draw.put(load(b, uint64, bits, i), place))

    draw.chunks(chunk)
    return draw.finish(count)


def truncated(region: LoweringContext, dtype: DType, count: Position) -> str:
    """Draw normal numbers; those beyond two standard deviations are redrawn from the next bits until none is left."""
    several: Position = (count + 1) // 2 if isinstance(count, int) else "%count"
    first, others = (gaussian(region, float64, pairs) for pairs in (several, 0))
    buffers = ["ptr noalias %numbers", "ptr noalias %again", "ptr noalias %places"]
    arguments = ["ptr noalias %result", "i64 %count", *_KEY, *buffers]
    routine = Routine(region, arguments, short=True)
    out, b = routine.out, routine.b
    position, missing = out.alloca("i64"), out.alloca("i64")

    def draw(name: str, target: str, wanted: str) -> None:
        pairs = out.op("lshr", out.op("add", wanted, 1), 1)
        left = out.op("sub", wanted, pairs)
        begin = out.load("i64", position)
        out.call(name, target, begin, pairs, *_KEY_NAMES, left)
        used = out.op("shl", pairs, 1)
        out.store("i64", out.op("add", begin, used), position)

    def keep_outside(wanted: str, number: Callable[[str], Element], place_of: Callable[[str], str]) -> None:
        """Record the places of the numbers that have to be redrawn."""
        out.store("i64", 0, missing)
        with out.loop("0", wanted) as i:
            beyond = b.compare("gt", b.intrinsic("fabs", number(i)), TRUNCATION)
            place = place_of(i)
            noted = load(b, int64, missing, 0)
            store(b, b.wrap(int64, place), "%places", noted.ir)
            store(b, noted + b.cast(beyond, int64), missing, 0)

    out.store("i64", 0, position)
    draw(first, "%numbers", "%count")
    keep_outside("%count", lambda i: load(b, float64, "%numbers", i), lambda i: i)
    head, again, done = out.label("again"), out.label("draw"), out.label("complete")
    out.branch(head)
    out.begin(head)
    wanted = load(b, int64, missing, 0)
    out.branch_if(wanted.same(0).ir, done, again)
    out.begin(again)
    draw(others, "%again", wanted.ir)

    def placed(i: str) -> Element:
        number = load(b, float64, "%again", i)
        store(b, number, "%numbers", load(b, int64, "%places", i).ir)
        return number

    keep_outside(wanted.ir, placed, lambda i: load(b, int64, "%places", i).ir)
    out.branch(head)
    out.begin(done)
    with out.loop("0", "%count") as i:
        store(b, b.cast(load(b, float64, "%numbers", i), dtype), "%result", i)
    return routine.finish()
