"""State that the regions of one native function share: owned references, spare arrays and ranges of integers."""

from __future__ import annotations

import math
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.analysis.loop_dependence import LoopDependence
from autoconv.backends.llvm.analysis.representation import has_computed_sizes, is_dense, register_of, sizes
from autoconv.backends.llvm.codegen.alias_scopes import AliasScopes
from autoconv.backends.llvm.codegen.object_table import ObjectTable
from autoconv.backends.llvm.codegen.stack_buffers import StackBuffers
from autoconv.backends.llvm.codegen.values import Native, Object, SliceBounds
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, product
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE, TRUE
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.backends.llvm.runtime.array_pool import MAX_POOLED_BYTES, MIN_POOLED_BYTES
from autoconv.backends.llvm.runtime.library import MEMORY_HANDLER
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.linear_form import Range
from autoconv.graph.types import Dimension, Type
from autoconv.ops.analysis.alias import Overlaps, Writes
from autoconv.ops.analysis.allocation import fresh_objects
from autoconv.ops.analysis.content_ranges import content_ranges
from autoconv.ops.analysis.integer_ranges import integer_ranges

_SPARE_LIMIT = 8  # spare arrays of one type that are kept for reuse
POLL_INTERVAL, _SHORT_POLL_INTERVAL = 1 << 16, 1 << 8  # calls of `poll` between two checks; powers of two


def _has_loops(graph: Graph) -> bool:
    return any(node.op.traits.repeats for node in graph.walk())


def _known_ranges(graph: Graph, overlaps: Overlaps, assumed_ranges: Mapping[Value, Range]) -> dict[Value, Range]:
    """Return the ranges of integers by an analysis of the whole graph, which only loops need."""
    if not _has_loops(graph):
        return {}  # lowerings derive all ranges while they write code
    ranges = integer_ranges(graph, assumed_ranges)
    return ranges | content_ranges(graph, overlaps, ranges)


def _spare_key(type_: Type) -> Any:
    """Return a key shared by types whose arrays can take each other's memory; vectors of computed sizes have one."""
    shape = (None,) if _is_vector_of_computed_size(type_) else sizes(type_)
    return shape, type_.dtype.name  # type: ignore[union-attr]


def _is_vector_of_computed_size(type_: Type) -> bool:
    """Return whether the type is that of vectors whose size may differ between iterations."""
    return has_computed_sizes(type_) and len(sizes(type_)) == 1


