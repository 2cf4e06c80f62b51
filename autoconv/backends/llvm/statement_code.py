"""The code of statements (see `statements`): a loop over the array that is assigned to.

Where the array may have elements in common with what is read, everything is computed before anything is written, into
memory of its own; whether it has is looked at in the running code where it is not known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm import memory_values
from autoconv.backends.llvm.memory_values import held
from autoconv.backends.llvm.natives import PART, Routine
from autoconv.backends.llvm.open_split import OpenSplit
from autoconv.backends.llvm.positions import Index, Position, is_known, plus, product
from autoconv.backends.llvm.roles import MEMORY, is_dense, is_scalar, sizes
from autoconv.backends.llvm.rules import computed
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, register, store
from autoconv.backends.llvm.split import Split, cost_of, split_counts
from autoconv.backends.llvm.statements import Step
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.threads import available
from autoconv.backends.llvm.values import Memory, Object
from autoconv.graph.graph import Node, Value
from autoconv.ops.elements.maths import is_elementary
from autoconv.ops.overlaps import APART, SAME, SOME

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


def write_statement(region: Region, node: Node) -> None:
    """Directly where nothing that is read is written, else by way of other memory; by the kernel where sizes that only
    the running code knows do not go together."""
    out = region.out
    statement = _Statement(region, node)
    wrong = statement.misfit()
    if wrong is None:
        _write_fitting(region, statement)
        return
    cold, fine, over = out.label("cold"), out.label("fine"), out.label("over")
    out.branch_if(wrong, cold, fine, unlikely=True)
    out.begin(cold)
    region.call_kernel(node, rarely=True)
    out.branch(over)
    out.begin(fine)
    _write_fitting(region, statement)
    out.branch(over)
    out.begin(over)


def _write_fitting(region: Region, statement: _Statement) -> None:
    out, how = region.out, statement.overlap()
    if how == APART:
        statement.run(statement.target)
        return
    if how == SOME:
        _by_other_memory(region, statement)
        return
    aside, straight, done = out.label("aside"), out.label("straight"), out.label("assigned")
    out.branch_if(how, aside, straight)
    out.begin(straight)
    statement.run(statement.target)
    out.branch(done)
    out.begin(aside)
    _by_other_memory(region, statement)
    out.branch(done)
    out.begin(done)


def _by_other_memory(region: Region, statement: _Statement) -> None:
    out, target = region.out, statement.target
    dtype = statement.dtype
    descriptor = region.body.calls.object(dtype.numpy)(out)
    count: Position = 1
    for size in target.sizes:
        count = product(out, count, size)
    dimensions = out.alloca("[1 x i64]")
    out.line(f"store i64 {count}, ptr {dimensions}")
    made = out.new(f"call ptr @new_array(i32 1, ptr {dimensions}, ptr {descriptor})")
    region.body.check(out.new(f"icmp eq ptr {made}, null"))
    owner = region.body.own(made)
    strides: list[Position] = []
    stride: Position = dtype.size
    for size in reversed(target.sizes):
        strides.append(stride)
        stride = product(out, stride, size)
    aside = Memory(owner, region.address(owner), target.sizes, tuple(reversed(strides)), "false")
    statement.run(aside)
    statement.copy_back(aside)
    region.body.release(owner.slot or "")


class _Statement:
    def __init__(self, region: Region, node: Node) -> None:
        self.region = region
        self.node = node
        self.target = held(region, node.inputs[0])
        self.dtype: Any = node.inputs[0].type.dtype  # type: ignore[union-attr]
        self.steps: Sequence[Step] = node.attributes["steps"]
        self.given: list[tuple[Value, Memory | Element]] = []
        for value in node.inputs[1:]:
            self.given.append((value, self._taken(value)))

    def _taken(self, value: Value) -> Memory | Element:
        region = self.region
        if is_scalar(value.type):
            return region.number(value)
        if is_dense(value.type):
            shape, size = sizes(value.type), value.type.dtype.size  # type: ignore[union-attr]
            strides: list[Position] = [size]
            for count in reversed(shape[1:]):
                strides.append(product(region.out, strides[-1], count))
            return Memory(Object("null"), region.data(value), shape, tuple(reversed(strides)), "false")
        return held(region, value)

    def sizes_of(self, step: Step, number: int) -> tuple[Position, ...]:
        """The sizes of a step's value, as far as they are not just those of the target."""
        found = self.given[step.given[0]][1]
        return found.sizes if isinstance(found, Memory) else ()

    def misfit(self) -> str | None:
        """An i1: whether a size that is not known is not the target's, so that it is for the kernel; None where all
        are known to fit."""
        out, target = self.region.out, self.target
        wrong: list[str] = []
        for number, step in enumerate(self.steps):
            if step.op:
                continue
            own = self.sizes_of(step, number)
            known_sizes = step.type.shape or ()
            for size, known, into in zip(own[::-1], known_sizes[::-1], target.sizes[::-1], strict=False):
                if known == 1 or size == into:
                    continue
                wrong.append(out.new(f"icmp ne i64 {size}, {into}"))
        return _any(out, wrong) if wrong else None

    # ---- overlaps

    def overlap(self) -> str:
        """APART or SOME where that is known, else an i1."""
        out, node = self.region.out, self.node
        found: list[str] = []
        for value, taken in self.given:
            if not memory_values.is_memory(value.type) or not isinstance(taken, Memory):
                continue
            how = self.region.body.overlaps.between(node.inputs[0], value)
            if how == SOME or (how == SAME and not self._is_whole(value)):
                return SOME
            if how not in (APART, SAME):
                found.append(self._may_meet(taken, value.type.dtype.size))  # type: ignore[union-attr]
        return _any(out, found) if found else APART

    def _is_whole(self, value: Value) -> bool:
        return len(value.type.shape) == len(self.target.sizes)  # type: ignore[union-attr, arg-type]

    def _may_meet(self, x: Memory, width: int) -> str:
        """Whether the bytes between first and last of both have some in common."""
        out = self.region.out
        low, high = memory_values.ends(out, x, width)
        own_low, own_high = memory_values.ends(out, self.target, self.dtype.size)
        first = out.new(f"icmp ult i64 {low}, {own_high}")
        return out.new(f"and i1 {first}, {out.new(f'icmp ult i64 {own_low}, {high}')}")

    # ---- the loop

    def run(self, target: Memory) -> None:
        """Computes everything into `target`, which has no elements in common with what is read, but for arrays that are
        read at the very place that is written."""
        routine = _Routine(self.region)
        into = routine.memory(target, "noalias ")
        given: list[Memory | Element] = []
        for value, taken in self.given:
            if isinstance(taken, Element):
                given.append(routine.number(taken))
            elif target is self.target and self._is_target(value):
                given.append(into)
            else:
                given.append(routine.memory(taken, "noalias readonly "))
        out, split = routine.out, self._split(target)
        bounds = ("0", str(into.sizes[0])) if split is None else ("%first", "%last")

        def write(b: ElementWriter) -> None:
            def assign(index: Index) -> None:
                found = self._value(b, given, index)
                store(b, b.cast(found, self.dtype), _place(out, into, index), 0)

            _loops(out, into.sizes, bounds, assign)

        if not any(_is_rare(step, self.steps) for step in self.steps):
            write(_Writer(out))
            routine.call(split)
            return
        asking = _Asking(out)
        _loops(out, into.sizes, bounds, lambda index: self._value(asking, given, index))
        rare, fast, done = out.label("rare"), out.label("fast"), out.label("written")
        out.branch_if(out.new(f"load i1, ptr {asking.flag}"), rare, fast, unlikely=True)
        for label, b in ((rare, ElementWriter(out)), (fast, _Writer(out))):
            out.begin(label)
            write(b)
            out.branch(done)
        out.begin(done)
        routine.call(split)

    def _split(self, target: Memory) -> Split | None:
        """How the outermost loop is split over threads."""
        each = sum(cost_of(step.op, step.type.dtype) for step in self.steps)
        if is_known(target.sizes):
            return split_counts(int(target.sizes[0]), each * math.prod(map(int, target.sizes)))
        if not available() or not any(is_elementary(step.op) for step in self.steps):
            return None
        return OpenSplit(None, target.sizes[0], 1, target.sizes, each)

    def _is_target(self, value: Value) -> bool:
        if not memory_values.is_memory(value.type):
            return False
        return self.region.body.overlaps.between(self.node.inputs[0], value) == SAME

    def copy_back(self, aside: Memory) -> None:
        routine = _Routine(self.region)
        into, source = routine.memory(self.target, "noalias "), routine.memory(aside, "noalias readonly ")
        out = routine.out
        b = _Writer(out)

        def write(index: Index) -> None:
            found = load(b, self.dtype, _place(out, source, index), 0)
            store(b, found, _place(out, into, index), 0)

        _loops(out, into.sizes, ("0", str(into.sizes[0])), write)
        routine.call()

    def _value(self, b: ElementWriter, given: Sequence[Memory | Element], index: Index) -> Element:
        values: list[Element] = []
        for step in self.steps:
            if step.op:
                operands = [values[i] for i in step.given]
                values.append(computed(b, step.op, operands, step.type.dtype, step.attributes))
                continue
            found = given[step.given[0]]
            if isinstance(found, Element):
                values.append(b.wrap(found.dtype, found.ir))
                continue
            shape = step.type.shape or ()
            aligned = index[len(index) - len(shape) :]
            where = tuple(0 if size == 1 else i for size, i in zip(shape, aligned, strict=True))
            values.append(load(b, step.type.dtype, _place(b.out, found, where), 0))
        return values[-1]


