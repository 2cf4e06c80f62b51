"""How values are held in native code outside of loops, and what all regions of one function share."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.calls import Calls
from autoconv.backends.llvm.locals import Locals
from autoconv.backends.llvm.pool import LARGEST, SMALLEST
from autoconv.backends.llvm.positions import Index
from autoconv.backends.llvm.roles import is_array, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter
from autoconv.backends.llvm.shared import handler
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import Type

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


@dataclass(slots=True)
class Object:
    """A Python object: the register with its address, and the slot that owns it (None: somebody else does). Of a small
    array that is none, `memory` alone, where its elements are."""

    ir: str
    slot: str | None = None
    made_as: Type | None = None  # the type it was made as, where its value has another
    memory: str = ""


Native = Element | Object


class RegisterWriter(ElementWriter):
    """Writes numbers outside of loops, by the C library's functions."""

    in_loop = False

    def __init__(self, region: Region, fail: Any = None) -> None:
        super().__init__(region.out, fail)
        self._region = region

    def number(self, value: Value) -> Element:
        return self._region.number(value)

    def at(self, value: Value, index: Index) -> Element:
        return self._region.element(value, index)


_MOST_SPARES = 8  # arrays of one type that are kept


def _spare_key(type_: Type) -> Any:
    return sizes(type_), type_.dtype.name  # type: ignore[union-attr]


class Body:
    """What all regions of one native function share.

    Inside of loops, arrays whose last use is over are kept for the next ones of their type: memory that the allocator
    takes back from the system, iteration by iteration, costs many times what is computed in it.
    """

    def __init__(
        self, module: ModuleText, out: FunctionText, calls: Calls, graph: Graph, stacks: frozenset[Value]
    ) -> None:
        self.stacks = stacks
        self.module = module
        self.out = out
        self.locals = Locals(out)
        self.calls = calls
        self.failed = "failed"
        self.loops = 0  # how many loops are around what is being written
        self._ticks: str | None = None
        made = (value.type for node in graph.walk() for value in node.results)
        self._made = Counter(_spare_key(type_) for type_ in made if is_array(type_))
        self._spares: dict[Any, tuple[str, int]] = {}

    def own(self, ir: str) -> Object:
        """A new reference gets a slot of its own."""
        slot = self.out.slot()
        self.out.line(f"store ptr {ir}, ptr {slot}")
        return Object(ir, slot)

    def release(self, slot: str) -> None:
        self.out.line(f"call void @release(ptr {slot})")

    def let_go(self, slot: str, type_: Type) -> None:
        """Of a value of that type, after its last use."""
        spares = self._spares_of(type_)
        if spares is None:
            self.release(slot)
        else:
            self.out.line(f"call void @keep(ptr {slot}, ptr {spares[0]}, i64 {spares[1]})")

    def new_array(self, type_: Type) -> Object:
        """An array of that type, its elements not set."""
        out, spares = self.out, self._spares_of(type_)
        if spares is None:
            made = self._made_array(type_)
        else:
            spare = out.new(f"call ptr @spare_array(ptr {spares[0]}, i64 {spares[1]})")
            before, make, go_on = out.block, out.label("make"), out.label("made")
            out.branch_if(out.new(f"icmp eq ptr {spare}, null"), make, go_on)
            out.begin(make)
            fresh = self._made_array(type_)
            out.branch(go_on)
            out.begin(go_on)
            made = out.new(f"phi ptr [ {spare}, %{before} ], [ {fresh}, %{make} ]")
        self.check(out.new(f"icmp eq ptr {made}, null"))
        return self.own(made)

    def _made_array(self, type_: Type) -> str:
        out, shape, dtype = self.out, sizes(type_), type_.dtype  # type: ignore[union-attr]
        what = f"i32 {len(shape)}, ptr {self.calls.shape(shape)}, ptr {self.calls.object(dtype.numpy)(out)}"
        if SMALLEST <= math.prod(shape) * dtype.size <= LARGEST:
            return out.new(f"call ptr @new_large_array({what}, ptr {self.calls.object(handler())(out)})")
        return out.new(f"call ptr @new_array({what})")

    def end_loop(self) -> None:
        """Behind the outermost loop, lets go of what was kept."""
        self.loops -= 1
        if not self.loops:
            for first, count in self._spares.values():
                self.out.line(f"call void @release_all(ptr {first}, i64 {count})")

    def _spares_of(self, type_: Type) -> tuple[str, int] | None:
        """The slots for spare arrays of the type, and how many they are; None where nothing is kept."""
        if not self.loops or not is_array(type_):
            return None
        key = _spare_key(type_)
        if key not in self._spares:
            slots = [self.out.slot() for _ in range(min(max(self._made[key], 1), _MOST_SPARES))]  # side by side
            self._spares[key] = slots[0], len(slots)
        return self._spares[key]

    def check(self, failure: str) -> None:
        """Leaves where the i1 `failure` holds."""
        go_on = self.out.label("ok")
        self.out.branch_if(failure, self.failed, go_on, unlikely=True)
        self.out.begin(go_on)

    def poll(self, often: bool) -> None:
        """Asks Python for an interrupt, and lets other threads run: every 256 times where an iteration takes long, else
        every 65,536 times."""
        if self._ticks is None:
            self._ticks = self.out.alloca("i64", "0")
        out = self.out
        ticks = out.new(f"add i64 {out.new(f'load i64, ptr {self._ticks}')}, 1")
        out.line(f"store i64 {ticks}, ptr {self._ticks}")
        due = out.new(f"icmp eq i64 {out.new(f'and i64 {ticks}, {255 if often else 65535}')}, 0")
        ask, go_on = out.label("poll"), out.label("go")
        out.branch_if(due, ask, go_on, unlikely=True)
        out.begin(ask)
        interrupted = out.new("call i1 @pause()")
        out.branch_if(interrupted, self.failed, go_on, unlikely=True)
        out.begin(go_on)
