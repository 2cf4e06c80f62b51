"""State that all regions of one native function share: slots, cleanup, spare arrays and integer ranges."""

from __future__ import annotations

import math
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.analysis.representation import has_computed, is_dense, sizes
from autoconv.backends.llvm.codegen.alias_scopes import AliasScopes
from autoconv.backends.llvm.codegen.object_table import Calls
from autoconv.backends.llvm.codegen.stack_buffers import Locals
from autoconv.backends.llvm.codegen.values import Native, Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, product
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE, TRUE
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.backends.llvm.runtime.array_pool import LARGEST, SMALLEST
from autoconv.backends.llvm.runtime.library import HANDLER
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import Type
from autoconv.ops.analysis.alias import Overlaps, Writes
from autoconv.ops.analysis.allocation import fresh_objects
from autoconv.ops.analysis.integer_ranges import integer_ranges

_MOST_SPARES = 8  # spare arrays of one type that are kept for reuse


def _has_loops(graph: Graph) -> bool:
    return any(node.op.traits.repeats for node in graph.walk())


def _spare_key(type_: Type) -> Any:
    return sizes(type_), type_.dtype.name  # type: ignore[union-attr]


class Body:
    """State that all regions of one native function share.

    Inside of loops, dead arrays are kept for reuse by later ones of their type. The allocator would return their memory
    to the system in each iteration, which costs many times the computation.
    """

    def __init__(
        self,
        module: ModuleText,
        out: FunctionText,
        calls: Calls,
        graph: Graph,
        stacks: frozenset[Value],
        classes: LoweringClasses,
        arguments_are_apart: bool = True,
    ) -> None:
        self.stacks = stacks
        self.classes = classes
        self.module = module
        self.out = out
        self.locals = Locals(out)
        self.calls = calls
        self.failed = "failed"
        self.loops = 0  # depth of the loops around the present position
        # Set in recursive functions and around the first call of one (see control/recursion.py).
        self.recursion: tuple[str, str] | None = None
        self.recursion_state: str | None = None
        self._ticks: str | None = None
        self.ranges: dict[str, tuple[int, int]] = {}  # known ranges of integers in registers
        self.known_ranges = integer_ranges(graph) if _has_loops(graph) else {}  # straight code derives them as it goes
        self.upper_bounds: dict[str, dict[str, int]] = {}  # upper bounds relative to other registers: offsets
        # Positions of indices, by the registers of an index and a size: those that the present region checked.
        self.positions: ChainMap[tuple[str, str], str] = ChainMap()
        self.overlaps = Overlaps(graph, arguments_are_apart)
        self.writes = Writes(graph, self.overlaps)
        self.scopes = AliasScopes(module, self.overlaps)
        self.fresh = fresh_objects(graph)
        types = (value.type for node in graph.walk() for value in node.results)
        self._spare_counts = Counter(_spare_key(type_) for type_ in types if is_dense(type_))
        self._spares: dict[Any, tuple[str, int]] = {}
        # For each enclosing loop: the objects that it captures, and slots for loop-invariant values made of them.
        self._invariants: list[tuple[frozenset[str], dict[Any, str]]] = []

    def own(self, ir: str) -> Object:
        """Store a new reference into a slot of its own."""
        slot = self.out.slot()
        self.out.store("ptr", ir, slot)
        return Object(ir, slot)

    def release(self, slot: str | None) -> None:
        """Release the reference that a slot owns."""
        assert slot is not None
        self.out.call("release", slot)

    def release_or_keep(self, slot: str | None, type_: Type) -> None:
        """Release a value of that type after its last use, or keep it as a spare array."""
        spares = self._spares_of(type_)
        if spares is None:
            self.release(slot)
        else:
            self.out.call("keep", slot, spares[0], spares[1])

    def begin_loop(self, captures: Iterable[Native]) -> None:
        self.loops += 1
        self._invariants.append((frozenset(one.ir for one in captures if isinstance(one, Object)), {}))

    def loop_invariant_slot(self, source: Object, what: Any) -> str | None:
        """Return a slot, initially null, for a loop-invariant value made of an object that the innermost loop captures.

        The first iteration fills it. None if `source` is no such object.
        """
        captured, slots = self._invariants[-1] if self._invariants else (frozenset(), {})
        if source.ir not in captured:
            return None
        key = source.ir, what
        if key not in slots:
            slots[key] = self.out.slot()
        return slots[key]

    def new_array(self, type_: Type) -> Object:
        """Make an uninitialised array of the type."""
        out, spares = self.out, self._spares_of(type_)
        if spares is None:
            array = self._new_static_array(type_)
        else:
            spare = out.call("spare_array", spares[0], spares[1])
            array = out.where(out.is_null(spare), lambda: self._new_static_array(type_), spare)
        self.check(out.is_null(array))
        return self.own(array)

    def _new_static_array(self, type_: Type) -> str:
        out, shape, dtype = self.out, sizes(type_), type_.dtype  # type: ignore[union-attr]
        if not is_known(shape):
            return self._new_open_array(dtype, shape)
        what = len(shape), self.calls.shape(shape), self.calls.object(dtype.numpy)(out)
        if SMALLEST <= math.prod(shape) * dtype.size <= LARGEST:
            return out.call("new_large_array", *what, self.calls.object(HANDLER)(out))
        return out.call("new_array", *what)

    def _new_open_array(self, dtype: DType, shape: Sequence[Position]) -> str:
        out = self.out
        descriptor, pool = (self.calls.object(item)(out) for item in (dtype.numpy, HANDLER))
        size = element_count(out, shape)
        place = self.dimensions(shape)
        bytes_ = product(out, size, dtype.size)
        return out.call("new_sized_array", len(shape), place, descriptor, pool, bytes_)

    def dimensions(self, shape: Sequence[Position]) -> str:
        """Return the address of memory that holds the dimensions."""
        place = self.out.alloca(f"[{max(len(shape), 1)} x i64]")
        for i, size in enumerate(shape):
            self.out.store("i64", size, self.out.gep("i64", place, i))
        return place

    def new_counted(self, dtype: DType, shape: Sequence[Position]) -> Object:
        """Make an uninitialised array whose dimensions are numbers or registers."""
        out, rank = self.out, len(shape)
        dimensions = self.dimensions(shape)
        descriptor = self.calls.object(dtype.numpy)(out)
        result = out.call("new_array", rank, dimensions, descriptor)
        self.check(out.is_null(result))
        return self.own(result)

    def end_loop(self) -> None:
        """Release the loop-invariant values of the loop, and after the outermost loop the spare arrays."""
        self.loops -= 1
        for slot in self._invariants.pop()[1].values():
            self.release(slot)
        self.release_spares()

    def release_spares(self) -> None:
        """Release the spare arrays after the outermost loop, or where an error left one."""
        if not self.loops:
            for first, count in self._spares.values():
                self.out.call("release_all", first, count)

    def _spares_of(self, type_: Type) -> tuple[str, int] | None:
        """Return the first slot for spare arrays of the type and the number of slots; None where nothing is kept."""
        if not self.loops or not is_dense(type_) or has_computed(type_):  # computed sizes differ between iterations
            return None
        key = _spare_key(type_)
        if key not in self._spares:
            slots = [self.out.slot() for _ in range(min(max(self._spare_counts[key], 1), _MOST_SPARES))]  # consecutive
            self._spares[key] = slots[0], len(slots)
        return self._spares[key]

    def check(self, failure: str) -> None:
        """Branch to the failure block if the i1 `failure` holds."""
        self.out.leave_if(failure, self.failed)

    def call_python(self, function: Callable[[Any], Any], argument: str) -> str:
        """Return a new reference to what a Python function returns for an object."""
        out = self.out
        called, place = self.calls.object(function)(out), out.alloca("ptr")
        out.store("ptr", argument, place)
        result = out.call("call_python", called, place, 1)
        self.check(out.is_null(result))
        return result

    def range_of(self, number: Element) -> tuple[int, int]:
        """Return the range (least, greatest) of an integer."""
        if number.dtype.is_bool:
            return 0, 1
        if number.ir[0] != "%":
            return int(number.ir), int(number.ir)
        size = 8 * number.dtype.size
        low, high = (0, (1 << size) - 1) if number.dtype.is_unsigned else (-(1 << size - 1), (1 << size - 1) - 1)
        return self.ranges.get(number.ir, (low, high))

    def note_range(self, number: Element, range_: tuple[int, int]) -> None:
        """Record a range of an integer."""
        if number.ir[0] == "%":
            low, high = self.range_of(number)
            self.ranges[number.ir] = max(low, range_[0]), min(high, range_[1])

    def note_limit(self, number: Element, base: Element, by: int) -> None:
        """Record that an integer is at most `base + by`."""
        if number.ir[0] == "%" and base.ir[0] == "%":
            further = {register: offset + by for register, offset in self.upper_bounds.get(base.ir, {}).items()}
            self.upper_bounds[number.ir] = {base.ir: by, **further, **self.upper_bounds.get(number.ir, {})}

    def is_below(self, number: Element, size: Position) -> bool:
        """Return whether an integer is known to be less than a size held in a register."""
        return self.upper_bounds.get(number.ir, {}).get(str(size), 0) < 0

    def finish_with_flag(self) -> None:
        """Finish a function that returns whether it succeeded, and releases what its slots hold where it failed."""
        out = self.out
        out.ret(TRUE)
        out.begin(self.failed)
        if out.slots:
            out.call("release_all", "%slots", out.slots)
        out.ret(FALSE)
        out.finish()

    def poll_after(self, iterations: str) -> None:
        """Count `iterations` short iterations that are about to run, and poll if that is due."""
        if self._ticks is None:
            self._ticks = self.out.alloca("i64", "0")
        out = self.out
        before = out.load("i64", self._ticks)
        more = out.op("add", out.op("lshr", iterations, 3), 1)
        ticks = out.op("add", before, more)
        out.store("i64", ticks, self._ticks)
        changed = out.op("xor", before, ticks)
        self._call_pending(out.icmp("ugt", changed, 65535))

    def count_in(self, cell: str) -> None:
        """Count polls in that cell, which all activations of the function share."""
        self._ticks = cell

    def poll(self, often: bool) -> None:
        """Check for an interrupt and let other threads run, in one of 256 calls if `often`, else of 65,536.

        `often` is for loops with long iterations.
        """
        if self._ticks is None:
            self._ticks = self.out.alloca("i64", "0")
        out = self.out
        ticks = out.op("add", out.load("i64", self._ticks), 1)
        out.store("i64", ticks, self._ticks)
        due = out.icmp("eq", out.op("and", ticks, 255 if often else 65535), 0)
        self._call_pending(due)

    def _call_pending(self, due: str) -> None:
        out = self.out
        ask, go_on = out.label("poll"), out.label("go")
        out.branch_if(due, ask, go_on, unlikely=True)
        out.begin(ask)
        interrupted = out.call("pause")
        out.branch_if(interrupted, self.failed, go_on, unlikely=True)
        out.begin(go_on)
