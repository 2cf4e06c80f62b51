"""The loop nest of a row chain, which runs the chain's phases one after the other for each row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter
from autoconv.backends.llvm.codegen.loops.reductions import RegisterReduction
from autoconv.backends.llvm.ir.index_arith import Index, is_known, linear_offset
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.graph import Node, Value


class SavedMemory(NamedTuple):
    """The address of the memory of a saved value; it holds a single row if `is_row` is true, else all elements."""

    address: str
    is_row: bool


class RowChainWriter(LoopNestWriter):
    """A writer of the function of a plan item with phases (see schedule/row_chains.py).

    A value that a later phase reads again is *saved* in memory if it is costly to recompute.
    """

    def _write_loops(self, reductions: Any) -> None:
        """Allocate memory for the values that a phase saves for later ones, and write the loops."""
        self._row_totals: dict[Value, Element] = {}  # result of a reduction -> its element for the current row
        self._phase = 0
        self._phase_of = {node: phase for phase, nodes in enumerate(self._item.phases) for node in nodes}
        self._saved_memory: dict[Value, SavedMemory] = {}  # saved value -> its memory
        self._stores_at_end: list[Any] = []  # arguments of `_store`, for results whose memory holds a saved value
        for value in self._values_to_save():
            allocation = self._allocate_saved(value)
            if allocation is not None:
                self._saved_memory[value] = allocation
        super()._write_loops(reductions)

    def _values_to_save(self) -> Iterator[Value]:
        """Iterate over the values that later phases read and that are costly to recompute."""
        for node in self._phase_of:
            (value,) = node.results
            if self._plan.classes[node] == "element" and self._is_costly(value) and self._is_read_later(value):
                yield value

    def _is_read_later(self, value: Value) -> bool:
        """Return whether a later phase reads the value."""
        assert value.node is not None
        phase = self._phase_of[value.node]
        return any(self._phase_of.get(reader, phase) > phase for reader in self._plan.readers(value))

    def _is_costly(self, value: Value) -> bool:
        """Return whether a costly op of the chain computes the value or an operand that it is computed from."""
        node = value.node
        if node is None or node not in self._phase_of or self._plan.classes[node] != "element":
            return False
        return node.op.traits.costly or any(self._is_costly(operand) for operand in node.inputs)

    def _allocate_saved(self, value: Value) -> SavedMemory | None:
        """Return the memory for a saved value; None if there is none."""
        if value in self.stores:
            return SavedMemory(self.stores[value], is_row=False)
        row_shape = (self._item.shape or ())[self._item.depth :]
        if not is_known(row_shape):
            return self._borrow_result_memory(value)
        address = self.out.alloca(f"[{math.prod(row_shape)} x {memory_type(value.dtype)}]")
        return SavedMemory(address, is_row=True)

    def _borrow_result_memory(self, value: Value) -> SavedMemory | None:
        """Return the memory of a result that only the last phase stores, for a value with rows of open length."""
        used_pointers = {pointer for pointer, _ in self._saved_memory.values()}
        for result, pointer in self.stores.items():
            node = result.node
            is_available = pointer not in used_pointers and result not in self._saved_memory
            if node is None or not is_available or result.type != value.type:
                continue
            if self._phase_of.get(node) == len(self._item.phases) - 1 and self._plan.classes[node] == "element":
                return SavedMemory(pointer, is_row=False)
        return None

    def _write_dimension_loop(self, index: Index, shape: Sequence[int], reductions: Sequence[Any]) -> None:
        """Write the loops; inside those over rows, write all phases of a row, and then its row nodes."""
        if len(index) < self._item.depth:
            super()._write_dimension_loop(index, shape, reductions)
            return
        self._row_totals.clear()
        for phase, nodes in enumerate(self._item.phases):
            self._phase = phase
            phase_reductions: list[RegisterReduction] = [x for x in reductions if x.node in nodes]
            for reduction in phase_reductions:
                reduction.reset()
            body = partial(self._write_body, reductions=phase_reductions, nodes=nodes)
            write_loop_nest(self.out, shape, body, None, index)
            for reduction in phase_reductions:
                self._row_totals[reduction.node.results[0]] = reduction.finish(index)
        self._element_cache.clear()
        for node in self._item.row_nodes:
            (value,) = node.results
            if value in self.stores:
                row_index = index
                if len(sizes(value.type)) != len(index):  # the value keeps its reduced dimensions, with size 1
                    row_index = (*index, *[0] * (len(shape) - len(index)))
                row_index = tuple(0 if size == 1 else i for size, i in zip(sizes(value.type), row_index, strict=True))
                self._store(self.element(value, row_index), self.stores[value], sizes(value.type), row_index)

    def _write_body(self, index: Index, reductions: Any, nodes: Sequence[Node] | None = None) -> None:
        """Write the body of a phase, and the stores of the values that it saves."""
        super()._write_body(index, reductions, nodes)
        for arguments in self._stores_at_end:
            super()._store(*arguments)
        self._stores_at_end.clear()
        for value, (pointer, is_row) in self._saved_memory.items():
            if value.node not in (nodes or ()):
                continue
            if is_row:
                depth = self._item.depth
                offset = linear_offset(self.out, index[depth:], (self._item.shape or ())[depth:])
                store(self.b, self.element(value, index), pointer, offset)
            elif self.stores.get(value) != pointer:
                super()._store(self.element(value, index), pointer, sizes(value.type), index)

    def _store(self, element: Element, pointer: str, shape: tuple[int, ...], index: Index) -> None:
        """Store an element, at the end of the body if its memory holds a saved value, which may be read after this."""
        memories = self._saved_memory.items()
        if any(pointer == memory.address and self.stores.get(value) != pointer for value, memory in memories):
            self._stores_at_end.append((element, pointer, shape, index))
        else:
            super()._store(element, pointer, shape, index)

    def _write_element(self, value: Value, index: Index) -> Element:
        """Return the total of the row, load a value that an earlier phase saved, or compute the element."""
        if value in self._row_totals:
            return self._row_totals[value]
        node = value.node
        if value in self._saved_memory and node is not None and self._phase_of[node] < self._phase:
            pointer, is_row = self._saved_memory[value]
            depth, shape = (self._item.depth, self._item.shape or ()) if is_row else (0, sizes(value.type))
            return load(self.b, value.dtype, pointer, linear_offset(self.out, index[depth:], shape[depth:]))
        return super()._write_element(value, index)
