"""Launch the items of a concurrent group: everything before their calls, the calls by free threads, the rest."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import single_threaded_blas
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.plan import Item


class Launches:
    """The calls that run concurrently, each with the code after it, collected while such items are written."""

    def __init__(self, out: FunctionText) -> None:
        self.out = out
        self.calls: list[tuple[str, Sequence[str], str]] = []  # function, arguments, cell for its result
        self.cut: int | None = None  # first line after the present call
        self.block = ""  # the block of the call
        self.is_single_threaded = False  # whether a call uses LAPACK, whose own threads are switched off then

    def add(self, function: str, arguments: Sequence[str], returns_flag: bool) -> str:
        """Add a call, the first of an item; return its i1 result."""
        cell = self.out.alloca("i1", "false") if returns_flag else ""
        self.calls.append((function, arguments, cell))
        self.cut, self.block = self.out.length(), self.out.block
        self.out.begin(self.out.label("behind"))
        return self.out.load("i1", cell) if returns_flag else ""


def write_concurrent(region: LoweringContext, whole: Item) -> None:
    """Write the code before the calls of all items, the concurrent calls, and the code after them."""
    out = region.out
    launches = Launches(out)
    ends: list[tuple[list[str], str]] = []
    for item in whole.members:
        launches.cut = None
        before = out.label("before")
        out.branch(before)
        out.begin(before)
        region.launches = launches
        region.write(item)
        region.launches = None
        if launches.cut is not None:
            ends.append((out.take(launches.cut), out.block))
            out.block = launches.block
    with single_threaded_blas(out, launches.is_single_threaded):
        _run(out, launches.calls)
    for lines, block in ends:
        out.append_block(lines, block)


def _run(out: FunctionText, calls: Sequence[tuple[str, Sequence[str], str]]) -> None:
    """Hand all calls to the thread pool."""
    kinds = ["ptr" if cell else "i8" for _, _, cell in calls]
    fields = [kind for _, given, _ in calls for kind in (one.split(" ")[0] for one in given)]
    frame = "{ " + ", ".join([*kinds, *fields]) + " }"
    place = out.alloca(frame)
    values = [f"ptr {cell}" if cell else "i8 0" for _, _, cell in calls]
    values += [one for _, given, _ in calls for one in given]
    for i, value in enumerate(values):
        out.line(f"store {value}, ptr {out.field(frame, place, i)}")
    share = FunctionText(out.module, Signature("void", ("ptr %frame", "i64 %part"), "nounwind"))
    labels = [share.label("call") for _ in calls]
    cases = " ".join(f"i64 {i}, label %{label}" for i, label in enumerate(labels[:-1]))
    share.line(f"switch i64 %part, label %{labels[-1]} [ {cases} ]")

    def load(position: int, kind: str) -> str:
        place = share.field(frame, "%frame", position)
        return share.load(kind, place)

    position = len(calls)
    for i, ((function, given, cell), label) in enumerate(zip(calls, labels, strict=True)):
        share.begin(label)
        arguments = []
        for argument in given:
            kind = argument.split(" ")[0]
            arguments.append(f"{kind} {load(position, kind)}")
            position += 1
        text = f"@{function}({', '.join(arguments)})"
        if cell:
            flag = share.new(f"call i1 {text}")
            share.store("i1", flag, load(i, "ptr"))
        else:
            share.line(f"call void {text}")
        share.ret()
    name = share.finish("apart")
    out.call_c("parallel", "void", "ptr, ptr, i64", f"@{name}", place, len(calls))
