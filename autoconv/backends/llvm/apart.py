"""Steps with no path between them, side by side: each by one thread.

Only what threads do not share already: matrices that LAPACK decomposes, sorts of long rows, products and loops that are
too short to be split but long enough to wake a thread for. Each step is the very function that would be called alone,
so results are the same, to the last bit. Nodes with effects are never among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from autoconv.backends.llvm.blas import alone
from autoconv.backends.llvm.blocks import is_flat, product_of
from autoconv.backends.llvm.natives import WORK
from autoconv.backends.llvm.positions import is_known
from autoconv.backends.llvm.roles import is_of_open
from autoconv.backends.llvm.split import choose_split, work_of
from autoconv.backends.llvm.text import FunctionText
from autoconv.backends.llvm.threads import available, thread_count
from autoconv.graph.effects import Effects

if TYPE_CHECKING:
    from autoconv.backends.llvm.fusion import Item, Plan
    from autoconv.backends.llvm.regions import Region

_LEAST = 150_000  # units of 0.05 ns that a step takes at least
_SPLIT = 1_000_000  # multiplications from which on threads share a product
_MULTIPLICATIONS = 3  # in one unit


def set_apart(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """The items, in an order that is as good, with those that run side by side as members of one."""
    if thread_count() < 2 or not available():
        return list(items)
    heavy = {item: work for item in items if (work := _work(plan, item)) >= _LEAST}
    return _scheduled(plan, items, heavy) if len(heavy) > 1 else list(items)


def _scheduled(plan: Plan, items: Sequence[Item], heavy: dict[Item, int]) -> list[Item]:
    """What no heavy item has to run before comes first, then the heavy ones of which none needs another, then the
    rest."""
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
            # The longest first: the thread that waits for the others has it.
            group.sort(key=heavy.__getitem__, reverse=True)
            nodes = [node for item in group for node in item.nodes]
            group = [type(group[0])(nodes, group[0].position, runs=[[item] for item in group], apart=True)]
        order += group
        left = rest
    return order if found else list(items)


def _work(plan: Plan, item: Item) -> int:
    """What an item takes, in units of 0.05 ns; 0 where threads share it, or where it is nothing for a thread alone."""
    if item.members or any(node.effects is not Effects.PURE for node in item.nodes):
        return 0
    roles = {plan.roles[node] for node in item.nodes}
    if item.shape is not None and not is_known(item.shape):
        return 0  # a part of its loops may be handed out
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
    """What is written while items are set apart: the calls that run side by side, each with what comes behind it."""

    def __init__(self, out: FunctionText) -> None:
        self.out = out
        self.calls: list[tuple[str, Sequence[str], str]] = []  # a function, what it is given, where its answer goes
        self.cut: int | None = None  # the first line behind the call that is being written
        self.block = ""  # that the call is in
        self.is_alone = False  # whether LAPACK, which is among them, has to be told to use no threads of its own

    def add(self, function: str, arguments: Sequence[str], answers: bool) -> str:
        """A call, the first of an item; answers the i1 that it answers."""
        cell = self.out.alloca("i1", "false") if answers else ""
        self.calls.append((function, arguments, cell))
        self.cut, self.block = self.out.length(), self.out.block
        self.out.begin(self.out.label("behind"))
        return self.out.new(f"load i1, ptr {cell}") if answers else ""


def write_apart(region: Region, whole: Item) -> None:
    """Everything before the calls of all items; the calls, side by side; what comes behind them."""
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
    """Has every call made by some thread."""
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