def _any(out: Any, conditions: Sequence[str]) -> str:
    either = conditions[0]
    for other in conditions[1:]:
        either = out.new(f"or i1 {either}, {other}")
    return either


def _place(out: Any, x: Memory, index: Index) -> str:
    total: Position = 0
    for position, stride in zip(index, x.strides, strict=True):
        total = plus(out, total, product(out, position, stride))
    return x.pointer if total == 0 else str(out.new(f"getelementptr inbounds i8, ptr {x.pointer}, i64 {total}"))


def _loops(
    out: FunctionText, counts: Sequence[Position], bounds: tuple[str, str], write: Any, index: Index = ()
) -> None:
    """`bounds` are those of the outermost loop."""
    if len(index) == len(counts):
        write(index)
        return
    with out.loop(*(("0", str(counts[len(index)])) if index else bounds)) as i:
        _loops(out, counts, bounds, write, (*index, i))


def _is_rare(step: Step, steps: Sequence[Step]) -> bool:
    """Whether the rule of a step leaves some operands to the C library."""
    if not is_elementary(step.op):
        return False
    asking = _Asking(FunctionText(ModuleText(), ""))
    operands = [asking.wrap(steps[number].type.dtype, f"%{i}") for i, number in enumerate(step.given)]
    computed(asking, step.op, operands, step.type.dtype, step.attributes)
    return asking.asked


