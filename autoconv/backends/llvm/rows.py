"""Fuse chains of loops over one shape that read each other's sums along the last dimensions: run them row by row.

A softmax is a maximum over each row, a sum of powers over each row, and a quotient. That is three loops over all of
memory, or one over the rows with three phases, which find the row in the caches. Later phases read numbers of the row
from registers. Elements of earlier phases are recomputed, or kept for the length of a row where that is faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.kernels import KernelText
from autoconv.backends.llvm.positions import Index, is_known, linear
from autoconv.backends.llvm.reductions import RegisterReduction, register_depth
from autoconv.backends.llvm.roles import is_dense, is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, load, memory, store
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.views import mapped
from autoconv.graph.graph import Node, Value
from autoconv.ops.elements.maths import is_elementary

if TYPE_CHECKING:
    from autoconv.backends.llvm.fusion import Item, Plan

_LONGEST = 1 << 15  # bytes of a row of values that are kept for later phases
_COSTLY = frozenset({"divide", "sqrt", "rsqrt", "reciprocal", "sigmoid", "softplus", "elu", "selu", "python_divide"})


def fuse_rows(plan: Plan) -> None:
    """Merge loops that can run row by row into the item of the first of them, as phases."""
    # Dependences first: merged items are not in execution order.
    order = sorted(range(len(plan.all_items)), key=lambda number: plan.all_items[number].before.bit_count())
    for number in order:
        if plan.all_items[number].nodes:
            _Chain(plan, number).join()


def _is_loop(plan: Plan, item: Item) -> bool:
    plain = all(plan.roles[node] in ("element", "reduce") and not node.effects for node in item.nodes)
    return item.shape is not None and len(item.shape) > 1 and 0 not in item.shape and plain


class _Chain:
    """An item, with its dependences classified."""

    def __init__(self, plan: Plan, number: int) -> None:
        self.plan = plan
        self.number = number
        self.item = plan.all_items[number]
        self.shape = self.item.shape or ()
        self.first: set[int] = set()  # loops of the same shape
        self.rows: set[int] = set()  # items computed from each row's sums
        self.views: set[int] = set()
        self.others: set[int] = set()

    def join(self) -> None:
        """Make the item a phase of the loops whose sums it reads, if that is legal."""
        if not _is_loop(self.plan, self.item):
            return
        self._sort(self.item.direct)
        if len(self.first) != 1:
            return
        (into,) = self.first
        depth = self._depth(self.plan.all_items[into])
        if depth is None or not self._is_in_order(into) or not self._keeps_to_rows(into, depth):
            return
        target = self.plan.all_items[into]
        target.phases = [*(target.phases or [target.nodes]), self.item.nodes]
        target.rows = [*target.rows, *(node for row in sorted(self.rows) for node in self.plan.all_items[row].nodes)]
        target.depth = depth
        for number in self.views:  # views take no time and need not wait
            view = self.plan.all_items[number]
            view.direct = {n for n in view.direct if self.plan.resolve(n) not in (into, *self.rows)}
        for number in (*sorted(self.rows), self.number):
            self.plan.merge(into, number)

    def _sort(self, numbers: set[int]) -> None:
        for number in {self.plan.resolve(n) for n in numbers} - {self.number}:
            item = self.plan.all_items[number]
            if number in self.first | self.rows | self.views | self.others:
                continue
            if item.shape == self.shape and _is_loop(self.plan, item):
                self.first.add(number)
            elif item.shape is None and item.nodes[0].results and item.nodes[0].results[0] in self.plan.views:
                self.views.add(number)
                self._sort(item.direct)
            elif self._is_of_rows(item):
                self.rows.add(number)
                self._sort(item.direct)
            else:
                self.others.add(number)

    def _is_of_rows(self, item: Item) -> bool:
        shape = item.shape
        if shape is None or any(self.plan.roles[node] != "element" or node.effects for node in item.nodes):
            return False
        whole = shape + (1,) * (len(self.shape) - len(shape))
        return len(whole) == len(self.shape) and all(a in (1, b) for a, b in zip(whole, self.shape, strict=True))

    def _depth(self, target: Item) -> int | None:
        """Return the dimension from which all sums of both items reduce; None if they differ, or leave no rows."""
        nodes = [*target.nodes, *self.item.nodes]
        depths = {register_depth(node, self.shape) for node in nodes if self.plan.roles[node] == "reduce"}
        if len(depths) != 1 or not any(self.plan.roles[node] == "reduce" for node in target.nodes):
            return None
        (depth,) = depths
        if depth is None or all(size == 1 for size in self.shape[:depth]) or depth == len(self.shape):
            return None
        if not is_known(self.shape[depth:]):
            return depth
        width = math.prod(self.shape[depth:]) * max(node.results[0].type.dtype.size for node in nodes)  # type: ignore[union-attr]
        return depth if width <= _LONGEST else None

    def _is_in_order(self, into: int) -> bool:
        """Return whether no other dependence of the item runs after the loops to be merged."""
        inside = 1 << into
        for number in (*self.rows, *self.views):
            inside |= 1 << number
        return not any(self.plan.all_items[other].before & inside for other in self.others)

    # ---- elements that are read

    def _keeps_to_rows(self, into: int, depth: int) -> bool:
        """Return whether each element depends, among earlier loops' values, only on the same element or its row's."""
        target = self.plan.all_items[into]
        own = tuple(0 if size == 1 else f"%o{d}" for d, size in enumerate(self.shape))
        row_nodes = [node for row in self.rows for node in self.plan.all_items[row].nodes]
        places: dict[Value, Index] = {}
        for node in (*target.nodes, *self.item.nodes, *row_nodes):
            (value,) = node.results
            place = own if self._is_full(node) else _row_place(value, own, depth)
            if place is None:
                return False
            places[value] = place
        reading = [*((node, own) for node in self.item.nodes), *((node, places[node.results[0]]) for node in row_nodes)]
        return all(self._reads_well(node, index, places) for node, index in reading)

    def _is_full(self, node: Node) -> bool:
        return self.plan.roles[node] == "element" and sizes(node.results[0].type) == self.shape

    def _reads_well(self, node: Node, index: Index, places: dict[Value, Index]) -> bool:
        operands = node.inputs[:1] if self.plan.roles[node] == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            shape = sizes(value.type)
            aligned = index[len(index) - len(shape) :]
            at = tuple(0 if size == 1 else i for size, i in zip(shape, aligned, strict=True))
            if not self._is_at(value, at, places):
                return False
        return True

    def _is_at(self, value: Value, index: Index, places: dict[Value, Index]) -> bool:
        if value in places:
            return places[value] == index
        if value not in self.plan.views:
            return True
        node = value.node
        assert node is not None
        if not any(base in places for base, _ in self.plan.bases(value)):
            return True
        source = mapped(FunctionText(ModuleText(), ""), node, index)
        if source is None:
            return False
        return is_scalar(node.inputs[0].type) or self._is_at(node.inputs[0], source, places)


def _row_place(value: Value, own: Index, depth: int) -> Index | None:
    """Return the index of a row's number in terms of the outer loops; None if the value is not one per row."""
    if not is_dense(value.type):
        return None
    shape = sizes(value.type)
    if len(shape) == len(own):
        return own[:depth] + (0,) * (len(own) - depth) if all(size == 1 for size in shape[depth:]) else None
    return own[:depth] if len(shape) == depth else None


