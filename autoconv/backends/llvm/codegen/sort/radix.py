"""Sort one row of unsigned keys: a short row by a network or insertion, others by a radix sort from the last digit.

Radix sort is stable and linear in the length. A digit that all keys share needs no pass, and a row in order none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.sort.network import KEY_LIMIT, POSITION_LIMIT, sort_keys, sort_pairs
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType, int64, uint32
from autoconv.lazy_dataclass import dataclass

INSERTION_LIMITS = {1: 24, 2: 40, 4: 60, 8: 88}  # most elements for which insertion is faster, by the bytes of a key
STACK_LIMIT = 1024  # most elements of a row whose keys are on the stack
_WIDE_DIGITS_SIZE = 4096  # fewest elements of a row for which digits have 11 bits instead of 8


@dataclass(frozen=True)
class SortBuffers:
    """Addresses of memory for two rows of keys, and for two rows of positions."""

    keys: str
    positions: str


_PARAMETERS = SortBuffers("%keys", "%positions")


class SortedRow(NamedTuple):
    """The addresses of the sorted keys of a row, and of their original positions."""

    keys: str
    positions: str


class Sorter:
    """A writer of the sort of one row of keys in buffers; if `has_positions`, original positions move with the keys.

    For an open size, the kind of sort is chosen at run time.
    """

    def __init__(
        self, routine: Routine, size: Position, dtype: DType, has_positions: bool,
        buffers: SortBuffers = _PARAMETERS,
    ) -> None:  # fmt: skip
        self.out, self.b = routine.out, routine.b
        self.size = size
        self.dtype = dtype  # dtype of the keys
        self.has_positions = has_positions
        self.digit_bits = 11 if isinstance(size, int) and size >= _WIDE_DIGITS_SIZE and dtype.size >= 4 else 8
        self.pass_count = -(-dtype.size * 8 // self.digit_bits)
        self.insertion_limit = INSERTION_LIMITS[dtype.size]
        self.has_stack_buffers = isinstance(size, int) and size <= STACK_LIMIT
        if isinstance(size, int) and self.has_stack_buffers:
            keys, positions = (self.out.alloca(f"[{2 * size} x {register(x)}]") for x in (dtype, uint32))
        else:
            keys, positions = buffers.keys, buffers.positions
        self.keys = [keys, self._second_row(keys, dtype)]
        self.positions = [positions, self._second_row(positions, uint32)]
        # Cells of the addresses that a pass of a radix sort uses: source and target of the keys, then of the positions.
        self._cells = [self.out.alloca("ptr") for _ in range(4)]

    def _second_row(self, pointer: str, dtype: DType) -> str:
        """Return the address of the second of two rows at `pointer`."""
        return self.out.gep(register(dtype), pointer, self.size)

    def sort(self, load_key: Callable[[str], Element]) -> SortedRow:
        """Write the sort of a row."""
        out, size = self.out, self.size
        if isinstance(size, int):
            if size <= (POSITION_LIMIT if self.has_positions else KEY_LIMIT):
                return self._write_network(load_key, size)
            is_short_row = size <= self.insertion_limit
            return self._write_insertion_sort(load_key) if is_short_row else self._write_radix_sort(load_key)
        cells = [out.alloca("ptr") for _ in range(2)]

        def store_pointers(pointers: SortedRow) -> None:
            for cell, pointer in zip(cells, pointers, strict=True):
                out.store("ptr", pointer, cell)

        is_short = out.icmp("sle", size, self.insertion_limit)
        out.either(
            is_short,
            lambda: store_pointers(self._write_insertion_sort(load_key)),
            lambda: store_pointers(self._write_radix_sort(load_key)),
        )
        keys, positions = (out.load("ptr", cell) for cell in cells)
        return SortedRow(keys, positions)

    def _write_network(self, load_key: Callable[[str], Element], size: int) -> SortedRow:
        """Write the sort of a row of known length by a network."""
        b = self.b
        keys = [load_key(str(i)) for i in range(size)]
        positions: list[Element] = []
        if self.has_positions:
            keys, positions = sort_pairs(b, keys, [b.constant(i, uint32) for i in range(size)])
        else:
            keys = sort_keys(b, keys)
        for elements, address in ((keys, self.keys[0]), (positions, self.positions[0])):
            for i, element in enumerate(elements):
                store(b, element, address, i)
        return SortedRow(self.keys[0], self.positions[0])

    def _write_insertion_sort(self, load_key: Callable[[str], Element]) -> SortedRow:
        """Write the sort of a row by insertion."""
        out, b = self.out, self.b
        keys, positions = self.keys[0], self.positions[0]
        with out.loop("0", str(self.size)) as i:
            key = load_key(i)

            def belongs_after_key(source: str, key: Element = key) -> str:
                return b.compare("gt", load(b, self.dtype, keys, source), key).ir

            def move(source: str, target: str) -> None:
                store(b, load(b, self.dtype, keys, source), keys, target)
                if self.has_positions:
                    store(b, load(b, uint32, positions, source), positions, target)

            target = write_insertion(out, i, belongs_after_key, move)
            store(b, key, keys, target)
            if self.has_positions:
                store(b, b.cast(b.wrap(int64, i), uint32), positions, target)
        return SortedRow(keys, positions)

    def _write_radix_sort(self, load_key: Callable[[str], Element]) -> SortedRow:
        """Write the radix sort of a row; one that is in order already, or in reverse order, is copied."""
        out = self.out
        for cell, pointer in zip(self._cells, (*self.keys, *self.positions), strict=True):
            out.store("ptr", pointer, cell)

        def sort_unordered() -> None:
            copy_reversed = functools.partial(self._copy, load_key, is_reversed=True)
            out.either(self._is_ordered(load_key, "lt"), copy_reversed, lambda: self._write_passes(load_key))

        out.either(self._is_ordered(load_key, "ge"), lambda: self._copy(load_key), sort_unordered)
        return SortedRow(out.load("ptr", self._cells[0]), out.load("ptr", self._cells[2]))

    def _is_ordered(self, load_key: Callable[[str], Element], comparison: str) -> str:
        """Return an i1 that is true if each key has the relation `comparison`, "ge" or "lt", to the key before it.

        The test ends at the first key that does not have it.
        """
        out, b = self.out, self.b
        position_cell, last_key_cell = out.alloca("i64"), out.alloca(register(self.dtype))
        out.store("i64", 1, position_cell)
        store(b, load_key("0"), last_key_cell, 0)

        def is_next_ordered() -> str:
            """Return the i1 that is true if the next key exists and is in order after the last one."""
            position = out.load("i64", position_cell)

            def compare() -> str:
                key = load_key(position)
                is_ordered = b.compare(comparison, key, load(b, self.dtype, last_key_cell, 0)).ir
                store(b, key, last_key_cell, 0)
                return is_ordered

            return out.where(out.icmp("slt", position, self.size), compare, FALSE)

        with out.while_(is_next_ordered):
            out.store("i64", out.add(out.load("i64", position_cell), 1), position_cell)
        return out.icmp("sge", out.load("i64", position_cell), self.size)

    def _copy(self, load_key: Callable[[str], Element], is_reversed: bool = False) -> None:
        """Copy the keys to the first row, with their positions."""
        out = self.out
        with out.loop("0", str(self.size)) as i:
            source = out.sub(plus(out, self.size, -1), i) if is_reversed else i
            self._store(load_key(source), source, i)

    def _store(self, key: Element, position: str, target: str) -> None:
        """Store a key, and its position, in the first row."""
        b = self.b
        store(b, key, self.keys[0], target)
        if self.has_positions:
            store(b, b.cast(b.wrap(int64, position), uint32), self.positions[0], target)

    def _write_passes(self, load_key: Callable[[str], Element]) -> None:
        """Write the count of each digit's values in all keys, and then a pass for each digit, the lowest first."""
        out, b = self.out, self.b
        bucket_count = 1 << self.digit_bits
        counts = out.alloca(f"[{self.pass_count * bucket_count} x i32]")
        out.clear(counts, 4 * self.pass_count * bucket_count)
        with out.loop("0", str(self.size)) as i:
            key = load_key(i)
            self._store(key, i, i)
            for pass_index in range(self.pass_count):
                digit = self._digit(key, b.constant(pass_index * self.digit_bits, self.dtype))
                bucket = plus(out, digit, pass_index * bucket_count)
                store(b, load(b, uint32, counts, bucket) + 1, counts, bucket)
        with out.loop("0", str(self.pass_count)) as pass_number:
            pass_counts = out.gep(f"[{bucket_count} x i32]", counts, pass_number)
            self._write_pass(pass_number, pass_counts, bucket_count)

    def _digit(self, key: Element, shift: Element) -> str:
        """Return the digit of a key that begins at bit `shift`."""
        b = self.b
        digit = b.bits("and", b.bits("lshr", key, shift), min(1 << self.digit_bits, 1 << self.dtype.size * 8) - 1)
        return b.cast(digit, int64).ir

    def _write_pass(self, pass_number: str, counts: str, bucket_count: int) -> None:
        """Order the keys by one digit, from one buffer to the other, and swap the buffers."""
        out, b = self.out, self.b
        source, target, source_positions, target_positions = (out.load("ptr", cell) for cell in self._cells)
        shift = b.cast(b.wrap(int64, out.op("mul", pass_number, self.digit_bits)), self.dtype)
        first_count = load(b, uint32, counts, self._digit(load(b, self.dtype, source, 0), shift))
        size = b.cast(b.wrap(int64, str(self.size)), uint32)
        with out.if_(b.compare("ne", first_count, size).ir):  # else all keys have the same digit
            total_cell = out.alloca("i32")
            out.store("i32", 0, total_cell)
            with out.loop("0", str(bucket_count)) as bucket:
                start = load(b, uint32, total_cell, 0)
                store(b, start + load(b, uint32, counts, bucket), total_cell, 0)
                store(b, start, counts, bucket)
            with out.loop("0", str(self.size)) as i:
                key = load(b, self.dtype, source, i)
                digit = self._digit(key, shift)
                position = load(b, uint32, counts, digit)
                store(b, position + 1, counts, digit)
                offset = b.cast(position, int64).ir
                store(b, key, target, offset)
                if self.has_positions:
                    store(b, load(b, uint32, source_positions, i), target_positions, offset)
            for cell, pointer in zip(self._cells, (target, source, target_positions, source_positions), strict=True):
                out.store("ptr", pointer, cell)


def write_insertion(
    out: FunctionText, start: str, belongs_after_key: Callable[[str], str], move: Callable[[str, str], None]
) -> str:
    """Write a loop that makes room for a key in a sorted row that ends before `start`.

    From the end on, the loop moves elements by one position while `belongs_after_key(position)` is true. Return the
    register of the free position, where the key belongs.
    """
    position_cell = out.alloca("i64")
    out.store("i64", start, position_cell)
    head_label, test_label, shift_label, done_label = (out.label(stem) for stem in ("sift", "test", "move", "place"))
    out.branch(head_label)
    out.begin(head_label)
    position = out.load("i64", position_cell)
    out.branch_if(out.icmp("sgt", position, 0), test_label, done_label)
    out.begin(test_label)
    previous_position = out.add(position, -1)
    out.branch_if(belongs_after_key(previous_position), shift_label, done_label)
    out.begin(shift_label)
    move(previous_position, position)
    out.store("i64", previous_position, position_cell)
    out.branch(head_label)
    out.begin(done_label)
    return str(position)
