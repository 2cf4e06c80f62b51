"""Lower statements (see `statements`) to a loop over the assigned array.

Where the target may overlap an input, everything is computed into temporary memory before anything is written. If
overlap is unknown at compile time, it is tested at run time.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.array_view import memory_of, new_memory
from autoconv.backends.llvm.codegen.memory.overlap_test import may_overlap
from autoconv.backends.llvm.codegen.memory.step_loops import (
    CommonCaseWriter,
    Routine,
    StepLoops,
    any_of,
    element_address,
)
from autoconv.backends.llvm.codegen.registry import in_memory
from autoconv.backends.llvm.codegen.values import Memory
from autoconv.backends.llvm.ir.index_arith import Index, is_known
from autoconv.backends.llvm.ir.nested_loops import loops
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.legalize.array_statements import BASE
from autoconv.backends.llvm.schedule.cost import cost_of
from autoconv.backends.llvm.schedule.partition import Split, split_counts
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node, Value
from autoconv.ops.analysis.alias import DISJOINT, EQUAL, OVERLAP
from autoconv.ops.elements.maths import is_elementary


@in_memory("array_assign", of_held=False)
def write_statement(region: LoweringContext, node: Node) -> None:
    """Write the assignment: in place where no input is overwritten, else through temporary memory.

    The kernel runs where open sizes do not fit.
    """
    statement = _Statement(region, node)
    wrong = statement.fallback_conditions(statement.target.sizes)
    statement.run_where_fit(wrong, lambda: _write_fitting(region, statement))


def _write_fitting(region: LoweringContext, statement: _Statement) -> None:
    how = statement.overlap()
    if how == DISJOINT:
        statement.run(statement.target)
    elif how == OVERLAP:
        _write_through_copy(region, statement)
    else:
        aside, straight = partial(_write_through_copy, region, statement), partial(statement.run, statement.target)
        region.out.either(how, aside, straight)


def _write_through_copy(region: LoweringContext, statement: _Statement) -> None:
    aside = new_memory(region, statement.dtype, statement.target.sizes)
    statement.run(aside)
    statement.copy_back(aside)
    region.body.release(aside.owner.slot or "")


class _Statement(StepLoops):
    def __init__(self, region: LoweringContext, node: Node) -> None:
        super().__init__(region, node, node.inputs[1:])
        self.target = memory_of(region, node.inputs[0])
        self.dtype: Any = node.inputs[0].dtype

    # ---- overlaps

    def overlap(self) -> str:
        """Return DISJOINT or OVERLAP where that is known, else an i1 that is true if the memory may overlap."""
        out, node = self.region.out, self.node
        overlaps: list[str] = []
        bases = {step.operands[0] for step in self.steps if step.op == BASE}
        for i, (value, operand) in enumerate(self.operands):
            if not representation.is_memory(value.type) or not isinstance(operand, Memory):
                continue
            how = self.region.body.overlaps.between(node.inputs[0], value)
            if how == OVERLAP or (how == EQUAL and (i in bases or not self._is_whole(value))):
                return OVERLAP
            if how not in (DISJOINT, EQUAL) and not self.region.body.dependence.are_disjoint(node.inputs[0], value):
                overlaps.append(may_overlap(self.region, node.inputs[0], value))
        return any_of(out, overlaps) if overlaps else DISJOINT

    def _is_whole(self, value: Value) -> bool:
        return len(value.shape) == len(self.target.sizes)  # type: ignore[union-attr, arg-type]

    # ---- the loop

    def run(self, target: Memory) -> None:
        """Compute everything into `target`.

        Precondition: it overlaps no input, except arrays that are read at exactly the element that is written.
        """
        routine = Routine(self.region)
        into = routine.memory(target, "noalias ")
        operands: list[Memory | Element] = []
        for value, operand in self.operands:
            if isinstance(operand, Element):
                operands.append(routine.number(operand))
            elif target is self.target and self._is_target(value):
                operands.append(into)
            else:
                operands.append(routine.memory(operand, "noalias readonly "))
        out, split = routine.out, self._split(target)
        bounds = ("0", str(into.sizes[0])) if split is None else ("%first", "%last")

        def write(b: ElementWriter) -> None:
            def assign(index: Index) -> None:
                element = self.value(b, operands, index)
                store(b, b.cast(element, self.dtype), element_address(out, into, index), 0)

            loops(out, into.sizes, assign, bounds)

        self.write(out, operands, into.sizes, bounds, write)
        routine.call(split)

    def _split(self, target: Memory) -> Split | None:
        """Choose how the outermost loop is split over threads."""
        each = sum(cost_of(step.op, step.type.dtype) for step in self.steps)
        if is_known(target.sizes):
            return split_counts(int(target.sizes[0]), each * math.prod(map(int, target.sizes)))
        if not current_target().has_pool or not any(is_elementary(step.op) for step in self.steps):
            return None
        return Split(None, target.sizes[0], None, target.sizes, each)

    def _is_target(self, value: Value) -> bool:
        if not representation.is_memory(value.type):
            return False
        return self.region.body.overlaps.between(self.node.inputs[0], value) == EQUAL

    def copy_back(self, aside: Memory) -> None:
        routine = Routine(self.region)
        into, source = routine.memory(self.target, "noalias "), routine.memory(aside, "noalias readonly ")
        out = routine.out
        b = CommonCaseWriter(out)

        def write(index: Index) -> None:
            element = load(b, self.dtype, element_address(out, source, index), 0)
            store(b, element, element_address(out, into, index), 0)

        loops(out, into.sizes, write)
        routine.call()

__all__ = ["write_statement"]
