"""Lower a group of concurrent plan items, each of which has one long-running call.

The code that precedes the calls runs first, item by item. Then all calls run concurrently. Then the code that follows
the calls runs, item by item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import single_threaded_blas
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.plan import Item


class _Call(NamedTuple):
    """A call of a native function; `result_cell` is the address that gets its i1 result, "" if it has none."""

    function: str
    arguments: Sequence[str]
    result_cell: str


class Launches:
    """The calls that run concurrently, collected while the items of a group are written."""

    def __init__(self, out: FunctionText) -> None:
        self.out = out
        self.calls: list[_Call] = []
        self.has_call = False  # whether the call of the current item has been added
        self.line_count_at_call = 0  # number of lines of the function when the current item's call was added
        self.block_of_call = ""  # the block of the current item's call
        self.is_single_threaded = False  # whether BLAS and LAPACK are limited to one thread during the calls

    def add(self, function: str, arguments: Sequence[str], returns_flag: bool) -> str:
        """Add the first call of an item and begin the block after the call; return its i1 result, "" if it has none."""
        cell = self.out.alloca("i1", "false") if returns_flag else ""
        self.calls.append(_Call(function, arguments, cell))
        self.has_call, self.line_count_at_call, self.block_of_call = True, self.out.length(), self.out.block
        self.out.begin(self.out.label("behind"))
        return self.out.load("i1", cell) if returns_flag else ""


def write_concurrent(region: LoweringContext, group: Item) -> None:
    """Write the code before the calls of all items, the concurrent calls, and the code after them."""
    out = region.out
    launches = Launches(out)
    # For each item with a call: the lines after the call, and the label of the last block.
    code_after_calls: list[tuple[list[str], str]] = []
    for item in group.members:
        launches.has_call = False
        start = out.label("before")
        out.branch(start)
        out.begin(start)
        region.launches = launches
        region.write(item)
        region.launches = None
        if launches.has_call:
            code_after_calls.append((out.take_lines(launches.line_count_at_call), out.block))
            out.block = launches.block_of_call
    with single_threaded_blas(out, launches.is_single_threaded):
        _write_pool_call(out, launches.calls)
    for lines, block in code_after_calls:
        out.append_block(lines, block)


def _write_pool_call(out: FunctionText, calls: Sequence[_Call]) -> None:
    """Write a call of the thread pool that runs all collected calls.

    A frame in memory holds the cells of all calls, then the arguments of all calls.
    """
    cell_types = ["ptr" if call.result_cell else "i8" for call in calls]
    argument_types = [argument.split(" ")[0] for call in calls for argument in call.arguments]
    frame = "{ " + ", ".join([*cell_types, *argument_types]) + " }"
    frame_address = out.alloca(frame)
    values = [f"ptr {call.result_cell}" if call.result_cell else "i8 0" for call in calls]
    values += [argument for call in calls for argument in call.arguments]
    for i, value in enumerate(values):
        out.line(f"store {value}, ptr {out.field(frame, frame_address, i)}")
    callback = FunctionText(out.module, Signature("void", ("ptr %frame", "i64 %part"), "nounwind"))
    labels = [callback.label("call") for _ in calls]
    cases = " ".join(f"i64 {i}, label %{label}" for i, label in enumerate(labels[:-1]))
    callback.line(f"switch i64 %part, label %{labels[-1]} [ {cases} ]")

    def load_field(position: int, ir_type: str) -> str:
        address = callback.field(frame, "%frame", position)
        return callback.load(ir_type, address)

    position = len(calls)
    for i, ((function, arguments, cell), label) in enumerate(zip(calls, labels, strict=True)):
        callback.begin(label)
        loaded_arguments = []
        for argument in arguments:
            ir_type = argument.split(" ")[0]
            loaded_arguments.append(f"{ir_type} {load_field(position, ir_type)}")
            position += 1
        text = f"@{function}({', '.join(loaded_arguments)})"
        if cell:
            flag = callback.new(f"call i1 {text}")
            callback.store("i1", flag, load_field(i, "ptr"))
        else:
            callback.line(f"call void {text}")
        callback.ret()
    name = callback.finish("apart")
    out.call_c("parallel", "void", "ptr, ptr, i64", f"@{name}", frame_address, len(calls))
