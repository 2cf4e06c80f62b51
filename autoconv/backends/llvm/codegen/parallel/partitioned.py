"""Calls of the parts of a split loop nest, by the calling thread and idle threads of the pool.

The function of a part takes the part's number, its first index and the index after its last one. If the loop has an
open size, the number of parts is computed at run time. The calling thread runs a short loop in one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Parameter, Signature
from autoconv.backends.llvm.schedule.partition import Split


def call_parts(
    split: Split, module: ModuleText, out: FunctionText, function: str, parameters: Sequence[str], has_rare: bool
) -> str:
    """Write the calls of all parts; return an i1 that is true if one of them returned true.

    `function` is the name of the native function of a part. It takes `parameters`, whose registers are also the
    arguments, then the number of the part, its first index and the index after its last one. `has_rare` is false if no
    part returns true.
    """
    if split.step is None:
        return call_open_parts(split, module, out, function, parameters, has_rare, write_split_bounds(split, out))
    return _call_thread_pool(split, module, out, function, parameters, has_rare, split.parts)


class SplitBounds(NamedTuple):
    """Registers: the number of parts, the size of the loop, and the step of a part."""

    part_count: str
    size: str
    step: str


def write_split_bounds(split: Split, out: FunctionText) -> SplitBounds:
    """Write the computation of the bounds; a loop with less than the least work is one part."""
    count = element_count(out, split.shape)
    size = split.size or (count if split.dimension is None else split.shape[split.dimension])
    work = out.mul(count, split.iteration_work)
    part_count = out.intrinsic("smin", out.op("sdiv", work, split.min_part_work), split.max_parts)
    part_count = out.intrinsic("smax", part_count, 2)
    step = _divide_rounding_up(out, _divide_rounding_up(out, str(size), part_count), str(split.step_multiple))
    step = out.mul(step, split.step_multiple)
    is_large = out.icmp("sge", work, split.min_work)
    step = out.select(is_large, step, size)
    step = out.intrinsic("smax", step, 1)
    return SplitBounds(_divide_rounding_up(out, str(size), step), str(size), step)


def _divide_rounding_up(out: FunctionText, dividend: str, divisor: str) -> str:
    """Write the division of two registers; return the quotient, rounded up."""
    if divisor == "1":
        return dividend
    return out.op("sdiv", out.add(dividend, out.sub(divisor, 1)), divisor)


def call_open_parts(
    split: Split, module: ModuleText, out: FunctionText, function: str, parameters: Sequence[str], has_rare: bool,
    bounds: SplitBounds,
) -> str:  # fmt: skip
    """Write the call of the parts that `write_split_bounds` computed as `bounds`; a single part runs without the pool.

    The other parameters and the result are those of `call_parts`.
    """
    part_count, size, step = bounds
    cell = out.alloca("i1", "false")

    def run_on_threads() -> None:
        is_any_rare = _call_thread_pool(split, module, out, function, parameters, has_rare, part_count, (size, step))
        out.store("i1", is_any_rare, cell)

    def run_on_one_thread() -> None:
        arguments = (Parameter.of(parameter).name for parameter in parameters)
        out.store("i1", out.call(function, *arguments, 0, 0, size), cell)

    out.either(out.icmp("sgt", part_count, 1), run_on_threads, run_on_one_thread)
    return out.load("i1", cell) if has_rare else "false"


def _call_thread_pool(
    split: Split, module: ModuleText, out: FunctionText, function: str, parameters: Sequence[str], has_rare: bool,
    part_count: Position, bounds: Sequence[str] = (),
) -> str:  # fmt: skip
    """Write the call of the thread pool; `bounds` are the registers of an open size and its step."""
    frame_values = [*map(Parameter.of, parameters), *(Parameter("i64", bound) for bound in bounds)]
    types = [value.type for value in frame_values]
    part_function = _part_function(split, module, function, types, bool(bounds))
    # The frame: a flag for rare elements, then the values, eight bytes each. The text of a struct type would be long.
    frame_address = out.alloca(f"[{len(frame_values) + 1} x i64]")
    out.store("i8", 0, frame_address)
    for i, value in enumerate(frame_values, 1):
        out.store(value.type, value.name, out.gep("i64", frame_address, i))
    out.call_c("parallel", "void", "ptr, ptr, i64", f"@{part_function}", frame_address, part_count)
    if not has_rare:
        return "false"
    return out.icmp("ne", out.load("i8", frame_address), 0)


def _part_function(split: Split, module: ModuleText, function: str, types: Sequence[str], has_bounds: bool) -> str:
    """Write the function of one part, which loads the arguments of `function` from the frame.

    If `has_bounds` is true, the size and the step of the loop follow the arguments in the frame.
    """
    out = FunctionText(module, Signature("void", ("ptr %frame", "i64 %part"), f"nounwind {QUICK}"))
    arguments: list[str] = [out.load(type_, out.gep("i64", "%frame", i)) for i, type_ in enumerate(types, 1)]
    size, step = str(split.size), str(split.step)
    if has_bounds:
        *arguments, size, step = arguments
    first = out.mul("%part", step)
    end = out.add(first, step)
    last = out.select(out.icmp("slt", end, size), end, size)
    rare_flag = out.call(function, *arguments, "%part", first, last)
    out.new(f"atomicrmw or ptr %frame, i8 {out.cast('zext', rare_flag, 'i8')} monotonic")
    out.ret()
    return out.finish("share")