class Body:
    """State that the regions of one native function share while its text is written.

    A *slot* is a cell on the stack that owns a reference; the exit of the function releases all slots. In loops, dead
    arrays are kept as *spare arrays* for later arrays of their type. Otherwise the allocator would return their memory
    to the system in each iteration, which can take many times as long as the computation. A spare vector of computed
    size becomes a shorter one by another dimension; only those below the pool's sizes are kept.
    """

    def __init__(
        self,
        module: ModuleText,
        out: FunctionText,
        objects: ObjectTable,
        graph: Graph,
        stacks: frozenset[Value],
        classes: LoweringClasses,
        arguments_are_disjoint: bool = True,
    ) -> None:
        self.stacks = stacks  # values that are lists on a stack of native code (see codegen/lists/stack.py)
        self.classes = classes
        self.module = module
        self.out = out
        self.stack_buffers = StackBuffers(out)
        self.objects = objects
        self.failure_label = "failed"
        self.loop_depth = 0  # number of loops around the position that is written
        # Nodes that add to running totals of the loops being written (see control/running_totals.py).
        self.running_totals: frozenset[Node] = frozenset()
        self.is_in_serial_loop = False  # True in an innermost loop that LLVM does not vectorise
        # For recursion (see control/recursion.py). In a recursive function, the registers of state and depth;
        # elsewhere, the address of the state, from the first recursive call on.
        self.recursion: tuple[str, str] | None = None
        self.recursion_state: str | None = None
        self.settled_cells: dict[str, str] = {}  # register of a settled object -> its cell (see write_barrier.py)
        self._poll_counter: str | None = None  # the address of the counter of polls
        self.ranges: dict[str, tuple[int, int]] = {}  # register of an integer -> (least, greatest)
        # Dimensions that registers hold: open sizes, and what the program computes from them.
        symbols = module.open_sizes.symbols if module.open_sizes is not None else ()
        self.dimensions: dict[str, Dimension] = {register_of(symbol): symbol for symbol in symbols}
        # Facts about registers of integers: r -> {s: c} means r <= s + c, and r -> (s, c) means r = s + c.
        self.upper_bounds: dict[str, dict[str, int]] = {}
        self.offsets: dict[str, tuple[str, int]] = {}
        # (register of an index, register of a size) -> the index counted from the start, which is checked.
        self.normalised_positions: ChainMap[tuple[str, str], str] = ChainMap()
        # Registers of a slice's parts and of a size -> start, length and step (see memory/slice_bounds.py).
        self.slice_bounds: ChainMap[tuple[str, ...], SliceBounds] = ChainMap()
        self.overlaps = Overlaps(graph, arguments_are_disjoint)
        self.value_ranges = _known_ranges(graph, self.overlaps, module.assumed_ranges)
        self.writes = Writes(graph, self.overlaps)
        self.alias_scopes = AliasScopes(module, self.overlaps)
        self.dependence = LoopDependence(graph, self.value_ranges, self.overlaps)
        self.fresh_values = fresh_objects(graph)
        types = (value.type for node in graph.walk() for value in node.results)
        self._spare_counts = Counter(_spare_key(type_) for type_ in types if is_dense(type_))  # key -> number of values
        self._spares: dict[Any, tuple[str, int]] = {}  # `_spare_key` -> (first slot, number of slots) of spare arrays
        # For each enclosing loop: registers of the objects that it captures, and
        # (register of the source, purpose) -> slot of a loop-invariant value.
        self._invariants: list[tuple[frozenset[str], dict[Any, str]]] = []

    def own_reference(self, ir: str) -> Object:
        """Store a new reference, the register `ir`, in a new slot, which owns the reference from then on."""
        slot = self.out.slot()
        self.out.store("ptr", ir, slot)
        return Object(ir, slot)

    def release(self, slot: str | None) -> None:
        """Release the reference that a slot owns."""
        assert slot is not None
        self.out.call("release", slot)

    def release_or_keep(self, slot: str | None, type_: Type) -> None:
        """Release the array of type `type_` in a slot; code inside a loop keeps it as a spare array if possible."""
        spares = self._spare_slots(type_)
        if spares is None:
            self.release(slot)
        elif _is_vector_of_computed_size(type_):
            self.out.call("keep_spare_vector", slot, *spares, type_.dtype.size)  # type: ignore[union-attr]
        else:
            self.out.call("keep_spare", slot, *spares)

    def begin_loop(self, captures: Iterable[Native]) -> None:
        """Enter a loop with these captures, until `end_loop`."""
        self.loop_depth += 1
        self._invariants.append((frozenset(capture.ir for capture in captures if isinstance(capture, Object)), {}))

    def loop_invariant_slot(self, source: Object, purpose: Any) -> str | None:
        """Return a slot for a loop-invariant value that is derived from `source`; `purpose` distinguishes such values.

        The slot is null before the first iteration, whose code fills it. Return None unless the innermost loop captures
        `source`.
        """
        captured_registers, slots = self._invariants[-1] if self._invariants else (frozenset(), {})
        if source.ir not in captured_registers:
            return None
        key = source.ir, purpose
        if key not in slots:
            slots[key] = self.out.slot()
        return slots[key]

    def new_array(self, type_: Type) -> Object:
        """Make an uninitialised array of the type."""
        out, spares = self.out, self._spare_slots(type_)
        if spares is None:
            array = self._allocate(type_)
        else:
            if _is_vector_of_computed_size(type_):
                spare = out.call("spare_vector", *spares, sizes(type_)[0])
            else:
                spare = out.call("spare_array", *spares)
            array = out.where(out.is_null(spare), lambda: self._allocate(type_), spare)
        self.fail_if(out.is_null(array))
        result = self.own_reference(array)
        return replace(result, address=out.load("ptr", out.gep("i8", array, abi.DATA)))

    def _allocate(self, type_: Type) -> str:
        """Return a new array, or NULL if there is no memory; memory of large arrays comes from the pool."""
        out, shape, dtype = self.out, sizes(type_), type_.dtype  # type: ignore[union-attr]
        if not is_known(shape):
            return self._allocate_open(dtype, shape)
        arguments = len(shape), self.objects.shape(shape), self.objects.reference(dtype.numpy)(out)
        if MIN_POOLED_BYTES <= math.prod(shape) * dtype.size <= MAX_POOLED_BYTES:
            return out.call("new_large_array", *arguments, self.objects.reference(MEMORY_HANDLER)(out))
        return out.call("new_array", *arguments)

    def _allocate_open(self, dtype: DType, shape: Sequence[Position]) -> str:
        """Return a new array of sizes in registers."""
        out = self.out
        descriptor, memory_handler = (self.objects.reference(item)(out) for item in (dtype.numpy, MEMORY_HANDLER))
        size = element_count(out, shape)
        dimensions = self.store_dimensions(shape)
        byte_count = product(out, size, dtype.size)
        return out.call("new_sized_array", len(shape), dimensions, descriptor, memory_handler, byte_count)

    def store_dimensions(self, shape: Sequence[Position]) -> str:
        """Store the dimensions in memory, and return the address."""
        address = self.out.alloca(f"[{max(len(shape), 1)} x i64]")
        for i, size in enumerate(shape):
            self.out.store("i64", size, self.out.gep("i64", address, i))
        return address

    def new_sized_array(self, dtype: DType, shape: Sequence[Position]) -> Object:
        """Make an uninitialised array whose dimensions are numbers or registers."""
        out, rank = self.out, len(shape)
        dimensions = self.store_dimensions(shape)
        descriptor = self.objects.reference(dtype.numpy)(out)
        result = out.call("new_array", rank, dimensions, descriptor)
        self.fail_if(out.is_null(result))
        return self.own_reference(result)

    def end_loop(self) -> None:
        """Release the loop-invariant values of the loop, and after the outermost loop the spare arrays."""
        self.loop_depth -= 1
        for slot in self._invariants.pop()[1].values():
            self.release(slot)
        self.release_spares()

    def release_spares(self) -> None:
        """Release the spare arrays if the position is outside of all loops: after a loop, or where an error left it."""
        if not self.loop_depth:
            for first_slot, count in self._spares.values():
                self.out.call("release_all", first_slot, count)

    def _spare_slots(self, type_: Type) -> tuple[str, int] | None:
        """Return the first slot for spare arrays of the type, and the number of slots; None if none are kept."""
        is_reusable = _is_vector_of_computed_size(type_) or not has_computed_sizes(type_)
        if not self.loop_depth or not is_dense(type_) or not is_reusable:
            return None
        key = _spare_key(type_)
        if key not in self._spares:
            slots = [self.out.slot() for _ in range(min(max(self._spare_counts[key], 1), _SPARE_LIMIT))]
            self._spares[key] = slots[0], len(slots)  # new slots are adjacent in memory
        return self._spares[key]

    def fail_if(self, failure: str) -> None:
        """Branch to the failure block if the i1 `failure` holds."""
        self.out.leave_if(failure, self.failure_label)

    def call_python(self, function: Callable[[Any], Any], argument: str) -> str:
        """Call a Python function with one object, and return a new reference to its result."""
        out = self.out
        callee, arguments = self.objects.reference(function)(out), out.alloca("ptr")
        out.store("ptr", argument, arguments)
        result = out.call("call_python", callee, arguments, 1)
        self.fail_if(out.is_null(result))
        return result

    def range_of(self, number: Element) -> tuple[int, int]:
        """Return the range (least, greatest) of an integer."""
        if number.dtype.is_bool:
            return 0, 1
        if number.ir[0] != "%":  # a constant
            return int(number.ir), int(number.ir)
        size = 8 * number.dtype.size
        low, high = (0, (1 << size) - 1) if number.dtype.is_unsigned else (-(1 << size - 1), (1 << size - 1) - 1)
        return self.ranges.get(number.ir, (low, high))

    def record_range(self, number: Element, range_: tuple[int, int]) -> None:
        """Record a range of an integer."""
        if number.ir[0] == "%":
            low, high = self.range_of(number)
            self.ranges[number.ir] = max(low, range_[0]), min(high, range_[1])

    def record_upper_bound(self, number: Element, base: Element, offset: int) -> None:
        """Record that an integer is at most `base + offset`."""
        if number.ir[0] == "%" and base.ir[0] == "%":
            base_bounds = self.upper_bounds.get(base.ir, {})
            indirect_bounds = {register: bound + offset for register, bound in base_bounds.items()}
            self.upper_bounds[number.ir] = {base.ir: offset, **indirect_bounds, **self.upper_bounds.get(number.ir, {})}

    def is_below(self, number: Element, size: Position, offset: int = 0) -> bool:
        """Return whether an integer is known to be less than `size + offset`, where a register has the size."""
        return self.upper_bounds.get(number.ir, {}).get(str(size), offset) < offset

    def known_difference(self, x: Element, y: Element) -> int | None:
        """Return `x - y` if both are the same register plus recorded constants, else None."""
        (x_base, x_offset), (y_base, y_offset) = self._base_and_offset(x.ir), self._base_and_offset(y.ir)
        return x_offset - y_offset if x_base == y_base else None

    def _base_and_offset(self, register: str) -> tuple[str, int]:
        """Return the register to which recorded constants were added, and their sum."""
        offset = 0
        while register in self.offsets:
            register, step = self.offsets[register]
            offset += step
        return register, offset

    def finish_with_flag(self) -> None:
        """Finish a function that returns whether it succeeded; on failure it releases the references in its slots."""
        out = self.out
        out.ret(TRUE)
        out.begin(self.failure_label)
        if out.slot_count:
            out.call("release_all", "%slots", out.slot_count)
        out.ret(FALSE)
        out.finish()

    def count_iterations_and_poll(self, iterations: str) -> None:
        """Count `iterations` short iterations that are about to run, and poll if enough of them have been counted."""
        self._count_down(self.out.op("add", self.out.op("lshr", iterations, 3), 1))  # eight of them count as one

    def share_poll_counter(self, cell: str) -> None:
        """Count calls of `poll` in a given cell, which all activations of the function share."""
        self._poll_counter = cell

    def poll(self, often: bool) -> None:
        """Count a call; once in `POLL_INTERVAL` calls, check for an interrupt and let other threads run.

        If `often` is true, for loops with long iterations, do so once in `_SHORT_POLL_INTERVAL` calls.
        """
        self._count_down(POLL_INTERVAL // _SHORT_POLL_INTERVAL if often else 1)

    def _poll_cell(self) -> str:
        """Return the address of the counter of polls."""
        if self._poll_counter is None:
            self._poll_counter = self.out.alloca("i64", str(POLL_INTERVAL))
        return self._poll_counter

    def _count_down(self, amount: Position) -> None:
        """Subtract from the counter of polls; poll and begin again once it reaches 0."""
        out, cell = self.out, self._poll_cell()
        remaining_count = out.op("sub", out.load("i64", cell), amount)
        out.store("i64", remaining_count, cell)
        with out.unlikely(out.icmp("sle", remaining_count, 0)):  # one instruction with the subtraction
            out.store("i64", POLL_INTERVAL, cell)
            self.fail_if(out.call("pause"))
