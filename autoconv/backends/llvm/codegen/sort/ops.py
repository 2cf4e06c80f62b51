"""Lower sort, argsort and top_k.

Rows of open size are sorted by NumPy; the order of their elements is computed as for constant sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_array, is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, open_dimensions, partitioned_routine, pointers
from autoconv.backends.llvm.codegen.sort.numpy_routines import held_array
from autoconv.backends.llvm.codegen.sort.parallel_merge import Halves, is_worthwhile
from autoconv.backends.llvm.codegen.sort.radix import BY_INSERTION, ON_STACK, Sorter, shift_up_larger
from autoconv.backends.llvm.codegen.sort.sort_keys import from_key, key_dtype, to_key
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product, times
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, bool_, float64, int32, int64, uint32
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_WORK = 60  # cost of one element, in units of 0.05 ns
_SHORT = 24  # elements up to which a loop sorts faster than NumPy
_MEDIUM = 1500  # elements up to which NumPy finds the stable order of float64 faster
_STABLE = 2  # NPY_STABLESORT
_FEW = 32  # largest k for which the k best are kept in order during one pass


# ---- the ops


def _is_descending(node: Node) -> bool:
    return bool(node.attributes.get("descending", node.op.name == "top_k"))


class _Rows:
    """The sorted rows, `outer` times `inner` of `size` elements along an axis, and the arguments of the routine."""

    def __init__(self, region: LoweringContext, node: Node, results: int, ordered: bool) -> None:
        x: Any = node.inputs[0].type
        shape, axis = sizes(x), node.attributes.get("axis", -1)
        axis %= len(shape)
        self.shape, self.size, self._several = shape, shape[axis], shape[:axis]
        self.dtype: DType = x.dtype
        self.descending = _is_descending(node)
        self.results = [f"%result{i}" for i in range(results)]
        names = [f"ptr noalias {name}" for name in (*self.results, "%keys", "%positions")]
        self._region, self._arguments = region, [*open_dimensions(region), "ptr noalias readonly %x", *names]
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

    def write_rows(self, write: Callable[[Position, Position], None]) -> None:
        """Write the loops over the rows."""
        out = self.routine.out
        if 0 not in self.shape:
            with out.loop("%first", "%last") as row, out.loop("0", str(self.inner)) as column:
                write(row, column)

    def finish(self) -> str:
        """Return the name of the routine. Threads share the rows where each has memory of its own for them."""
        each = _WORK if self.sorter.on_stack else 0
        if is_known(self.shape):
            outer, work = math.prod(self._several), each * math.prod(self.shape)
            return partitioned_routine(self._region, self._arguments, self.routine, outer, work)
        return partitioned_routine(self._region, self._arguments, self.routine, self._several, each, self.shape)


def _finish(region: LoweringContext, node: Node, rows: _Rows, sort_first: bool = False) -> None:
    """Call the routine; with `sort_first`, NumPy sorts the result before."""
    for value in node.results:
        region.set(value, region.new_array(value.type))
    if sort_first:
        _sort_by_numpy(region, node)
    call_arguments = pointers(region, node.inputs[0], *node.results)
    buffers = []
    if sort_first:
        call_arguments += ["ptr null", "ptr null"]
    elif not isinstance(rows.size, int):
        for dtype in (rows.sorter.dtype, uint32):
            buffer = region.body.new_sized_array(dtype, (times(region.out, rows.size, 2),))
            buffers.append((buffer.slot or "", TensorType(dtype, (None,))))
            call_arguments += pointers(region, buffer)
    elif rows.size > ON_STACK:
        for dtype in (rows.sorter.dtype, uint32):
            type_ = TensorType(dtype, (2 * rows.size,))
            buffer = region.new_array(type_)
            buffers.append((buffer.slot or "", type_))
            call_arguments += pointers(region, buffer)
    else:
        call_arguments += ["ptr null", "ptr null"]
    call(region, rows.finish(), *open_dimensions(region), *call_arguments)
    for slot, type_ in buffers:
        region.body.release_or_keep(slot, type_)


def _sort_by_numpy(region: LoweringContext, node: Node) -> None:
    """Sort a copy in place by NumPy, whose vectorised sort is faster for rows of medium length."""
    out, (x,), (result,) = region.out, node.inputs, node.results
    kind: Any = x.type
    count = product(out, element_count(out, sizes(kind)), kind.dtype.size)
    out.copy(region.data(result), region.data(x), count)
    axis = node.attributes.get("axis", -1) % len(sizes(kind))
    answer = out.call_c("PyArray_Sort", "i32", "ptr, i32, i32", region.object(result).ir, axis, 0)
    region.body.fail_if(out.icmp("slt", answer, 0))


def _sorts(node: Node) -> bool:
    type_: Any = node.inputs[0].type
    return is_array(type_) and sizes(type_)[node.attributes.get("axis", -1)] < 2**31


def _sorts_open(node: Node) -> bool:
    return len(node.inputs) == 1 and all(is_dense(value.type) for value in (*node.inputs, *node.results))


def _is_vectorised(node: Node) -> bool:
    """Return whether NumPy sorts rows without their positions: its sorts of 32 and 64 bits use vector registers."""
    type_: Any = node.inputs[0].type
    size = sizes(type_)[node.attributes.get("axis", -1)]
    if not current_target().has_libraries or node.op.name != "sort":
        return False
    return not isinstance(size, int) or (size > _SHORT and type_.dtype.size >= 4)


def _single_thread_work(node: Node) -> int:
    """Estimate the work in a single thread; 0 where threads share short rows, or the halves of a single one."""
    shape, axis = sizes(node.inputs[0].type), node.attributes.get("axis", -1)
    alone = shape[axis] > ON_STACK and not _in_halves(node) and not _is_vectorised(node)
    return _WORK * math.prod(shape) if alone else 0


def _in_halves(node: Node) -> bool:
    type_: Any = node.inputs[0].type
    shape = sizes(type_)
    size = shape[node.attributes.get("axis", -1)]
    if _is_vectorised(node):
        return False
    return is_known(shape) and math.prod(shape) == size and is_worthwhile(size, type_.dtype, _WORK * size)


def _sort_in_halves(region: LoweringContext, node: Node, ordered: bool) -> None:
    """Sort a single row in parallel; `ordered`: the result is the positions, not the elements."""
    type_: Any = node.inputs[0].type
    size, dtype, descending = math.prod(sizes(type_)), type_.dtype, _is_descending(node)
    (result,) = node.results
    region.set(result, region.new_array(result.type))
    halves = Halves(region, size, key_dtype(dtype), ordered, _WORK * size)

    def key_at(routine: Routine, place: str) -> Element:
        return to_key(routine.b, load(routine.b, dtype, "%x", place), descending, zeros_alike=ordered)

    def put(routine: Routine, place: str, key: Element, position: Element | None) -> None:
        b = routine.b
        element = from_key(b, key, dtype, descending) if position is None else b.cast(position, int32)
        store(b, element, "%result0", place)

    x, element = region.data(node.inputs[0]), region.data(result)
    halves.sort(x, element, key_at, put)
    if dtype.is_floating and not ordered:
        routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result0"], short=True)
        _restore_zeros(routine, dtype, descending, size, lambda i: i)
        call(region, routine.finish(), f"ptr {x}", f"ptr {element}")


@native("sort", fits=_sorts, work=_single_thread_work, of_open=_sorts_open)
def write_sort(region: LoweringContext, node: Node) -> None:
    """Sort by the keys alone; -0.0 and 0.0, which are equal, keep their order."""
    if _in_halves(node):
        _sort_in_halves(region, node, ordered=False)
        return
    rows = _Rows(region, node, 1, ordered=False)
    out, b, dtype = rows.routine.out, rows.routine.b, rows.dtype
    vectorised = _is_vectorised(node)

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
            _restore_zeros(rows.routine, dtype, rows.descending, rows.size, lambda i: rows.place(row, i, column))

    rows.write_rows(write)
    _finish(region, node, rows, sort_first=vectorised)


def _turn_round(rows: _Rows, row: Position, column: Position) -> None:
    out, b = rows.routine.out, rows.routine.b
    half = rows.size // 2 if isinstance(rows.size, int) else out.op("lshr", rows.size, 1)
    with out.loop("0", str(half)) as i:
        last = plus(out, rows.size, -1)
        places = [rows.place(row, step, column) for step in (i, plus(out, times(out, i, -1), last))]
        pair = [load(b, rows.dtype, "%result0", place) for place in places]
        for place, x in zip(reversed(places), pair, strict=True):
            store(b, x, "%result0", place)


def _restore_zeros(
    routine: Routine, dtype: DType, descending: bool, size: Position, place: Callable[[str], Position]
) -> None:
    """Restore the original order of the zeros of a row, if a negative one is among them.

    `place` maps a position in the row to its offset in `%x` and `%result0`.
    """
    out, b = routine.out, routine.b
    flag = out.alloca("i1")
    out.store("i1", "false", flag)
    bits = key_dtype(dtype)
    with out.loop("0", str(size)) as i:
        here = load(b, bits, "%result0", place(i)).same(1 << bits.size * 8 - 1)
        seen = b.wrap(bool_, out.load("i1", flag)) | here
        out.store("i1", seen.ir, flag)
    with out.unlikely(out.load("i1", flag)):
        cell = out.alloca("i64")
        out.store("i64", 0, cell)

        def count_if(condition: Element) -> None:
            more = b.cast(condition, int64).ir
            out.store("i64", out.op("add", out.load("i64", cell), more), cell)

        with out.loop("0", str(size)) as i:
            x = load(b, dtype, "%result0", place(i))
            count_if((x > 0.0) | b.is_nan(x) if descending else x < 0.0)
        with out.loop("0", str(size)) as i:
            x = load(b, dtype, "%x", place(i))
            with out.if_(x.same(0.0).ir):
                store(b, x, "%result0", place(out.load("i64", cell)))
                count_if(b.constant(True, bool_))


@native("argsort", fits=_sorts, work=_single_thread_work, of_open=_sorts_open)
def write_argsort(region: LoweringContext, node: Node) -> None:
    """Return the stable order."""
    if _in_halves(node):
        _sort_in_halves(region, node, ordered=True)
        return
    if _is_ordered_by_numpy(node):
        _order_by_numpy(region, node)
        return
    rows = _Rows(region, node, 1, ordered=True)
    out, b = rows.routine.out, rows.routine.b

    def write(row: Position, column: Position) -> None:
        _, positions = rows.sorter.sort(rows.key_at(row, column, zeros_alike=True))
        with out.loop("0", str(rows.size)) as i:
            store(b, load(b, int32, positions, i), "%result0", rows.place(row, i, column))

    rows.write_rows(write)
    _finish(region, node, rows)


def _is_ordered_by_numpy(node: Node) -> bool:
    """Return whether NumPy's merges are faster than insertion, and than a radix sort of as many digits."""
    (x,), shape = node.inputs, sizes(node.inputs[0].type)
    if not current_target().has_libraries or x.dtype is not float64 or _is_descending(node) or not is_known(shape):
        return False
    return BY_INSERTION[x.dtype.size] < shape[node.attributes.get("axis", -1)] <= _MEDIUM


