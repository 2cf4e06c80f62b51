"""Run independent plan items concurrently, one thread each.

Only items that threads do not share already: LAPACK decompositions, sorts of long rows, and products and loops too
short to be split but long enough to wake a thread. Each item is the same function as if called alone, so results are
equal to the last bit. Nodes with effects are excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autoconv.backends.llvm.blas import alone
from autoconv.backends.llvm.blocks import is_flat, product_of
from autoconv.backends.llvm.context import LoweringContext
from autoconv.backends.llvm.natives import WORK
from autoconv.backends.llvm.positions import is_known
from autoconv.backends.llvm.roles import is_of_open
from autoconv.backends.llvm.split import choose_split, work_of
from autoconv.backends.llvm.text import FunctionText
from autoconv.backends.llvm.threads import available, thread_count
from autoconv.graph.effects import Effects

if TYPE_CHECKING:
    from autoconv.backends.llvm.fusion import Item, Plan

_LEAST = 150_000  # least work of an item, in units of 0.05 ns
_SPLIT = 1_000_000  # multiplications from which threads share a product
_MULTIPLICATIONS = 3  # multiplications in one unit of work


def set_apart(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items in an equivalent order, with those that run concurrently as members of one item."""
    if thread_count() < 2 or not available():
        return list(items)
    heavy = {item: work for item in items if (work := _work(plan, item)) >= _LEAST}
    return _scheduled(plan, items, heavy) if len(heavy) > 1 else list(items)


def _scheduled(plan: Plan, items: Sequence[Item], heavy: dict[Item, int]) -> list[Item]:
    """Order the items: those that no heavy item precedes, a group of independent heavy ones, the rest."""
    ids = {item: 1 << i for i, item in enumerate(plan.all_items)}
    order: list[Item] = []
    left, found = list(items), False
    while left:
        blocked, group, rest = 0, [], []
        for item in left:
            own = [item] if item in ids else item.members
            if any(one.before & blocked for one in own):
                rest.append(item)
            elif item in heavy:
                group.append(item)
            else:
                order.append(item)
                continue
            for one in own:
                blocked |= ids[one]
        if len(group) > 1:
            found = True
            # The longest first: it runs in the thread that waits for the others.
            group.sort(key=heavy.__getitem__, reverse=True)
            nodes = [node for item in group for node in item.nodes]
            group = [type(group[0])(nodes, group[0].position, runs=[[item] for item in group], apart=True)]
        order += group
        left = rest
    return order if found else list(items)


def _work(plan: Plan, item: Item) -> int:
    """Estimate the work of an item, in units of 0.05 ns; 0 if threads share it, or it does not suit a thread alone."""
    if item.members or any(node.effects is not Effects.PURE for node in item.nodes):
        return 0
    roles = {plan.roles[node] for node in item.nodes}
    if item.shape is not None and not is_known(item.shape):
        return 0  # its loops may be split themselves
    if item.shape is not None:
        plain = roles <= {"element", "reduce", "copy"} and not item.phases
        return work_of(plan, item) if plain and choose_split(plan, item, is_flat(plan, item)) is None else 0
    (node,) = item.nodes
    if roles == {"matmul"}:
        product = product_of(plan, item)
        return product.work // _MULTIPLICATIONS if product is not None and product.work < _SPLIT else 0
    if is_of_open(node):
        return 0
    return WORK[node.op.name](node) if roles == {"whole"} and node.op.name in WORK else 0


class Launches:
    """The calls that run concurrently, each with the code after it, collected while such items are written."""

    def __init__(self, out: FunctionText) -> None:
        self.out = out
        self.calls: list[tuple[str, Sequence[str], str]] = []  # function, arguments, cell for its result
        self.cut: int | None = None  # first line after the present call
        self.block = ""  # the block of the call
        self.is_alone = False  # whether a call uses LAPACK, whose own threads are switched off then

    def add(self, function: str, arguments: Sequence[str], answers: bool) -> str:
        """Add a call, the first of an item; return its i1 result."""
        cell = self.out.alloca("i1", "false") if answers else ""
        self.calls.append((function, arguments, cell))
        self.cut, self.block = self.out.length(), self.out.block
        self.out.begin(self.out.label("behind"))
        return self.out.new(f"load i1, ptr {cell}") if answers else ""


def write_apart(region: LoweringContext, whole: Item) -> None:
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
    with alone(out, launches.is_alone):
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
        out.line(f"store {value}, ptr {out.new(f'getelementptr inbounds {frame}, ptr {place}, i32 0, i32 {i}')}")
    share = FunctionText(out.module, "define internal void @FUNCTION(ptr %frame, i64 %part) nounwind")
    labels = [share.label("call") for _ in calls]
    cases = " ".join(f"i64 {i}, label %{label}" for i, label in enumerate(labels[:-1]))
    share.line(f"switch i64 %part, label %{labels[-1]} [ {cases} ]")

    def load(position: int, kind: str) -> str:
        place = share.new(f"getelementptr inbounds {frame}, ptr %frame, i32 0, i32 {position}")
        return share.new(f"load {kind}, ptr {place}")

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
            found = share.new(f"call i1 {text}")
            share.line(f"store i1 {found}, ptr {load(i, 'ptr')}")
        else:
            share.line(f"call void {text}")
        share.line("ret void")
    name = out.module.function("apart", share.text())
    parallel = out.module.declare("parallel", "void", "ptr, ptr, i64")
    out.line(f"call void {parallel}(ptr @{name}, ptr {place}, i64 {len(calls)})")
