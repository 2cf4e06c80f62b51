"""Call a function for each part of a partitioned loop nest, on idle threads of the pool.

A part gets its number and its first and last index. Where the size of the loop is an argument of the graph, the number
of parts is computed at run time. The calling thread runs a short loop as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Parameter, Signature
from autoconv.backends.llvm.schedule.partition import Split


def run_split(
    split: Split, module: ModuleText, out: FunctionText, body: str, parameters: Sequence[str], has_rare: bool
) -> str:
    """Write the call of all parts into `out`; return the i1 that is true where one of them returned true.

    `body` takes `parameters`, then the number of the part and its first and last index as i64.
    """
    if split.step is None:
        return run_parts(split, module, out, body, parameters, has_rare, bounds_of(split, out))
    return _call_thread_pool(split, module, out, body, parameters, has_rare, split.parts)


def bounds_of(split: Split, out: FunctionText) -> tuple[str, str, str]:
    """Compute at run time the number of parts, the size of the loop, and the step of a part."""
    count = element_count(out, split.shape)
    size = split.size or (count if split.dimension is None else split.shape[split.dimension])
    work = out.mul(count, split.each)
    part_count = out.intrinsic("smin", out.op("sdiv", work, split.part), split.most)
    part_count = out.intrinsic("smax", part_count, 2)
    step = _quotient(out, _quotient(out, str(size), part_count), str(split.multiple))
    step = out.mul(step, split.multiple)
    large = out.icmp("sge", work, split.least)
    step = out.select(large, step, size)
    step = out.intrinsic("smax", step, 1)
    return _quotient(out, str(size), step), str(size), step


def _quotient(out: FunctionText, dividend: str, divisor: str) -> str:
    """Divide, rounding up."""
    if divisor == "1":
        return dividend
    more = out.add(dividend, out.sub(divisor, 1))
    return out.op("sdiv", more, divisor)


def run_parts(
    split: Split, module: ModuleText, out: FunctionText, body: str, parameters: Sequence[str], has_rare: bool,
    bounds: tuple[str, str, str],
) -> str:  # fmt: skip
    """Write the call of as many parts as `bounds_of` computed, by this thread alone where that is one."""
    parts, size, step = bounds
    cell = out.alloca("i1", "false")

    def run_on_threads() -> None:
        out.store("i1", _call_thread_pool(split, module, out, body, parameters, has_rare, parts, (size, step)), cell)

    def run_on_one_thread() -> None:
        out.store("i1", out.call(body, *(Parameter.of(one).name for one in parameters), 0, 0, size), cell)

    out.either(out.icmp("sgt", parts, 1), run_on_threads, run_on_one_thread)
    return out.load("i1", cell) if has_rare else "false"


def _call_thread_pool(
    split: Split, module: ModuleText, out: FunctionText, body: str, parameters: Sequence[str], has_rare: bool,
    parts: Position, bounds: Sequence[str] = (),
) -> str:  # fmt: skip
    """Write the call of the thread pool. `bounds` are the registers of size and step, where they are computed."""
    leading = [*map(Parameter.of, parameters), *(Parameter("i64", bound) for bound in bounds)]
    kinds = [one.type for one in leading]
    frame = "{ " + ", ".join(["i8", *kinds]) + " }"
    share = _part_function(split, module, body, frame, kinds, bool(bounds))
    place = out.alloca(frame)
    out.store("i8", 0, place)
    for i, one in enumerate(leading, 1):
        out.store(one.type, one.name, out.field(frame, place, i))
    out.call_c("parallel", "void", "ptr, ptr, i64", f"@{share}", place, parts)
    if not has_rare:
        return "false"
    return out.icmp("ne", out.load("i8", place), 0)


def _part_function(split: Split, module: ModuleText, body: str, frame: str, kinds: Sequence[str], bounded: bool) -> str:
    """Write the function of one part, which loads the arguments of `body` from the frame.

    `bounded`: the size and the step of the loop follow the arguments there.
    """
    out = FunctionText(module, Signature("void", ("ptr %frame", "i64 %part"), f"nounwind {QUICK}"))
    arguments: list[str] = [out.load(kind, out.field(frame, "%frame", i)) for i, kind in enumerate(kinds, 1)]
    size, step = arguments[-2:] if bounded else (str(split.size), str(split.step))
    arguments = arguments[: len(arguments) - 2 * bounded]
    first = out.mul("%part", step)
    end = out.add(first, step)
    last = out.select(out.icmp("slt", end, size), end, size)
    rare = out.call(body, *arguments, "%part", first, last)
    out.new(f"atomicrmw or ptr %frame, i8 {out.cast('zext', rare, 'i8')} monotonic")
    out.ret()
    return out.finish("share")
