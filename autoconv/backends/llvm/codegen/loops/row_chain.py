"""Loop nest of a row chain: for each row, one phase after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.loops.nest import LoopNestWriter
from autoconv.backends.llvm.codegen.loops.reductions import RegisterReduction
from autoconv.backends.llvm.ir.index_arith import Index, is_known, linear_offset
from autoconv.backends.llvm.ir.nested_loops import loops
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.graph import Node, Value


class RowChainWriter(LoopNestWriter):
    """The function of an item with phases."""

    def _write_loops(self, sums: Any) -> None:
        self._row: dict[Value, Element] = {}
        self._phase = 0
        self._phase_of = {node: p for p, nodes in enumerate(self._item.phases) for node in nodes}
        self._places: dict[Value, tuple[str, bool]] = {}
        for value in self._values_of_later_phases():
            place = self._place_of(value)
            if place is not None:
                self._places[value] = place
        super()._write_loops(sums)

    def _values_of_later_phases(self) -> Iterator[Value]:
        """Yield the values that later phases read and that are costly to recompute."""
        for node in self._phase_of:
            (value,) = node.results
            if self._plan.classes[node] == "element" and self._is_costly(value) and self._is_read_later(value):
                yield value

    def _is_read_later(self, value: Value) -> bool:
        assert value.node is not None
        phase = self._phase_of[value.node]
        return any(self._phase_of.get(reader, phase) > phase for reader in self._plan.readers(value))

    def _is_costly(self, value: Value) -> bool:
        node = value.node
        if node is None or node not in self._phase_of or self._plan.classes[node] != "element":
            return False
        return node.op.traits.costly or any(self._is_costly(operand) for operand in node.inputs)

    def _place_of(self, value: Value) -> tuple[str, bool] | None:
        """Return the memory of a kept value, and whether it holds a single row; None if there is no memory."""
        if value in self.stores:
            return self.stores[value], False
        row = (self._item.shape or ())[self._item.depth :]
        if not is_known(row):
            return self._shared_rows(value)
        width = math.prod(row)
        return self.out.alloca(f"[{width} x {memory(value.dtype)}]"), True

    def _shared_rows(self, value: Value) -> tuple[str, bool] | None:
        """Return memory for rows of open length: that of a result of the last phase with the same type, until it is
        stored.
        """
        pointers = {pointer for pointer, _ in self._places.values()}
        for other, pointer in self.stores.items():
            last = other.node is not None and self._phase_of.get(other.node) == len(self._item.phases) - 1
            if last and pointer not in pointers and self._is_alike(other, value) and not self._is_kept_in(other):
                return pointer, False
        return None

    def _is_alike(self, value: Value, other: Value) -> bool:
        assert value.node is not None
        return self._plan.classes[value.node] == "element" and value.type == other.type

    def _is_kept_in(self, value: Value) -> bool:
        return value in self._places

    def _write_dimension_loop(self, index: Index, shape: Sequence[int], sums: Sequence[Any]) -> None:
        if len(index) < self._item.depth:
            super()._write_dimension_loop(index, shape, sums)
            return
        self._row.clear()
        for phase, nodes in enumerate(self._item.phases):
            self._phase = phase
            reductions: list[RegisterReduction] = [one for one in sums if one.node in nodes]
            for one in reductions:
                one.reset()
            body = partial(self._write_body, flat=False, sums=reductions, nodes=nodes)
            loops(self.out, shape, body, None, index)
            for one in reductions:
                self._row[one.node.results[0]] = one.finish(index)
        self._element_cache.clear()
        self._flat = False
        for node in self._item.rows:
            (value,) = node.results
            if value in self.stores:
                place = index if len(sizes(value.type)) == len(index) else (*index, *[0] * (len(shape) - len(index)))
                place = tuple(0 if size == 1 else i for size, i in zip(sizes(value.type), place, strict=True))
                self._store(self.element(value, place), self.stores[value], sizes(value.type), place)

    def _write_body(self, index: Index, flat: bool, sums: Any, nodes: Sequence[Node] | None = None) -> None:
        super()._write_body(index, flat, sums, nodes)
        for value, (pointer, is_row) in self._places.items():
            if value.node not in (nodes or ()):
                continue
            if is_row:
                depth = self._item.depth
                offset = linear_offset(self.out, index[depth:], (self._item.shape or ())[depth:])
                store(self.b, self.element(value, index), pointer, offset)
            elif self.stores.get(value) != pointer:
                self._store(self.element(value, index), pointer, sizes(value.type), index)

    def _write_element(self, value: Value, index: Index) -> Element:
        if value in self._row:
            return self._row[value]
        node = value.node
        if value in self._places and node is not None and self._phase_of[node] < self._phase:
            pointer, is_row = self._places[value]
            depth, shape = (self._item.depth, self._item.shape or ()) if is_row else (0, sizes(value.type))
            return load(self.b, value.dtype, pointer, linear_offset(self.out, index[depth:], shape[depth:]))
        return super()._write_element(value, index)
