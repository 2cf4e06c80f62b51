"""Lower assignments to mutable arrays (see legalize/array_statements.py) to a loop over the assigned array.

If the target may overlap an input, all elements are computed into temporary memory before any is assigned. If overlap
is unknown at compile time, it is tested at run time.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.array_view import memory_of, new_memory
from autoconv.backends.llvm.codegen.memory.overlap_test import write_overlap_test
from autoconv.backends.llvm.codegen.memory.step_loops import (
    CommonCaseWriter,
    StepLoops,
    StepRoutine,
    element_address,
    write_any,
)
from autoconv.backends.llvm.codegen.registry import memory_lowering
from autoconv.backends.llvm.codegen.values import Memory
from autoconv.backends.llvm.ir.index_arith import Index, is_known
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.legalize.array_reductions import GATHER_BASE
from autoconv.backends.llvm.schedule.cost import cost_of
from autoconv.backends.llvm.schedule.partition import Split, choose_loop_split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node, Value
from autoconv.ops.analysis.alias import DISJOINT, EQUAL, OVERLAP
from autoconv.ops.elements.maths import is_in_c_library


@memory_lowering("array_assign", needs_native_values=False)
def write_statement(region: LoweringContext, node: Node) -> None:
    """Write the assignment: in place if it overwrites no input, else through temporary memory.

    The kernel runs instead if open sizes do not fit.
    """
    statement = _StatementWriter(region, node)
    conditions = statement.fallback_conditions(statement.target.sizes)
    statement.run_or_call_kernel(conditions, lambda: _write_native_assignment(region, statement))


def _write_native_assignment(region: LoweringContext, statement: _StatementWriter) -> None:
    """Write the assignment in place, or through a copy if the target may overlap an input."""
    overlap = statement.find_overlap()
    if overlap == DISJOINT:
        statement.run(statement.target)
    elif overlap == OVERLAP:
        _write_through_copy(region, statement)
    else:
        through_copy = partial(_write_through_copy, region, statement)
        region.out.either(overlap, through_copy, partial(statement.run, statement.target))


def _write_through_copy(region: LoweringContext, statement: _StatementWriter) -> None:
    """Write a statement into new memory, and copy the result to the target."""
    temporary = new_memory(region, statement.dtype, statement.target.sizes)
    statement.run(temporary)
    statement.copy_back(temporary)
    region.body.release(temporary.owner.slot or "")


class _StatementWriter(StepLoops):
    """A writer of the loops of one assignment: to `target`, an array of `dtype`."""

    def __init__(self, region: LoweringContext, node: Node) -> None:
        super().__init__(region, node, node.inputs[1:])
        self.target = memory_of(region, node.inputs[0])
        self.dtype: Any = node.inputs[0].dtype

    # ---- overlaps

    def find_overlap(self) -> str:
        """Return DISJOINT or OVERLAP if that is known, else an i1 that is true if the memory may overlap."""
        out, node = self.region.out, self.node
        run_time_tests: list[str] = []
        gathered_inputs = {step.operands[0] for step in self.steps if step.op == GATHER_BASE}
        for i, (value, operand) in enumerate(self.operands):
            if not representation.is_memory(value.type) or not isinstance(operand, Memory):
                continue
            overlap = self.region.body.overlaps.between(node.inputs[0], value)
            is_read_elsewhere = i in gathered_inputs or not self._has_target_rank(value)
            if overlap == OVERLAP or (overlap == EQUAL and is_read_elsewhere):
                return OVERLAP
            is_disjoint = self.region.body.dependence.are_disjoint(node.inputs[0], value)
            if overlap not in (DISJOINT, EQUAL) and not is_disjoint:
                run_time_tests.append(write_overlap_test(self.region, node.inputs[0], value))
        return write_any(out, run_time_tests) if run_time_tests else DISJOINT

    def _has_target_rank(self, value: Value) -> bool:
        """Return whether a value has as many dimensions as the target, so that no index is broadcast to more."""
        return len(value.shape) == len(self.target.sizes)  # type: ignore[union-attr, arg-type]

    # ---- the loop

    def run(self, target: Memory) -> None:
        """Compute all elements into `target`.

        Precondition: the target overlaps no input, except inputs that are read only at the element that is written.
        """
        routine = StepRoutine(self.region)
        routine_target = routine.memory(target, "noalias ")
        operands: list[Memory | Element] = []
        for value, operand in self.operands:
            if isinstance(operand, Element):
                operands.append(routine.number(operand))
            elif target is self.target and self._is_target(value):
                operands.append(routine_target)
            else:
                operands.append(routine.memory(operand, "noalias readonly "))
        out, split = routine.out, self._choose_split(target)
        bounds = ("0", str(routine_target.sizes[0])) if split is None else ("%first", "%last")

        def write(b: ElementWriter) -> None:
            def assign(index: Index) -> None:
                element = self.write_element(b, operands, index)
                store(b, b.cast(element, self.dtype), element_address(out, routine_target, index), 0)

            write_loop_nest(out, routine_target.sizes, assign, bounds)

        self.write_loops(out, operands, routine_target.sizes, bounds, write)
        routine.call(split)

    def _choose_split(self, target: Memory) -> Split | None:
        """Return how the outermost loop is split over threads; None if one thread runs it."""
        work = sum(cost_of(step.op, step.type.dtype) for step in self.steps)
        if is_known(target.sizes):
            return choose_loop_split(int(target.sizes[0]), work * math.prod(map(int, target.sizes)))
        if not current_target().has_pool or not any(is_in_c_library(step.op) for step in self.steps):
            return None
        return Split(dimension=None, size=target.sizes[0], shape=target.sizes, iteration_work=work)

    def _is_target(self, value: Value) -> bool:
        """Return whether a value is known to be exactly the target's memory."""
        if not representation.is_memory(value.type):
            return False
        return self.region.body.overlaps.between(self.node.inputs[0], value) == EQUAL

    def copy_back(self, temporary: Memory) -> None:
        """Write the loop that copies temporary memory to the target."""
        routine = StepRoutine(self.region)
        target, source = routine.memory(self.target, "noalias "), routine.memory(temporary, "noalias readonly ")
        out = routine.out
        b = CommonCaseWriter(out)

        def write(index: Index) -> None:
            element = load(b, self.dtype, element_address(out, source, index), 0)
            store(b, element, element_address(out, target, index), 0)

        write_loop_nest(out, target.sizes, write)
        routine.call()
