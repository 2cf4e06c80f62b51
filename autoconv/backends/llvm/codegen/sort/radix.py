"""Sort one row of unsigned keys: a short one by insertion, others by least-significant-digit radix sort.

Radix sort is stable and linear in the length. Digits that all keys share are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType, int64, uint32

BY_INSERTION = {1: 24, 2: 40, 4: 60, 8: 88}  # elements up to which insertion is faster, by the bytes of a key
ON_STACK = 1024  # elements of a row up to which keys are on the stack
_WIDE = 4096  # elements from which digits have 11 bits, not 8


@dataclass(frozen=True)
class Memory:
    """Pointers to memory for two rows of keys and two of positions."""

    keys: str
    positions: str


class Sorter:
    """Sort the keys of one row in memory of its own, and with `ordered` their positions.

    For an open size, the method is chosen at run time.
    """

    def __init__(
        self, routine: Routine, size: Position, dtype: DType, ordered: bool,
        memory: Memory = Memory("%keys", "%positions"),
    ) -> None:  # fmt: skip
        self.out, self.b = routine.out, routine.b
        self.size = size
        self.dtype = dtype  # of the keys
        self.ordered = ordered
        self.bits = 11 if isinstance(size, int) and size >= _WIDE and dtype.size >= 4 else 8
        self.passes = -(-dtype.size * 8 // self.bits)
        self.few = BY_INSERTION[dtype.size]
        self.on_stack = isinstance(size, int) and size <= ON_STACK
        if isinstance(size, int) and self.on_stack:
            keys, positions = (self.out.alloca(f"[{2 * size} x {register(d)}]") for d in (dtype, uint32))
        else:
            keys, positions = memory.keys, memory.positions
        self.keys = [keys, self._offset(keys, dtype)]
        self.positions = [positions, self._offset(positions, uint32)]
        self._cells = [self.out.alloca("ptr") for _ in range(4)]

    def _offset(self, pointer: str, dtype: DType) -> str:
        return self.out.gep(register(dtype), pointer, self.size)

    def sort(self, key_at: Callable[[str], Element]) -> tuple[str, str]:
        """Return pointers to the sorted keys of a row, and to their positions."""
        out, size = self.out, self.size
        if isinstance(size, int):
            return self._by_insertion(key_at) if size <= self.few else self._by_digits(key_at)
        cells = [out.alloca("ptr") for _ in range(2)]

        def write(sorted_: tuple[str, str]) -> None:
            for cell, pointer in zip(cells, sorted_, strict=True):
                out.store("ptr", pointer, cell)

        few = out.icmp("sle", size, self.few)
        out.either(few, lambda: write(self._by_insertion(key_at)), lambda: write(self._by_digits(key_at)))
        keys, positions = (out.load("ptr", cell) for cell in cells)
        return keys, positions

    def _by_insertion(self, key_at: Callable[[str], Element]) -> tuple[str, str]:
        out, b = self.out, self.b
        keys, positions = self.keys[0], self.positions[0]
        with out.loop("0", str(self.size)) as i:
            key = key_at(i)

            def is_before(last: str, key: Element = key) -> str:
                return b.compare("gt", load(b, self.dtype, keys, last), key).ir

            def move(last: str, place: str) -> None:
                store(b, load(b, self.dtype, keys, last), keys, place)
                if self.ordered:
                    store(b, load(b, uint32, positions, last), positions, place)

            place = shift_up_larger(out, i, is_before, move)
            store(b, key, keys, place)
            if self.ordered:
                store(b, b.cast(b.wrap(int64, i), uint32), positions, place)
        return keys, positions

    def _by_digits(self, key_at: Callable[[str], Element]) -> tuple[str, str]:
        out, b = self.out, self.b
        buckets = 1 << self.bits
        counts = out.alloca(f"[{self.passes * buckets} x i32]")
        out.clear(counts, 4 * self.passes * buckets)
        for cell, pointer in zip(self._cells, (*self.keys, *self.positions), strict=True):
            out.store("ptr", pointer, cell)
        with out.loop("0", str(self.size)) as i:
            key = key_at(i)
            store(b, key, self.keys[0], i)
            if self.ordered:
                store(b, b.cast(b.wrap(int64, i), uint32), self.positions[0], i)
            for number in range(self.passes):
                digit = self._digit(key, b.constant(number * self.bits, self.dtype))
                place = plus(out, digit, number * buckets)
                store(b, load(b, uint32, counts, place) + 1, counts, place)
        with out.loop("0", str(self.passes)) as turn:
            self._pass(turn, out.gep(f"[{buckets} x i32]", counts, turn), buckets)
        return out.load("ptr", self._cells[0]), out.load("ptr", self._cells[2])

    def _digit(self, key: Element, shift: Element) -> str:
        b = self.b
        digit = b.bits("and", b.bits("lshr", key, shift), min(1 << self.bits, 1 << self.dtype.size * 8) - 1)
        return b.cast(digit, int64).ir

    def _pass(self, turn: str, counts: str, buckets: int) -> None:
        """Order the keys by one digit, from the first half of the memory to the second, and swap the halves."""
        out, b = self.out, self.b
        source, target, from_, to = (out.load("ptr", cell) for cell in self._cells)
        shift = b.cast(b.wrap(int64, out.op("mul", turn, self.bits)), self.dtype)
        first = load(b, uint32, counts, self._digit(load(b, self.dtype, source, 0), shift))
        all_ = b.cast(b.wrap(int64, str(self.size)), uint32)
        with out.if_(b.compare("ne", first, all_).ir):
            total = out.alloca("i32")
            out.store("i32", 0, total)
            with out.loop("0", str(buckets)) as bucket:
                before = load(b, uint32, total, 0)
                store(b, before + load(b, uint32, counts, bucket), total, 0)
                store(b, before, counts, bucket)
            with out.loop("0", str(self.size)) as i:
                key = load(b, self.dtype, source, i)
                digit = self._digit(key, shift)
                place = load(b, uint32, counts, digit)
                store(b, place + 1, counts, digit)
                there = b.cast(place, int64).ir
                store(b, key, target, there)
                if self.ordered:
                    store(b, load(b, uint32, from_, i), to, there)
            for cell, pointer in zip(self._cells, (target, source, to, from_), strict=True):
                out.store("ptr", pointer, cell)


def shift_up_larger(
    out: FunctionText, start: str, is_before: Callable[[str], str], move: Callable[[str, str], None]
) -> str:
    """Move the elements before `start` for which `is_before` holds up by one; return the free place."""
    cell = out.alloca("i64")
    out.store("i64", start, cell)
    head, test, again, done = (out.label(stem) for stem in ("sift", "test", "move", "place"))
    out.branch(head)
    out.begin(head)
    place = out.load("i64", cell)
    out.branch_if(out.icmp("sgt", place, 0), test, done)
    out.begin(test)
    last = out.add(place, -1)
    out.branch_if(is_before(last), again, done)
    out.begin(again)
    move(last, place)
    out.store("i64", last, cell)
    out.branch(head)
    out.begin(done)
    return str(place)