class RowsText(KernelText):
    """The function of an item with phases."""

    def _loops(self, sums: Any) -> None:
        self._row: dict[Value, Element] = {}
        self._phase = 0
        self._phase_of = {node: p for p, nodes in enumerate(self._item.phases) for node in nodes}
        self._kept: dict[Value, tuple[str, bool]] = {}
        for value in self._needed_later():
            place = self._place_of(value)
            if place is not None:
                self._kept[value] = place
        super()._loops(sums)

    def _needed_later(self) -> Iterator[Value]:
        """Yield the values that later phases read and that are costly to recompute."""
        for node in self._phase_of:
            (value,) = node.results
            if self._plan.roles[node] == "element" and self._is_costly(value) and self._is_read_later(value):
                yield value

    def _is_read_later(self, value: Value) -> bool:
        assert value.node is not None
        phase = self._phase_of[value.node]
        return any(self._phase_of.get(reader, phase) > phase for reader in self._plan.readers(value))

    def _is_costly(self, value: Value) -> bool:
        node = value.node
        if node is None or node not in self._phase_of or self._plan.roles[node] != "element":
            return False
        name = node.op.name
        return is_elementary(name) or name in _COSTLY or any(self._is_costly(operand) for operand in node.inputs)

    def _place_of(self, value: Value) -> tuple[str, bool] | None:
        """Return the memory of a kept value, and whether it holds a single row; None if there is no memory."""
        if value in self.stores:
            return self.stores[value], False
        row = (self._item.shape or ())[self._item.depth :]
        if not is_known(row):
            return self._shared_place(value)
        width = math.prod(row)
        return self.out.alloca(f"[{width} x {memory(value.type.dtype)}]"), True  # type: ignore[union-attr]

    def _shared_place(self, value: Value) -> tuple[str, bool] | None:
        """Return memory for rows of open length: that of a result of the last phase with the same type, until it is
        stored.
        """
        taken = {pointer for pointer, _ in self._kept.values()}
        for other, pointer in self.stores.items():
            last = other.node is not None and self._phase_of.get(other.node) == len(self._item.phases) - 1
            if last and pointer not in taken and self._is_alike(other, value) and not self._is_kept_in(other):
                return pointer, False
        return None

    def _is_alike(self, value: Value, other: Value) -> bool:
        assert value.node is not None
        return self._plan.roles[value.node] == "element" and value.type == other.type

    def _is_kept_in(self, value: Value) -> bool:
        return value in self._kept

    def _dimension(self, index: Index, shape: Sequence[int], registers: Any, sums: Any) -> None:
        if len(index) < self._item.depth:
            super()._dimension(index, shape, registers, sums)
            return
        self._row.clear()
        for phase, nodes in enumerate(self._item.phases):
            self._phase = phase
            found: list[RegisterReduction] = [one for one in registers if one.node in nodes]
            for one in found:
                one.start()
            self._inner(index, shape, nodes, found)
            for one in found:
                self._row[one.node.results[0]] = one.finish(index)
        self._memo.clear()
        self._flat = False
        for node in self._item.rows:
            (value,) = node.results
            if value in self.stores:
                place = index if len(sizes(value.type)) == len(index) else (*index, *[0] * (len(shape) - len(index)))
                place = tuple(0 if size == 1 else i for size, i in zip(sizes(value.type), place, strict=True))
                self._store(self.element(value, place), self.stores[value], sizes(value.type), place)

    def _inner(self, index: Index, shape: Sequence[int], nodes: Sequence[Node], sums: Any) -> None:
        if len(index) == len(shape):
            self._body(index, flat=False, sums=sums, nodes=nodes)
        elif shape[len(index)] == 1:
            self._inner((*index, 0), shape, nodes, sums)
        else:
            with self.out.loop("0", str(shape[len(index)])) as i:
                self._inner((*index, i), shape, nodes, sums)

    def _body(self, index: Index, flat: bool, sums: Any, nodes: Sequence[Node] | None = None) -> None:
        super()._body(index, flat, sums, nodes)
        for value, (pointer, is_row) in self._kept.items():
            if value.node not in (nodes or ()):
                continue
            if is_row:
                depth = self._item.depth
                offset = linear(self.out, index[depth:], (self._item.shape or ())[depth:])
                store(self.b, self.element(value, index), pointer, offset)
            elif self.stores.get(value) != pointer:
                self._store(self.element(value, index), pointer, sizes(value.type), index)

    def _element(self, value: Value, index: Index) -> Element:
        if value in self._row:
            return self._row[value]
        node = value.node
        if value in self._kept and node is not None and self._phase_of[node] < self._phase:
            pointer, is_row = self._kept[value]
            depth, shape = (self._item.depth, self._item.shape or ()) if is_row else (0, sizes(value.type))
            return load(self.b, value.type.dtype, pointer, linear(self.out, index[depth:], shape[depth:]))  # type: ignore[union-attr]
        return super()._element(value, index)
