"""Routines: native functions over whole arrays, and their calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.parallel.partitioned import call_parts
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count
from autoconv.backends.llvm.ir.scalars import ElementWriter
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.partition import Split, choose_loop_split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Value

# The last parameters of the body of a split routine: number of the part, first iteration, iteration after the last.
PART_PARAMETERS = ("i64 %part", "i64 %first", "i64 %last")


class Routine:
    """A native function of arrays under construction; equal functions are compiled once.

    If `optimises_size` is true, LLVM optimises for size, because unrolling would not make the loops faster.
    """

    def __init__(
        self, region: LoweringContext, parameters: Sequence[str], result: str = "void", optimises_size: bool = False
    ) -> None:
        self.module = region.body.module
        attributes = "noinline nounwind" + (" optsize" if optimises_size else "")
        self.out = FunctionText(self.module, Signature(result, parameters, attributes))
        self.b = ElementWriter(self.out)

    def take_used_sizes(self) -> list[str]:
        """Make the open sizes that the code uses the first parameters; return them as arguments of a call."""
        used_sizes = self.out.used_sizes(self.module.size_numbers)
        self.out.add_size_parameters(used_sizes, 0)
        return [f"i64 {size}" for size in used_sizes]

    def finish(self, ending: str = "ret void") -> str:
        """Finish the function and return its name."""
        self.out.line(ending)
        self.module.has_loops = True
        return self.out.finish("routine")


class PartRoutine(Routine):
    """The body of a split routine: it takes PART_PARAMETERS after `parameters`, and returns a flag."""

    def __init__(self, region: LoweringContext, parameters: Sequence[str], optimises_size: bool = False) -> None:
        super().__init__(region, [*parameters, *PART_PARAMETERS], "i1", optimises_size)


def open_dimensions(region: LoweringContext) -> list[str]:
    """Return the open dimensions as parameters of a routine; its arguments have the same text."""
    return [f"i64 {size}" for size in region.body.module.sizes]


def pointers(region: LoweringContext, *values: Value | Object) -> list[str]:
    """Return the addresses of the first elements of arrays, as arguments of a routine."""
    addresses = (region.address(array) if isinstance(array, Object) else region.data(array) for array in values)
    return [f"ptr {address}" for address in addresses]


def split_routine(
    region: LoweringContext, parameters: Sequence[str], part_routine: Routine, size: Position | Sequence[Position],
    work: int, shape: Sequence[Position] = (),
) -> str:  # fmt: skip
    """Write a function of `parameters` that runs `part_routine` for all iterations; return its name.

    `size` is the number of iterations, or several sizes whose product is this number. The part routine runs the
    iterations from `%first` to `%last`. Several threads share the iterations if their `work`, in units of 0.05 ns, is
    large enough. For an open size, `work` is that of one element of `shape`, or of one iteration if `shape` is empty.
    """
    name = part_routine.finish("ret i1 false")
    routine = Routine(region, parameters)
    if not isinstance(size, (int, str)):
        size = element_count(routine.out, size)
    split = choose_loop_split(size, work, shape)
    if split is None:
        names = [parameter.name for parameter in routine.out.signature.parameters]
        routine.out.call(name, *names, 0, 0, size)
    else:
        call_parts(split, routine.module, routine.out, name, parameters, has_rare=False)
    return routine.finish()


def launch_parts(region: LoweringContext, function: str, arguments: Sequence[str], split: Split) -> None:
    """Call a function that takes PART_PARAMETERS after `arguments`, and whose flag is never true, for a whole loop.

    Threads share the parts of the split; without threads, or if there is one part, one call runs all iterations.
    """
    if split.parts > 1 and current_target().is_parallel:
        call_parts(split, region.body.module, region.out, function, arguments, has_rare=False)
    else:
        region.launch(function, [*arguments, *whole_loop(split.size)])


def whole_loop(count: Position) -> list[str]:
    """Return the arguments for PART_PARAMETERS with which one call runs all `count` iterations, as part 0."""
    return ["i64 0", "i64 0", f"i64 {count}"]


def call(region: LoweringContext, name: str, *arguments: Any) -> None:
    """Call a routine without a result, perhaps concurrently with routines of other plan items."""
    region.launch(name, arguments, returns_flag=False)
