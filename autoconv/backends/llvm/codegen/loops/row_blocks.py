"""Lower plan items that are computed in blocks of rows; `schedule/row_blocks.py` forms these items.

The members of an item that share blocks, a *run*, become one function. It runs all members on one block of rows, then
on the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter
from autoconv.backends.llvm.codegen.loops.row_chain import RowChainWriter
from autoconv.backends.llvm.codegen.matmul.row_routine import write_row_routine
from autoconv.backends.llvm.codegen.parallel.partitioned import call_parts
from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, minimum
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.schedule.cost import MULTIPLICATIONS_PER_UNIT
from autoconv.backends.llvm.schedule.partition import Split, work_of
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.row_blocks import is_flat, product_of
from autoconv.backends.llvm.target.machine import current_target
from autoconv.lazy_dataclass import dataclass

# In units of 0.05 ns: the least work of an item in blocks outside of loops, the least inside of a loop, where threads
# are awake already, and the least work of a part.
_LEAST_WORK, _LEAST_WORK_IN_LOOP, _LEAST_PART_WORK = 400_000, 60_000, 15_000


def write_blocks(region: LoweringContext, plan: Plan, item: Item) -> bool:
    """Write the runs of an item and their call; return false, without a call, if blocks are impossible or too small."""
    work = sum(_work_of_item(plan, member) for member in item.members)
    if work < (_LEAST_WORK_IN_LOOP if region.body.loop_depth else _LEAST_WORK) or not current_target().is_parallel:
        return False
    runs = [_RunWriter(region, plan, members) for members in item.runs]
    if not all(run.write_loops() for run in runs):
        return False
    for run in runs:
        run.write_block()
    arguments = list(dict.fromkeys(argument for run in runs for argument in run.arguments))
    first_run, *more_runs = runs
    if more_runs:
        split = Split(dimension=None, size=sum(run.split.parts for run in runs), step=1)
        part_function = _dispatch_to_runs(region, runs, arguments)
    else:
        split, part_function = first_run.split, first_run.name
    call_parts(split, region.body.module, region.out, part_function, arguments, has_rare=False)
    return True


@dataclass(frozen=True, slots=True)
class _Step:
    """A call in a block: function, arguments, and the ratio of its iterations to rows.

    The ratio is one of `rows_per_iteration` and `iterations_per_row`; the other is 0.
    """

    function: str
    arguments: list[str]
    rows_per_iteration: int = 0
    iterations_per_row: int = 0


class _RunWriter:
    """A writer of the function of a run: members of an item that share blocks of rows."""

    def __init__(self, region: LoweringContext, plan: Plan, members: Sequence[Item]) -> None:
        self._region = region
        self._plan = plan
        self._members = members
        products = {number: product_of(plan, item) for number, item in enumerate(members)}
        self._products = {number: product for number, product in products.items() if product is not None}
        self._rows = next(iter(self._products.values())).rows
        self._line_heights = {product.line_height for product in self._products.values() if product.patches}
        self._loop_writers: dict[int, LoopNestWriter] = {}

    def write_loops(self) -> bool:
        """Write the loops of the members; return whether all can have the same blocks, and none has rare elements."""
        region, plan = self._region, self._plan
        for number, item in enumerate(self._members):
            if item.shape is None:
                continue
            for node in item.nodes:
                if plan.classes[node] == "copy":
                    region.check_positions(node)
            self._loop_writers[number] = _new_loop_writer(region, plan, item, self._rows)
        return len(self._line_heights) <= 1 and not any(writer.has_rare for writer in self._loop_writers.values())

    def write_block(self) -> None:
        """Write the function of a part of the blocks.

        Set its `name`, its `split` into parts, and its `arguments`, which precede PART_PARAMETERS.
        """
        steps: list[_Step] = []
        line_height = max(self._line_heights, default=0)
        height = line_height  # rows of a block: a line of patches, or a row of the first product's tiles
        for number, item in enumerate(self._members):
            if number in self._products:
                (result,) = self._products[number].node.results
                self._region.set(result, self._region.new_array(result.type))
                name, arguments, unit = write_row_routine(self._region, self._products[number], line_height)
                assert isinstance(unit, int)
                height = height or unit
                steps.append(_Step(name, arguments, rows_per_iteration=unit))
            else:
                _, arguments = self._region.loop_arguments(item, self._loop_writers[number])
                width = math.prod(item.shape or ()) // self._rows if is_flat(self._plan, item) else 1
                steps.append(_Step(self._loop_writers[number].name, arguments, iterations_per_row=width))
        block_count = -(-self._rows // height)
        work = sum(_work_of_item(self._plan, item) for item in self._members)
        parts = max(1, min(block_count, work // _LEAST_PART_WORK))
        self.arguments = list(dict.fromkeys(argument for step in steps for argument in step.arguments))
        self.name = _write_block(self._region, steps, self.arguments, self._rows, height)
        self.split = Split(dimension=None, size=block_count, step=-(-block_count // parts))


def _dispatch_to_runs(region: LoweringContext, runs: Sequence[_RunWriter], arguments: Sequence[str]) -> str:
    """Write a function that runs one part, which belongs to one of the runs; return its name."""
    out, parameter_of = _begin_part(region, arguments)
    first_part = 0
    for run in runs:
        split, part_of_run = run.split, out.sub("%first", first_part)
        with out.leaving(out.icmp("slt", part_of_run, split.parts)):
            first = out.mul(part_of_run, split.step)
            last = minimum(out, out.add(first, split.step), split.size)
            run_arguments = [parameter_of[argument] for argument in run.arguments]
            call_arguments = [*run_arguments, f"i64 {part_of_run}", f"i64 {first}", f"i64 {last}"]
            result = out.new(f"call i1 @{run.name}({', '.join(call_arguments)})")
            out.line(f"ret i1 {result}")
        first_part += split.parts
    out.line("ret i1 false")
    return out.finish("parts")


def _begin_part(region: LoweringContext, arguments: Sequence[str]) -> tuple[FunctionText, dict[str, str]]:
    """Begin the function of a part; return it, and a dict from each argument to its parameter."""
    parameter_of = {argument: f"{argument.split(' ')[0]} %g{i}" for i, argument in enumerate(arguments)}
    return FunctionText(region.body.module, Signature("i1", [*parameter_of.values(), *PART_PARAMETERS])), parameter_of


def _work_of_item(plan: Plan, item: Item) -> int:
    """Return the work of an item in units of 0.05 ns."""
    product = product_of(plan, item)
    return work_of(plan, item) if product is None else product.work // MULTIPLICATIONS_PER_UNIT


def _new_loop_writer(region: LoweringContext, plan: Plan, item: Item, rows: int) -> LoopNestWriter:
    """Write the function of the item's loops over a part of the rows."""
    shape = item.shape or ()
    dimension, size = (None, math.prod(shape)) if is_flat(plan, item) else (0, rows)
    split = Split(dimension=dimension, size=size, step=1)
    region.body.module.has_loops = True
    writer = RowChainWriter if item.phases else LoopNestWriter
    return writer(region.body.module, plan, item, region.checked_positions, split)


def _write_block(
    region: LoweringContext, steps: Sequence[_Step], arguments: Sequence[str], rows: int, height: int
) -> str:
    """Write a function that runs all steps for the blocks from `%first` to `%last`; return its name.

    A block has `height` rows.
    """
    out, parameter_of = _begin_part(region, arguments)
    first_row = out.new(f"mul nsw i64 %first, {height}")
    last_row = minimum(out, out.new(f"mul nsw i64 %last, {height}"), rows)
    for step in steps:
        bounds: tuple[Position, Position] = first_row, last_row
        factor = step.iterations_per_row
        if step.rows_per_iteration:
            bounds, factor = ("%first", "%last"), height // step.rows_per_iteration
        start, end = (out.new(f"mul nsw i64 {bound}, {factor}") for bound in bounds)
        parameters = [parameter_of[argument] for argument in step.arguments]
        # The i1 that is returned would report rare elements, which the members do not have.
        out.new(f"call i1 @{step.function}({', '.join([*parameters, 'i64 %part', f'i64 {start}', f'i64 {end}'])})")
    out.line("ret i1 false")
    return out.finish("block")
