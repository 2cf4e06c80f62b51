"""Sorting, the order of elements, the largest of them, and search in sorted ones.

Numbers are sorted as unsigned keys: short rows by insertion, others digit by digit from the lowest (radix sort), which
is stable and takes time in proportion to the length. Digits that all keys share are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.keys import from_key, key_dtype, to_key
from autoconv.backends.llvm.natives import PART, Routine, call, in_parts, native, open_dimensions
from autoconv.backends.llvm.positions import Position, element_count, is_known, plus, product, times
from autoconv.backends.llvm.roles import is_array, is_dense, sizes
from autoconv.backends.llvm.scalars import Element, load, register, store
from autoconv.graph.dtypes import DType, bool_, int32, int64, uint32
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_BY_INSERTION = 24  # elements up to which that is quicker
_WIDE = 4096  # from which on digits have 11 bits, not 8
_WORK = 60  # of one element, in units of 0.05 ns
_VECTORISED = 2048  # elements up to which NumPy's vectorised sort of 32 and 64 bits is quicker
_ON_STACK = 1024  # elements of a row up to which keys need no array
_FEW = 32  # the most of the largest that are kept in order while the elements go by


class Sorter:
    """Sorts the keys of one row in memory of its own, and with them (`ordered`) their positions. Where only the call
    knows the size, it decides how."""

    def __init__(self, routine: Routine, size: Position, dtype: DType, ordered: bool) -> None:
        self.out, self.b = routine.out, routine.b
        self.size = size
        self.dtype = dtype  # of the keys
        self.ordered = ordered
        self.bits = 11 if isinstance(size, int) and size >= _WIDE and dtype.size >= 4 else 8
        self.passes = -(-dtype.size * 8 // self.bits)
        self.on_stack = isinstance(size, int) and size <= _ON_STACK
        if isinstance(size, int) and self.on_stack:
            keys, positions = (self.out.alloca(f"[{2 * size} x {register(d)}]") for d in (dtype, uint32))
        else:
            keys, positions = "%keys", "%positions"
        self.keys = [keys, self._offset(keys, dtype)]
        self.positions = [positions, self._offset(positions, uint32)]
        self._cells = [self.out.alloca("ptr") for _ in range(4)]

    def _offset(self, pointer: str, dtype: DType) -> str:
        return self.out.new(f"getelementptr inbounds {register(dtype)}, ptr {pointer}, i64 {self.size}")

    def sort(self, key_at: Callable[[str], Element]) -> tuple[str, str]:
        """Pointers to the sorted keys of a row, and to their positions."""
        out, size = self.out, self.size
        if isinstance(size, int):
            return self._by_insertion(key_at) if size <= _BY_INSERTION else self._by_digits(key_at)
        found = [out.alloca("ptr") for _ in range(2)]
        few, many, done = out.label("few"), out.label("many"), out.label("sorted")
        out.branch_if(out.new(f"icmp sle i64 {size}, {_BY_INSERTION}"), few, many)
        for label, sort in ((few, self._by_insertion), (many, self._by_digits)):
            out.begin(label)
            for cell, pointer in zip(found, sort(key_at), strict=True):
                out.line(f"store ptr {pointer}, ptr {cell}")
            out.branch(done)
        out.begin(done)
        keys, positions = (out.new(f"load ptr, ptr {cell}") for cell in found)
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

            place = sift(routine_out=out, start=i, is_before=is_before, move=move)
            store(b, key, keys, place)
            if self.ordered:
                store(b, b.cast(b.wrap(int64, i), uint32), positions, place)
        return keys, positions

    def _by_digits(self, key_at: Callable[[str], Element]) -> tuple[str, str]:
        out, b = self.out, self.b
        buckets = 1 << self.bits
        counts = out.alloca(f"[{self.passes * buckets} x i32]")
        out.module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
        clear = f"ptr {counts}, i8 0, i64 {4 * self.passes * buckets}, i1 false"
        out.line(f'call void @"llvm.memset.p0.i64"({clear})')
        for cell, pointer in zip(self._cells, (*self.keys, *self.positions), strict=True):
            out.line(f"store ptr {pointer}, ptr {cell}")
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
            self._pass(turn, out.new(f"getelementptr inbounds [{buckets} x i32], ptr {counts}, i64 {turn}"), buckets)
        return out.new(f"load ptr, ptr {self._cells[0]}"), out.new(f"load ptr, ptr {self._cells[2]}")

    def _digit(self, key: Element, shift: Element) -> str:
        b = self.b
        digit = b.bits("and", b.bits("lshr", key, shift), min(1 << self.bits, 1 << self.dtype.size * 8) - 1)
        return b.cast(digit, int64).ir

    def _pass(self, turn: str, counts: str, buckets: int) -> None:
        """Keys into the order of one digit, from the first half of the memory to the second, which change places."""
        out, b = self.out, self.b
        source, target, from_, to = (out.new(f"load ptr, ptr {cell}") for cell in self._cells)
        shift = b.cast(b.wrap(int64, out.new(f"mul i64 {turn}, {self.bits}")), self.dtype)
        first = load(b, uint32, counts, self._digit(load(b, self.dtype, source, 0), shift))
        needed, done = out.label("needed"), out.label("sorted")
        all_ = b.cast(b.wrap(int64, str(self.size)), uint32)
        out.branch_if(b.compare("ne", first, all_).ir, needed, done)
        out.begin(needed)
        total = out.alloca("i32")
        out.line(f"store i32 0, ptr {total}")
        with out.loop("0", str(buckets)) as digit:
            before = load(b, uint32, total, 0)
            store(b, before + load(b, uint32, counts, digit), total, 0)
            store(b, before, counts, digit)
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
            out.line(f"store ptr {pointer}, ptr {cell}")
        out.branch(done)
        out.begin(done)


def sift(routine_out: Any, start: str, is_before: Callable[[str], str], move: Callable[[str, str], None]) -> str:
    """The place, at `start` or before it, from which on everything moves up by one: the elements that `is_before`
    holds for."""
    out = routine_out
    cell = out.alloca("i64")
    out.line(f"store i64 {start}, ptr {cell}")
    head, test, again, done = (out.label(stem) for stem in ("sift", "test", "move", "place"))
    out.branch(head)
    out.begin(head)
    place = out.new(f"load i64, ptr {cell}")
    out.branch_if(out.new(f"icmp sgt i64 {place}, 0"), test, done)
    out.begin(test)
    last = out.new(f"add nsw i64 {place}, -1")
    out.branch_if(is_before(last), again, done)
    out.begin(again)
    move(last, place)
    out.line(f"store i64 {last}, ptr {cell}")
    out.branch(head)
    out.begin(done)
    return str(place)


# ---- the ops


class _Rows:
    """What is sorted: `outer` times `inner` rows of `size` elements along an axis, and the arguments of the routine."""

    def __init__(self, region: Region, node: Node, results: int, ordered: bool) -> None:
        x: Any = node.inputs[0].type
        shape, axis = sizes(x), node.attributes.get("axis", -1)
        axis %= len(shape)
        self.shape, self.size, self._several = shape, shape[axis], shape[:axis]
        self.dtype: DType = x.dtype
        self.descending = node.attributes.get("descending", node.op.name == "top_k")
        self.results = [f"%result{i}" for i in range(results)]
        names = ["ptr noalias readonly %x", *(f"ptr noalias {name}" for name in self.results)]
        self._region, self._arguments = region, [*open_dimensions(region), *names, "ptr noalias %keys", "ptr noalias %positions"]
        self.routine = Routine(region, [*self._arguments, *PART], "i1", short=True)
        self.inner = element_count(self.routine.out, shape[axis + 1 :])
        size = max(self.size, 1) if isinstance(self.size, int) else self.size
        self.sorter = Sorter(self.routine, size, key_dtype(self.dtype), ordered)

    def place(self, row: Position, step: Position, column: Position) -> Position:
        out = self.routine.out
        return plus(out, product(out, plus(out, product(out, row, self.size), step), self.inner), column)

    def key_at(self, row: Position, column: Position, zeros_alike: bool) -> Callable[[str], Element]:
        b = self.routine.b
        return lambda i: to_key(b, load(b, self.dtype, "%x", self.place(row, i, column)), self.descending, zeros_alike)

    def each(self, write: Callable[[Position, Position], None]) -> None:
        """Loops over the rows."""
        out = self.routine.out
        if 0 not in self.shape:
            with out.loop("%first", "%last") as row, out.loop("0", str(self.inner)) as column:
                write(row, column)

    def finish(self) -> str:
        """The name of the routine. Threads share the rows where each has memory of its own for them."""
        each = _WORK if self.sorter.on_stack else 0
        if is_known(self.shape):
            outer, work = math.prod(self._several), each * math.prod(self.shape)
            return in_parts(self._region, self._arguments, self.routine, outer, work)
        return in_parts(self._region, self._arguments, self.routine, self._several, each, self.shape)


def _finish(region: Region, node: Node, rows: _Rows, sort_first: bool = False) -> None:
    """Calls the routine; `sort_first`: its result is sorted by NumPy then."""
    for value in node.results:
        region.set(value, region.new_array(value.type))
    if sort_first:
        _sort_by_numpy(region, node)
    pointers = [f"ptr {region.data(value)}" for value in (node.inputs[0], *node.results)]
    held = []
    if not isinstance(rows.size, int):
        for dtype in (rows.sorter.dtype, uint32):
            made = region.body.new_counted(dtype, (times(region.out, rows.size, 2),))
            held.append((made.slot or "", TensorType(dtype, (None,))))
            pointers.append(f"ptr {region.address(made)}")
    elif rows.size > _ON_STACK:
        for dtype in (rows.sorter.dtype, uint32):
            type_ = TensorType(dtype, (2 * rows.size,))
            made = region.new_array(type_)
            held.append((made.slot or "", type_))
            pointers.append(f"ptr {region.address(made)}")
    else:
        pointers += ["ptr null", "ptr null"]
    call(region, rows.finish(), *open_dimensions(region), *pointers)
    for slot, type_ in held:
        region.body.let_go(slot, type_)


def _sort_by_numpy(region: Region, node: Node) -> None:
    """Where rows are neither short nor long, NumPy's vectorised sort in place is quicker."""
    out, (x,), (result,) = region.out, node.inputs, node.results
    kind: Any = x.type
    region.body.module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
    count = product(out, element_count(out, sizes(kind)), kind.dtype.size)
    pair = f"ptr {region.data(result)}, ptr {region.data(x)}"
    out.line(f'call void @"llvm.memcpy.p0.p0.i64"({pair}, i64 {count}, i1 false)')
    region.body.module.declare("PyArray_Sort", "i32", "ptr, i32, i32")
    axis = node.attributes.get("axis", -1) % len(sizes(kind))
    answer = out.new(f'call i32 @"PyArray_Sort"(ptr {region.object(result).ir}, i32 {axis}, i32 0)')
    region.body.check(out.new(f"icmp slt i32 {answer}, 0"))


