"""Writes what runs block by block (see blocks): one function that has a block of rows go through all steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autoconv.backends.llvm.blocks import is_flat, product_of
from autoconv.backends.llvm.kernels import KernelText
from autoconv.backends.llvm.products import tile_rows
from autoconv.backends.llvm.rows import RowsText
from autoconv.backends.llvm.split import Split, work_of
from autoconv.backends.llvm.text import FunctionText
from autoconv.backends.llvm.threads import available, thread_count

if TYPE_CHECKING:
    from autoconv.backends.llvm.fusion import Item, Plan
    from autoconv.backends.llvm.regions import Region

# In units of 0.05 ns: a product of two numbers takes a third of one; what is worth waking threads, and what is in a
# loop, where they are awake; what a part takes at least.
_MULTIPLICATIONS = 3
_WORTHWHILE, _IN_LOOP, _PART = 400_000, 60_000, 15_000


def write_blocks(region: Region, plan: Plan, whole: Item) -> bool:
    """Whether it was worth it, and has been done."""
    work = sum(_work(plan, item) for item in whole.members)
    if work < (_IN_LOOP if region.body.loops else _WORTHWHILE) or thread_count() < 2 or not available():
        return False
    products = [product for item in whole.members if (product := product_of(plan, item)) is not None]
    rows = products[0].rows
    lines = {product.unit for product in products if product.patches}
    if len(lines) > 1:
        return False
    loops: dict[int, KernelText] = {}
    for number, item in enumerate(whole.members):
        if item.shape is None:
            continue
        for node in item.nodes:
            if plan.roles[node] == "copy":
                region.guard(node)
        loops[number] = _loops(region, plan, item, rows)
        if loops[number].has_rare:
            return False
    steps: list[tuple[str, list[str], int]] = []  # functions, what they are given, counts of a row
    # (below zero: rows of a count)
    height = max(lines, default=0)
    for number, item in enumerate(whole.members):
        product = product_of(plan, item)
        if product is not None:
            name, given, unit = tile_rows(region, product, max(lines, default=0))
            height = height or unit
            steps.append((name, given, -unit))
        else:
            kernel = loops[number]
            _, given = region.loop_arguments(item, kernel)
            width = math.prod(item.shape or ()) // rows if is_flat(plan, item) else 1
            steps.append((kernel.name, given, width))
    count = -(-rows // height)
    parts = max(1, min(count, work // _PART))
    given = list(dict.fromkeys(argument for _, arguments, _ in steps for argument in arguments))
    body = _body(region, steps, given, rows, height)
    Split(None, count, -(-count // parts)).run(region.body.module, region.out, body, given, has_rare=False)
    return True


def _work(plan: Plan, item: Item) -> int:
    product = product_of(plan, item)
    return work_of(plan, item) if product is None else product.work // _MULTIPLICATIONS


def _loops(region: Region, plan: Plan, item: Item, rows: int) -> KernelText:
    """The function of the loops of some rows."""
    shape = item.shape or ()
    part = Split(None, math.prod(shape), 1) if is_flat(plan, item) else Split(0, rows, 1)
    region.body.module.has_loops = True
    text = RowsText if item.phases else KernelText
    return text(region.body.module, plan, item, region.picks, part)


def _body(
    region: Region, steps: Sequence[tuple[str, list[str], int]], given: Sequence[str], rows: int, height: int
) -> str:
    """The name of the function of one block: all steps, one after the other."""
    module = region.body.module
    names = {argument: f"{argument.split(' ')[0]} %g{i}" for i, argument in enumerate(given)}
    parameters = [*names.values(), "i64 %part", "i64 %first", "i64 %last"]
    out = FunctionText(module, f"define internal i1 @FUNCTION({', '.join(parameters)}) noinline nounwind")
    first = out.new(f"mul nsw i64 %first, {height}")
    behind = out.new(f"mul nsw i64 %last, {height}")
    last = out.new(f"select i1 {out.new(f'icmp slt i64 {behind}, {rows}')}, i64 {behind}, i64 {rows}")
    for name, arguments, width in steps:
        if width < 0:
            start, end = (out.new(f"mul nsw i64 {count}, {height // -width}") for count in ("%first", "%last"))
        else:
            start, end = (out.new(f"mul nsw i64 {count}, {width}") for count in (first, last))
        passed = [*(names[argument] for argument in arguments), "i64 %part", f"i64 {start}", f"i64 {end}"]
        out.new(f"call i1 @{name}({', '.join(passed)})")
    out.line("ret i1 false")
    return module.function("block", out.text())
