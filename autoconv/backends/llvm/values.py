"""How values are held in native code outside of loops, and what all regions of one function share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.calls import Calls
from autoconv.backends.llvm.scalars import Element, ElementWriter
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.graph.graph import Value

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


@dataclass(slots=True)
class Object:
    """A Python object: the register with its address, and the slot that owns it (None: somebody else does)."""

    ir: str
    slot: str | None = None


Native = Element | Object


class RegisterWriter(ElementWriter):
    """Writes numbers outside of loops, by the C library's functions."""

    in_loop = False

    def __init__(self, region: Region, fail: Any = None) -> None:
        super().__init__(region.out, fail)
        self._region = region

    def number(self, value: Value) -> Element:
        return self._region.number(value)


class Body:
    """What all regions of one native function share."""

    def __init__(self, module: ModuleText, out: FunctionText, calls: Calls, stacks: frozenset[Value]) -> None:
        self.stacks = stacks
        self.module = module
        self.out = out
        self.calls = calls
        self.failed = "failed"
        self._ticks: str | None = None

    def own(self, ir: str) -> Object:
        """A new reference gets a slot of its own."""
        slot = self.out.slot()
        self.out.line(f"store ptr {ir}, ptr {slot}")
        return Object(ir, slot)

    def release(self, slot: str) -> None:
        self.out.line(f"call void @release(ptr {slot})")

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