def _order_by_numpy(region: LoweringContext, node: Node) -> None:
    """Convert the positions that NumPy finds to the dtype of the result."""
    out, (x,), (result,) = region.out, node.inputs, node.results
    array = held_array(region, x)
    copy = None
    if array is None:
        array = copy = region.new_array(x.type)
        out.copy(region.address(copy), region.data(x), math.prod(sizes(x.type)) * x.dtype.size)
    axis = node.attributes.get("axis", -1) % len(sizes(x.type))
    positions = out.call_c("PyArray_ArgSort", "ptr", "ptr, i32, i32", array.ir, axis, _STABLE)
    region.body.fail_if(out.is_null(positions))
    places = region.body.own_reference(positions)
    region.set(result, region.new_array(result.type))
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result"])
    with routine.out.loop("0", str(math.prod(sizes(result.type)))) as i:
        number = load(routine.b, int64, "%x", i)
        store(routine.b, routine.b.cast(number, result.dtype), "%result", i)
    call(region, routine.finish(), *pointers(region, places, result))
    region.body.release(places.slot)
    if copy is not None:
        region.body.release_or_keep(copy.slot, x.type)


@native("top_k", fits=lambda node: len(node.inputs) == 1 and _sorts(node), of_open=_sorts_open)
def write_top_k(region: LoweringContext, node: Node) -> None:
    """Keep the k best in order during one pass, if k is small; else sort the whole row."""
    rows = _Rows(region, node, 2, ordered=True)
    out, b, count = rows.routine.out, rows.routine.b, node.attributes["k"]
    few = count <= _FEW and (not isinstance(rows.size, int) or count * 4 <= rows.size)

    def write(row: Position, column: Position) -> None:
        key_at = rows.key_at(row, column, zeros_alike=True)
        positions = _select_largest(rows, key_at, count) if few else rows.sorter.sort(key_at)[1]
        start = times(out, row, count)
        with out.loop("0", str(count)) as i:
            position = load(b, int32, positions, i)
            place = rows.place(row, b.cast(position, int64).ir, column)
            store(b, load(b, rows.dtype, "%x", place), "%result0", plus(out, start, i))
            store(b, position, "%result1", plus(out, start, i))

    if count:
        rows.write_rows(write)
    _finish(region, node, rows)


def _select_largest(rows: _Rows, key_at: Callable[[str], Element], count: int) -> str:
    """Return the positions of the least keys, in order; a key that is not less than all kept ones changes nothing."""
    out, b, sorter = rows.routine.out, rows.routine.b, rows.sorter
    keys, positions = sorter.keys[0], sorter.positions[0]

    def insert(i: str, key: Element, last: str) -> None:
        def is_before(place: str) -> str:
            return b.compare("gt", load(b, sorter.dtype, keys, place), key).ir

        def move(source: str, target: str) -> None:
            store(b, load(b, sorter.dtype, keys, source), keys, target)
            store(b, load(b, uint32, positions, source), positions, target)

        place = shift_up_larger(out, last, is_before, move)
        store(b, key, keys, place)
        store(b, b.cast(b.wrap(int64, i), uint32), positions, place)

    with out.loop("0", str(count)) as i:
        insert(i, key_at(i), i)
    with out.loop(str(count), str(rows.size)) as i:
        key = key_at(i)
        worst = load(b, sorter.dtype, keys, count - 1)
        with out.unlikely(b.compare("lt", key, worst).ir):
            insert(i, key, str(count - 1))
    return positions