class _Writer(ElementWriter):
    """Elements in a loop, none of which the rules leave to the C library."""

    in_loop = True

    def rare(self, condition: Element) -> None: ...


class _Asking(ElementWriter):
    """Elements that nobody stores: `flag` is whether a rule would leave one of them to the C library."""

    in_loop = True

    def __init__(self, out: FunctionText) -> None:
        super().__init__(out)
        self.asked = False
        self.flag = out.alloca("i1", "false")

    def rare(self, condition: Element) -> None:
        self.asked = True
        before = self.out.new(f"load i1, ptr {self.flag}")
        self.out.line(f"store i1 {self.out.new(f'or i1 {before}, {condition.ir}')}, ptr {self.flag}")


class _Routine:
    """A function of pointers and numbers, and the arguments of its one call."""

    def __init__(self, region: Region) -> None:
        self._region = region
        self._names: list[str] = []
        self._arguments: list[str] = []
        self._inner = Routine(region, [])
        self.out = self._inner.out

    def _name(self, kind: str, attributes: str, argument: str) -> str:
        name = f"%g{len(self._names)}"
        self._names.append(f"{kind} {attributes}{name}")
        self._arguments.append(f"{kind} {argument}")
        return name

    def memory(self, x: Memory, attributes: str) -> Memory:
        pointer = self._name("ptr", attributes, x.pointer)
        numbers = [n if isinstance(n, int) else self._name("i64", "", n) for n in (*x.sizes, *x.strides)]
        return Memory(x.owner, pointer, tuple(numbers[: len(x.sizes)]), tuple(numbers[len(x.sizes) :]), "false")

    def number(self, x: Element) -> Element:
        if x.ir[0] != "%":
            return Element(x.b, x.dtype, x.ir)
        return Element(x.b, x.dtype, self._name(register(x.dtype), "", x.ir))

    def call(self, split: Split | None = None) -> None:
        """With a split, what was written goes from `%first` to `%last`."""
        kind, names = ("void", self._names) if split is None else ("i1", [*self._names, *PART])
        self.out.header = f"define internal {kind} @FUNCTION({', '.join(names)}) noinline nounwind"
        name = self._inner.finish("ret void" if split is None else "ret i1 false")
        out = self._region.out
        if split is None:
            out.line(f"call void @{name}({', '.join(self._arguments)})")
        else:
            split.run(self._region.body.module, out, name, self._arguments, has_rare=False)


MEMORY["array_assign"] = lambda node: True

__all__ = ["write_statement"]