def _sorts(node: Node) -> bool:
    type_: Any = node.inputs[0].type
    return is_array(type_) and sizes(type_)[node.attributes.get("axis", -1)] < 2**31


def _sorts_open(node: Node) -> bool:
    """NumPy's sort keeps to nan last; of bools and complex numbers there is no key."""
    return len(node.inputs) == 1 and all(is_dense(value.type) for value in (*node.inputs, *node.results))


def _work(node: Node) -> int:
    """Rows that are not long are shared by threads."""
    shape, axis = sizes(node.inputs[0].type), node.attributes.get("axis", -1)
    return _WORK * math.prod(shape) if shape[axis] > _ON_STACK else 0


@native("sort", fits=_sorts, work=_work, of_open=_sorts_open)
def write_sort(region: Region, node: Node) -> None:
    """By the keys alone; of -0.0 and 0.0, which are equal, each goes where it was."""
    rows = _Rows(region, node, 1, ordered=False)
    out, b, dtype = rows.routine.out, rows.routine.b, rows.dtype
    vectorised = not isinstance(rows.size, int) or (_BY_INSERTION < rows.size < _VECTORISED and dtype.size >= 4)

    def write(row: Position, column: Position) -> None:
        if vectorised:
            if rows.descending:
                _turn_round(rows, row, column)
        else:
            keys, _ = rows.sorter.sort(rows.key_at(row, column, zeros_alike=False))
            with out.loop("0", str(rows.size)) as i:
                key = load(b, key_dtype(dtype), keys, i)
                store(b, from_key(b, key, dtype, rows.descending), "%result0", rows.place(row, i, column))
        if dtype.is_floating:
            _restore_zeros(rows, row, column)

    rows.each(write)
    _finish(region, node, rows, sort_first=vectorised)


