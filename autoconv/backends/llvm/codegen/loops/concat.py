"""Concatenation: loops that copy each array into its part of the result."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter, NestFunction
from autoconv.backends.llvm.ir.index_arith import Index, Position, plus
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.graph.graph import Value


class ConcatWriter(LoopNestWriter):
    """The writer of the function of a plan item that concatenates its inputs."""

    def _write_function(self, is_careful: bool) -> NestFunction:
        """Write a function that copies each operand to its range of positions along the axis."""
        self._begin_function(self._parameters(), is_careful)
        (node,) = self._item.nodes
        axis = node.attributes["axis"] % len(sizes(node.results[0].type))
        start: Position = 0
        for value in node.inputs:
            self._copy_operand(node.results[0], value, axis, start)
            start = plus(self.out, start, sizes(value.type)[axis])
        return self._finish_function("join")

    def _copy_operand(self, result: Value, value: Value, axis: int, start: Position) -> None:
        """Copy an input into the result, from position `start` of the axis on."""
        def copy(index: Index) -> None:
            self._element_cache.clear()
            target_index = (*index[:axis], plus(self.out, index[axis], start), *index[axis + 1 :])
            self._store(self.element(value, index), self.stores[result], sizes(result.type), target_index)

        write_loop_nest(self.out, sizes(value.type), copy)
