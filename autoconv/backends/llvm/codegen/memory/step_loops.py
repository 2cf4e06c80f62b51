"""Loops that compute each element by a list of steps, for array statements and totals.

A step whose op is "" loads an element of an input. Other steps apply an op to results of earlier steps. The result of
the last step is the element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.element_probe import ElementProbe
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.array_view import memory_of
from autoconv.backends.llvm.codegen.parallel.partitioned import call_parts
from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS, Routine
from autoconv.backends.llvm.codegen.values import Memory, Object
from autoconv.backends.llvm.ir.element_rules import compute
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import (
    Index,
    Position,
    broadcast_index,
    byte_offset,
    plus,
    product,
    row_major_strides,
)
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.legalize.array_reductions import GATHER_BASE
from autoconv.backends.llvm.legalize.array_statements import Step
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.ops.elements.maths import is_in_c_library


class StepLoops:
    """A writer of loops that compute elements by a node's steps.

    `operands` are the inputs that the steps read, each as (value, array in memory or number).
    """

    def __init__(self, region: LoweringContext, node: Node, inputs: Sequence[Value]) -> None:
        self.region = region
        self.node = node
        self.steps: Sequence[Step] = node.attributes["steps"]
        # Steps load the first inputs; further ones only keep memory alive.
        operand_count = 1 + max(step.operands[0] for step in self.steps if step.op in ("", GATHER_BASE))
        self.operands = [(value, self._operand_memory(value)) for value in inputs[:operand_count]]

    def _operand_memory(self, value: Value) -> Memory | Element:
        """Return an input as a number in a register, or as an array in memory."""
        region = self.region
        if is_scalar(value.type):
            return region.number(value)
        if is_dense(value.type):
            shape, size = sizes(value.type), value.dtype.size
            strides = row_major_strides(region.out, shape, size)
            return Memory(Object("null"), region.data(value), shape, strides, is_whole="false")
        return memory_of(region, value)

    def sizes_of(self, step: Step) -> tuple[Position, ...]:
        """Return the sizes of the input that a step loads; () for a scalar."""
        operand = self.operands[step.operands[0]][1]
        return operand.sizes if isinstance(operand, Memory) else ()

    def fallback_conditions(self, loop_sizes: Sequence[Position]) -> list[str]:
        """Return the conditions, each an i1, under which the kernel has to run."""
        tests = self.write_size_test(loop_sizes), self.write_position_test()
        return [test for test in tests if test is not None]

    def run_or_call_kernel(
        self, conditions: Sequence[str], run: Callable[[], None], store_result: Callable[[Any], None] = lambda _: None
    ) -> None:
        """Write the code of `run()`, and if there are conditions, a call of the kernel for the case that one holds.

        `store_result` is called with each result of the kernel.
        """

        def call_kernel() -> None:
            for result in self.region.call_kernel(self.node, is_rare=True):
                store_result(result)

        out = self.region.out
        if conditions:
            out.either(write_any(out, conditions), call_kernel, run, unlikely=True)
        else:
            run()

    def write_size_test(self, loop_sizes: Sequence[Position]) -> str | None:
        """Return an i1 that is true if an open size differs from the size of the loop; None if all sizes fit."""
        out = self.region.out
        conditions: list[str] = []
        for step in self.steps:
            if step.op:
                continue
            operand_sizes = self.sizes_of(step)
            type_sizes = step.type.shape or ()
            axes = zip(operand_sizes[::-1], type_sizes[::-1], loop_sizes[::-1], strict=False)
            for size, type_size, target_size in axes:
                if type_size == 1 or size == target_size:
                    continue
                conditions.append(out.icmp("ne", size, target_size))
        return write_any(out, conditions) if conditions else None

    def write_position_test(self) -> str | None:
        """Return an i1 that is true if a position of a gather is out of range; None without gathers.

        Separate loops read the positions for this check.
        """
        gathers = [step for step in self.steps if step.op == "get_item"]
        if not gathers:
            return None
        out = self.region.out
        outside_cell = out.alloca("i1", "false")
        for step in gathers:
            self._check_positions(step, outside_cell)
        return out.load("i1", outside_cell)

    def _check_positions(self, step: Step, outside_cell: str) -> None:
        """Set the cell `outside_cell` if a position of the gather is not in [-size, size)."""
        out, b = self.region.out, CommonCaseWriter(self.region.out)
        base, positions = (self.operands[self.steps[number].operands[0]][1] for number in step.operands)
        assert isinstance(base, Memory)
        assert isinstance(positions, Memory)
        dtype, size = self.steps[step.operands[1]].type.dtype, base.sizes[0]

        def check(index: Index) -> None:
            position = b.cast(load(b, dtype, element_address(out, positions, index), 0), int64)
            # As unsigned numbers; the sum may wrap.
            is_outside = out.icmp("uge", out.op("add", position.ir, size), product(out, size, 2))
            out.store("i1", out.or_(out.load("i1", outside_cell), is_outside), outside_cell)

        self.region.body.module.has_loops = True
        write_loop_nest(out, positions.sizes, check)

    def write_loops(
        self, out: FunctionText, operands: Sequence[Memory | Element], sizes: Sequence[Position],
        bounds: tuple[str, str], write: Callable[[ElementWriter], None],
    ) -> None:  # fmt: skip
        """Write the loops over all elements; `write(b)` writes them with element rules by `b`.

        If rules leave rare elements to the C library, a first loop tests for such elements. If there are none at run
        time, a version of the loops without calls of the C library runs.
        """
        if not self.may_be_rare:
            write(CommonCaseWriter(out))
            return
        probe = ProbeWriter(out)
        write_loop_nest(out, sizes, lambda index: self.write_element(probe, operands, index), bounds)
        rare_flag = out.load("i1", probe.flag)
        out.either(rare_flag, lambda: write(ElementWriter(out)), lambda: write(CommonCaseWriter(out)), unlikely=True)

    @property
    def may_be_rare(self) -> bool:
        """True if some elements may need a call of the C library."""
        return any(has_rare_case(step, self.steps) for step in self.steps)

    def write_element(self, b: ElementWriter, operands: Sequence[Memory | Element], index: Index) -> Element:
        """Compute the element at an index, step by step."""
        values: list[Element] = []
        for step in self.steps:
            if step.op == GATHER_BASE:
                values.append(b.wrap(int64, "0"))  # a placeholder: gathers load elements of a base themselves
                continue
            if step.op == "get_item":
                values.append(self._load_gathered(b, operands, step, values[step.operands[1]]))
                continue
            if step.op:
                step_operands = [values[i] for i in step.operands]
                values.append(compute(b, step.op, step_operands, step.type.dtype, step.attributes))
                continue
            operand = operands[step.operands[0]]
            if isinstance(operand, Element):
                values.append(b.wrap(operand.dtype, operand.ir))
                continue
            shape = step.type.shape or ()
            address = element_address(b.out, operand, broadcast_index(index, shape))
            values.append(load(b, step.type.dtype, address, 0))
        return values[-1]

    def _load_gathered(
        self, b: ElementWriter, operands: Sequence[Memory | Element], step: Step, position: Element
    ) -> Element:  # fmt: skip
        """Return the element at a computed position; negative positions count from the end."""
        base = operands[self.steps[step.operands[0]].operands[0]]
        assert isinstance(base, Memory)
        index = b.cast(position, int64)
        wrapped_index = b.wrap(int64, str(plus(b.out, index.ir, base.sizes[0])))
        index = b.select(index < 0, wrapped_index, index)
        return load(b, step.type.dtype, element_address(b.out, base, (index.ir,)), 0)


def write_any(out: Any, conditions: Sequence[str]) -> str:
    """Write the disjunction of i1 values; return its register."""
    result = conditions[0]
    for condition in conditions[1:]:
        result = out.or_(result, condition)
    return result


def element_address(out: Any, x: Memory, index: Index) -> str:
    """Return the address of an element of an array in memory."""
    offset = byte_offset(out, index, x.strides)
    return x.pointer if offset == 0 else str(out.new(f"getelementptr inbounds i8, ptr {x.pointer}, i64 {offset}"))


def has_rare_case(step: Step, steps: Sequence[Step]) -> bool:
    """Return whether the rule of a step calls the C library for rare operands."""
    if not is_in_c_library(step.op):
        return False
    probe = ElementProbe()
    probe.result(step.op, [steps[number].type.dtype for number in step.operands], step.type.dtype, step.attributes)
    return probe.is_rare


class CommonCaseWriter(ElementWriter):
    """A writer of elements in a loop that omits the calls of the C library for rare operands."""

    avoids_library_calls = True

    def mark_rare(self, condition: Element) -> None: ...


class ProbeWriter(ElementWriter):
    """A writer of elements in a loop that sets `flag` if a rule would call the C library for an element."""

    avoids_library_calls = True

    def __init__(self, out: FunctionText) -> None:
        super().__init__(out)
        self.flag = out.alloca("i1", "false")

    def mark_rare(self, condition: Element) -> None:
        self.out.store("i1", self.out.or_(self.out.load("i1", self.flag), condition.ir), self.flag)


class StepRoutine:
    """A native function of pointers and numbers, together with the arguments of its only call.

    `memory`, `pointer`, `number` and `numbers` add parameters for a value of the region, and return the value in the
    function.
    """

    def __init__(self, region: LoweringContext) -> None:
        self._region = region
        self._parameters: list[str] = []
        self._arguments: list[str] = []
        self._routine = Routine(region, [])
        self.out = self._routine.out

    def _add_parameter(self, ir_type: str, attributes: str, argument: str) -> str:
        """Add a parameter, with LLVM attributes such as "noalias ", and its argument; return its register."""
        name = f"%g{len(self._parameters)}"
        self._parameters.append(f"{ir_type} {attributes}{name}")
        self._arguments.append(f"{ir_type} {argument}")
        return name

    def memory(self, x: Memory, attributes: str) -> Memory:
        pointer = self._add_parameter("ptr", attributes, x.pointer)
        numbers = self.numbers((*x.sizes, *x.strides))
        rank = len(x.sizes)
        return Memory(x.owner, pointer, tuple(numbers[:rank]), tuple(numbers[rank:]), is_whole="false")

    def pointer(self, x: str) -> str:
        return self._add_parameter("ptr", "", x)

    def numbers(self, positions: Sequence[Position]) -> list[Position]:
        return [n if isinstance(n, int) else self._add_parameter("i64", "", n) for n in positions]

    def number(self, x: Element) -> Element:
        if x.ir[0] != "%":
            return Element(x.b, x.dtype, x.ir)
        return Element(x.b, x.dtype, self._add_parameter(register(x.dtype), "", x.ir))

    def call(self, split: Split | None = None) -> None:
        """Finish and call the function; if `split` is given, its body covers `%first` to `%last`, and all parts run."""
        parameters = [*self._parameters, *(PART_PARAMETERS if split is not None else ())]
        self.out.signature = Signature("void" if split is None else "i1", parameters)
        name = self._routine.finish("ret void" if split is None else "ret i1 false")
        out = self._region.out
        if split is None:
            out.line(f"call void @{name}({', '.join(self._arguments)})")
        else:
            call_parts(split, self._region.body.module, out, name, self._arguments, has_rare=False)