def _turn_round(rows: _Rows, row: Position, column: Position) -> None:
    out, b = rows.routine.out, rows.routine.b
    half = rows.size // 2 if isinstance(rows.size, int) else out.new(f"lshr i64 {rows.size}, 1")
    with out.loop("0", str(half)) as i:
        last = plus(out, rows.size, -1)
        places = [rows.place(row, step, column) for step in (i, plus(out, times(out, i, -1), last))]
        pair = [load(b, rows.dtype, "%result0", place) for place in places]
        for place, x in zip(reversed(places), pair, strict=True):
            store(b, x, "%result0", place)


def _restore_zeros(rows: _Rows, row: Position, column: Position) -> None:
    """Puts the zeros of a row, where a negative one is among them, into the order that they had."""
    out, b, dtype = rows.routine.out, rows.routine.b, rows.dtype
    some, done, flag = out.label("zeros"), out.label("done"), out.alloca("i1")
    out.line(f"store i1 false, ptr {flag}")
    bits = key_dtype(dtype)
    with out.loop("0", str(rows.size)) as i:
        here = load(b, bits, "%result0", rows.place(row, i, column)).same(1 << bits.size * 8 - 1)
        seen = b.wrap(bool_, out.new(f"load i1, ptr {flag}")) | here
        out.line(f"store i1 {seen.ir}, ptr {flag}")
    out.branch_if(out.new(f"load i1, ptr {flag}"), some, done, unlikely=True)
    out.begin(some)
    cell = out.alloca("i64")
    out.line(f"store i64 0, ptr {cell}")

    def count_if(condition: Element) -> None:
        more, before = out.new(f"zext i1 {condition.ir} to i64"), out.new(f"load i64, ptr {cell}")
        out.line(f"store i64 {out.new(f'add i64 {before}, {more}')}, ptr {cell}")

    with out.loop("0", str(rows.size)) as i:
        x = load(b, dtype, "%result0", rows.place(row, i, column))
        count_if((x > 0.0) | b.is_nan(x) if rows.descending else x < 0.0)
    with out.loop("0", str(rows.size)) as i:
        x = load(b, dtype, "%x", rows.place(row, i, column))
        put, go_on = out.label("put"), out.label("next")
        out.branch_if(x.same(0.0).ir, put, go_on)
        out.begin(put)
        store(b, x, "%result0", rows.place(row, out.new(f"load i64, ptr {cell}"), column))
        count_if(b.constant(True, bool_))
        out.branch(go_on)
        out.begin(go_on)
    out.branch(done)
    out.begin(done)


