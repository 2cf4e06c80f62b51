"""Routines: native functions over whole arrays, separate from their callers, and their calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count
from autoconv.backends.llvm.ir.scalars import ElementWriter
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.partition import split_counts
from autoconv.graph.graph import Value

PART = ("i64 %part", "i64 %first", "i64 %last")


class Routine:
    """A function of arrays, separate from its caller; equal ones are compiled once.

    `short`: optimise for size, for loops that would not gain by unrolling.
    """

    def __init__(
        self, region: LoweringContext, arguments: Sequence[str], result: str = "void", short: bool = False
    ) -> None:
        self.module = region.body.module
        attributes = "noinline nounwind" + (" optsize" if short else "")
        self.out = FunctionText(self.module, Signature(result, arguments, attributes))
        self.b = ElementWriter(self.out)

    def finish(self, ending: str = "ret void") -> str:
        """Finish the function and return its name."""
        self.out.line(ending)
        self.module.has_loops = True
        return self.out.finish("routine")


def open_dimensions(region: LoweringContext) -> list[str]:
    """Return the open dimensions as parameters of a routine, and as its arguments: their names are the same."""
    return [f"i64 {size}" for size in region.body.module.sizes]


def pointers(region: LoweringContext, *values: Value | Object) -> list[str]:
    """Return the addresses of elements as arguments of a routine."""
    addresses = (region.address(one) if isinstance(one, Object) else region.data(one) for one in values)
    return [f"ptr {address}" for address in addresses]


def partitioned_routine(
    region: LoweringContext, arguments: Sequence[str], body: Routine, size: Position | Sequence[Position], work: int,
    shape: Sequence[Position] = (),
) -> str:  # fmt: skip
    """Return the name of a function of `arguments` that runs `body` for the counts from 0 to `size`.

    Several threads share the counts, where the work (in units of 0.05 ns) is worth it. Several sizes stand for their
    product. For an open size, the work is that of one element of `shape`, or of one count. The body takes `PART` as
    well, and goes from `%first` to `%last`.
    """
    name = body.finish("ret i1 false")
    whole = Routine(region, arguments)
    if not isinstance(size, (int, str)):
        size = element_count(whole.out, size)
    split = split_counts(size, work, shape)
    if split is None:
        names = [parameter.name for parameter in whole.out.signature.parameters]
        whole.out.call(name, *names, 0, 0, size)
    else:
        run_split(split, whole.module, whole.out, name, arguments, False)
    return whole.finish()


def call(region: LoweringContext, name: str, *arguments: Any) -> None:
    region.launch(name, arguments, returns_flag=False)
