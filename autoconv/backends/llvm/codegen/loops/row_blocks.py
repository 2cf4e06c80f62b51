"""Lower plan items that run block by block to one function, which runs all steps on a block of rows.

`schedule/row_blocks.py` forms these items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter
from autoconv.backends.llvm.codegen.loops.row_chain import RowChainWriter
from autoconv.backends.llvm.codegen.matmul.ops import tile_rows
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import minimum
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.partition import Split, work_of
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.row_blocks import is_flat, product_of
from autoconv.backends.llvm.target.machine import current_target

# Multiplications in one unit of work (0.05 ns). Then, in such units: the least work that is worth waking threads, the
# least inside of a loop, where they are awake, and the least of a part.
_MULTIPLICATIONS = 3
_WORTHWHILE, _IN_LOOP, _PART = 400_000, 60_000, 15_000


def write_blocks(region: LoweringContext, plan: Plan, whole: Item) -> bool:
    """Write the runs of an item; return False, with nothing written, if blocks are not worth it."""
    work = sum(_work_of_item(plan, item) for item in whole.members)
    if work < (_IN_LOOP if region.body.loop_depth else _WORTHWHILE) or not current_target().is_parallel:
        return False
    runs = [_Run(region, plan, members) for members in whole.runs]
    if not all(run.fits() for run in runs):
        return False
    for run in runs:
        run.write()
    arguments = list(dict.fromkeys(argument for run in runs for argument in run.arguments))
    first, *others = runs
    if others:
        split, body = Split(None, sum(run.split.parts for run in runs), 1), _dispatch_to_runs(region, runs, arguments)
    else:
        split, body = first.split, first.name
    run_split(split, region.body.module, region.out, body, arguments, has_rare=False)
    return True


class _Run:
    """Members that share blocks of rows."""

    def __init__(self, region: LoweringContext, plan: Plan, members: Sequence[Item]) -> None:
        self._region = region
        self._plan = plan
        self._members = members
        self._products = {n: found for n, item in enumerate(members) if (found := product_of(plan, item)) is not None}
        self._rows = next(iter(self._products.values())).rows
        self._lines = {product.unit for product in self._products.values() if product.patches}
        self._loops: dict[int, LoopNestWriter] = {}

    def fits(self) -> bool:
        """Return whether blocks are the same rows for all members, and no loop needs a careful version."""
        region, plan = self._region, self._plan
        for number, item in enumerate(self._members):
            if item.shape is None:
                continue
            for node in item.nodes:
                if plan.classes[node] == "copy":
                    region.check_positions(node)
            self._loops[number] = _loops(region, plan, item, self._rows)
        return len(self._lines) <= 1 and not any(loops.has_rare for loops in self._loops.values())

    def write(self) -> None:
        """Set `name`, the function of a part; `arguments`, its arguments before the part; and `split`."""
        # Function, arguments, and its iterations for each row; a negative number is minus the rows of an iteration.
        steps: list[tuple[str, list[str], int]] = []
        height = max(self._lines, default=0)
        for number, item in enumerate(self._members):
            if number in self._products:
                (result,) = self._products[number].node.results
                self._region.set(result, self._region.new_array(result.type))
                name, given, unit = tile_rows(self._region, self._products[number], max(self._lines, default=0))
                assert isinstance(unit, int)
                height = height or unit
                steps.append((name, given, -unit))
            else:
                _, given = self._region.loop_arguments(item, self._loops[number])
                width = math.prod(item.shape or ()) // self._rows if is_flat(self._plan, item) else 1
                steps.append((self._loops[number].name, given, width))
        count = -(-self._rows // height)
        parts = max(1, min(count, sum(_work_of_item(self._plan, item) for item in self._members) // _PART))
        self.arguments = list(dict.fromkeys(argument for _, arguments, _ in steps for argument in arguments))
        self.name = _write_block(self._region, steps, self.arguments, self._rows, height)
        self.split = Split(None, count, -(-count // parts))


def _dispatch_to_runs(region: LoweringContext, runs: Sequence[_Run], arguments: Sequence[str]) -> str:
    """Return the name of a function of one part, which belongs to one of the runs."""
    out, names = _begin_part(region, arguments)
    before = 0
    for run in runs:
        split, here = run.split, out.sub("%first", before)
        with out.leaving(out.icmp("slt", here, split.parts)):
            first = out.mul(here, split.step)
            last = minimum(out, out.add(first, split.step), split.size)
            passed = [*(names[argument] for argument in run.arguments), f"i64 {here}", f"i64 {first}", f"i64 {last}"]
            flag = out.new(f"call i1 @{run.name}({', '.join(passed)})")
            out.line(f"ret i1 {flag}")
        before += split.parts
    out.line("ret i1 false")
    return out.finish("parts")


def _begin_part(region: LoweringContext, arguments: Sequence[str]) -> tuple[FunctionText, dict[str, str]]:
    """Begin the function of a part; return it, with its parameters by argument."""
    names = {argument: f"{argument.split(' ')[0]} %g{i}" for i, argument in enumerate(arguments)}
    parameters = [*names.values(), "i64 %part", "i64 %first", "i64 %last"]
    return FunctionText(region.body.module, Signature("i1", parameters)), names


def _work_of_item(plan: Plan, item: Item) -> int:
    product = product_of(plan, item)
    return work_of(plan, item) if product is None else product.work // _MULTIPLICATIONS


def _loops(region: LoweringContext, plan: Plan, item: Item, rows: int) -> LoopNestWriter:
    """Return the function of the item's loops over a part of the rows."""
    shape = item.shape or ()
    part = Split(None, math.prod(shape), 1) if is_flat(plan, item) else Split(0, rows, 1)
    region.body.module.has_loops = True
    text = RowChainWriter if item.phases else LoopNestWriter
    return text(region.body.module, plan, item, region.checked_positions, part)


def _write_block(
    region: LoweringContext, steps: Sequence[tuple[str, list[str], int]], given: Sequence[str], rows: int, height: int
) -> str:
    """Return the name of the function of one block, which runs all steps in sequence."""
    out, names = _begin_part(region, given)
    first = out.new(f"mul nsw i64 %first, {height}")
    end_row = out.new(f"mul nsw i64 %last, {height}")
    last = minimum(out, end_row, rows)
    for name, arguments, width in steps:
        if width < 0:
            start, end = (out.new(f"mul nsw i64 {count}, {height // -width}") for count in ("%first", "%last"))
        else:
            start, end = (out.new(f"mul nsw i64 {count}, {width}") for count in (first, last))
        passed = [*(names[argument] for argument in arguments), "i64 %part", f"i64 {start}", f"i64 {end}"]
        out.new(f"call i1 @{name}({', '.join(passed)})")
    out.line("ret i1 false")
    return out.finish("block")