@native("argsort", fits=_sorts, work=_work, of_open=_sorts_open)
def write_argsort(region: Region, node: Node) -> None:
    """The stable order."""
    rows = _Rows(region, node, 1, ordered=True)
    out, b = rows.routine.out, rows.routine.b

    def write(row: Position, column: Position) -> None:
        _, positions = rows.sorter.sort(rows.key_at(row, column, zeros_alike=True))
        with out.loop("0", str(rows.size)) as i:
            store(b, load(b, int32, positions, i), "%result0", rows.place(row, i, column))

    rows.each(write)
    _finish(region, node, rows)


@native("top_k", fits=lambda node: len(node.inputs) == 1 and _sorts(node), of_open=_sorts_open)
def write_top_k(region: Region, node: Node) -> None:
    """Of few, those so far are kept in order while the row goes by; else the whole row is sorted."""
    rows = _Rows(region, node, 2, ordered=True)
    out, b, count = rows.routine.out, rows.routine.b, node.attributes["k"]
    few = count <= _FEW and (not isinstance(rows.size, int) or count * 4 <= rows.size)

    def write(row: Position, column: Position) -> None:
        key_at = rows.key_at(row, column, zeros_alike=True)
        positions = _largest(rows, key_at, count) if few else rows.sorter.sort(key_at)[1]
        start = times(out, row, count)
        with out.loop("0", str(count)) as i:
            position = load(b, int32, positions, i)
            place = rows.place(row, b.cast(position, int64).ir, column)
            store(b, load(b, rows.dtype, "%x", place), "%result0", plus(out, start, i))
            store(b, position, "%result1", plus(out, start, i))

    if count:
        rows.each(write)
    _finish(region, node, rows)


def _largest(rows: _Rows, key_at: Callable[[str], Element], count: int) -> str:
    """The positions of the least keys, in order. A key that is not less than all that are kept changes nothing."""
    out, b, sorter = rows.routine.out, rows.routine.b, rows.sorter
    keys, positions = sorter.keys[0], sorter.positions[0]

    def insert(i: str, key: Element, last: str) -> None:
        def is_before(place: str) -> str:
            return b.compare("gt", load(b, sorter.dtype, keys, place), key).ir

        def move(source: str, target: str) -> None:
            store(b, load(b, sorter.dtype, keys, source), keys, target)
            store(b, load(b, uint32, positions, source), positions, target)

        place = sift(out, last, is_before, move)
        store(b, key, keys, place)
        store(b, b.cast(b.wrap(int64, i), uint32), positions, place)

    with out.loop("0", str(count)) as i:
        insert(i, key_at(i), i)
    with out.loop(str(count), str(rows.size)) as i:
        key = key_at(i)
        better, go_on = out.label("better"), out.label("next")
        worst = load(b, sorter.dtype, keys, count - 1)
        out.branch_if(b.compare("lt", key, worst).ir, better, go_on, unlikely=True)
        out.begin(better)
        insert(i, key, str(count - 1))
        out.branch(go_on)
        out.begin(go_on)
    return positions
