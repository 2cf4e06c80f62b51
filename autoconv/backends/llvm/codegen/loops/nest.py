"""Loop nests over the elements of arrays, each lowered to one function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.contiguity import base_of
from autoconv.backends.llvm.analysis.index_map import Span
from autoconv.backends.llvm.analysis.index_maps import CUT, Place, place_in_base
from autoconv.backends.llvm.analysis.indexing import gather_map, updates
from autoconv.backends.llvm.analysis.lent_loads import is_row, strides_of
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import dimension
from autoconv.backends.llvm.codegen.loops.bounds_checks import guarded_views
from autoconv.backends.llvm.codegen.loops.loop_writer import LoopWriter
from autoconv.backends.llvm.codegen.loops.reductions import (
    MemoryReduction,
    Reduction,
    RegisterReduction,
    loop_in_strips,
)
from autoconv.backends.llvm.codegen.parallel.partitioned import bounds_of, run_parts, run_split
from autoconv.backends.llvm.ir.element_rules import apply_rule, compute
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import (
    Index,
    Position,
    broadcast_index,
    byte_offset,
    element_count,
    linear_offset,
    maximum,
    minimum,
    note_counter,
    plus,
    product,
)
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.index_set_split import COUNTER, VECTOR, cut_positions, in_vectors, split_counts
from autoconv.backends.llvm.schedule.partition import Split, choose_split
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK, register_depth
from autoconv.backends.llvm.schedule.row_blocks import is_flat
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Symbol


class LoopNestWriter:
    """Write the native function of one plan item.

    `arguments` are the values that the function takes, in order: arrays as pointers, numbers as they are. Checked
    indices of views follow as i64, then pointers to the results. With `part` it is the function of one part of the
    loops. It then also takes the number of the part, and the first and last index of the divided dimension.
    """

    def __init__(
        self, module: ModuleText, plan: Plan, item: Item, picks: dict[Node, list[Any]], part: Split | None = None
    ) -> None:
        self._plan = plan
        self._item = item
        self._module = module
        self.arguments = list(item.reads)
        fused_views = guarded_views(plan, item)
        self.indices = [view for view in fused_views if picks.get(view)]
        # Elements may be computed twice: nothing is accumulated, and no array is both read and written.
        self._may_recompute = all(plan.classes[node] in ("element", "copy", "place") for node in item.nodes)
        widths = [v.dtype.size for v in (*item.reads, *item.stored) if is_dense(v.type)]
        self._lanes = VECTOR // max(widths, default=1)
        self._is_split = not item.phases and any(view.op.name in CUT for view in fused_views)
        self._pick_names = {
            view: [pick if isinstance(pick, int) else f"%x{i}_{j}" for j, pick in enumerate(picks[view])]
            for i, view in enumerate(self.indices)
        }
        self._names: dict[Value, str] = {v: f"%p{i}" for i, v in enumerate(self.arguments)}
        self.stores: dict[Value, str] = {v: f"%s{i}" for i, v in enumerate(item.stored)}
        self._is_part = part is not None
        self._split = part or choose_split(plan, item, self._is_flat())
        self.name, self.has_rare = self._write(careful=False)
        self.careful_name = self._write(careful=True)[0] if self.has_rare and part is None else ""

    # ---- the function around the loops

    def _write(self, careful: bool) -> tuple[str, bool]:
        """Return the name of the function, and whether it can report an element that it leaves to careful code."""
        parameters = self._parameters()
        if self._split is not None:
            return self._write_split(self._split, parameters, careful)
        self._begin(parameters, careful)
        sums = self._reductions()
        self._start(sums)
        self._loops(sums)
        for one in sums:
            one.end()
        return self._end("kernel")

    def _parameters(self) -> list[str]:
        parameters = []
        for v, n in self._names.items():
            parameters.append(f"{register(v.dtype)} {n}" if is_scalar(v.type) else f"ptr noalias readonly {n}")
            if v in self._plan.lent:
                parameters += [f"i64 {stride}" for stride in self._strides(v) if isinstance(stride, str)]
        for view in self.indices:
            parameters += [f"i64 {pick}" for pick in self._pick_names[view] if isinstance(pick, str)]
        parameters += [f"ptr noalias {n}" for n in self.stores.values()]
        return parameters + [f"i64 {size}" for size in self._module.sizes]

    def _strides(self, value: Value) -> list[Position]:
        """Return the strides in bytes of a value that is read in place: constants, or parameters."""
        name = self._names[value]
        return [f"{name}.{d}" if stride is None else stride for d, stride in enumerate(strides_of(value))]

    def _write_split(self, split: Split, parameters: list[str], careful: bool) -> tuple[str, bool]:
        """Write a function for a part of the loops, and one that runs all parts.

        Whole sums are accumulated part by part and combined in order, so the result does not depend on which thread
        runs what.
        """
        sums = self._reductions()
        partial = [one for one in sums if isinstance(one, RegisterReduction) and one.whole]
        totals = [f"ptr noalias %t{i}" for i in range(len(partial))]
        self._begin([*parameters, *totals, "i64 %part", "i64 %first", "i64 %last"], careful)
        self._loops(sums)
        for i, one in enumerate(partial):
            one.store_partial(f"%t{i}")
        body, has_rare = self._end("part")
        if self._is_part:
            return body, has_rare
        self._begin(parameters, careful, quick=len(partial) == len(sums))
        cells = [self.out.alloca(f"[{split.parts} x {one.total_kind}]") for one in partial]
        others = [one for one in sums if one not in partial]
        self._start(others)
        leading = [*parameters, *(f"ptr {cell}" for cell in cells)]
        parts: Position = split.parts
        if split.step is None:
            bounds = bounds_of(split, self.out)
            parts = bounds[0]
            flag = run_parts(split, self._module, self.out, body, leading, has_rare, bounds)
        else:
            flag = run_split(split, self._module, self.out, body, leading, has_rare)
        for one, cell in zip(partial, cells, strict=True):
            one.combine_parts(cell, parts)
        for other in others:
            other.end()
        self.out.line(f"ret i1 {flag}")
        return self.out.finish("kernel"), has_rare

    def _begin(self, parameters: Sequence[str], careful: bool, quick: bool = False) -> None:
        speed = QUICK if careful or quick else "noinline"  # careful code runs rarely
        self.out = FunctionText(self._module, Signature("i1", parameters, f"nounwind {speed}"))
        self.b = LoopWriter(self.out, careful, self.element)
        self._memo: dict[Any, Element] = {}

    def _end(self, stem: str) -> tuple[str, bool]:
        flag = self.b.rare_flag
        self.out.line(f"ret i1 {self.out.new(f'load i1, ptr {flag}') if flag else 'false'}")
        return self.out.finish(stem), flag is not None

    def _reductions(self) -> list[Reduction]:
        flat, shape = self._is_flat(), self._item.shape or ()
        result: list[Reduction] = []
        for node in self._item.nodes:
            if self._plan.classes[node] == "reduce":
                depth = 0 if flat else register_depth(node, shape)
                if depth is None:
                    result.append(MemoryReduction(self, node))
                else:
                    result.append(RegisterReduction(self, node, depth, flat))
        return result

    def _start(self, sums: Sequence[Reduction]) -> None:
        """Write the code before all loops."""
        for one in sums:
            one.begin()
        for node in self._item.nodes:
            if self._plan.classes[node] == "place":
                self._fill_padding(node)

    def _loops(self, sums: Sequence[Reduction]) -> None:
        for one in sums:
            one.allocate()
        if self._is_flat():
            self._flat_loop(sums)
        else:
            self._dimension((), self._item.shape or (), sums)

    def _is_flat(self) -> bool:
        return is_flat(self._plan, self._item)

    def _flat_loop(self, sums: Sequence[Reduction]) -> None:
        out, shape = self.out, self._item.shape or ()
        turns = math.prod(size for size in shape if isinstance(size, int))  # a divisor of the trip count
        bounds = ("0", str(element_count(out, shape)))
        if self._split is not None:
            bounds, turns = ("%first", "%last"), math.gcd(turns, self._split.step or 1)

        def write(first: Position, last: Position) -> None:
            divisor = turns if (first, last) == bounds else math.gcd(turns, BLOCK)
            with out.loop_in_vectors(str(first), str(last), divisor) as index:
                self._body((index,), flat=True, sums=sums)

        loop_in_strips(out, sums, (), bounds, None, write)

    def _fill_padding(self, node: Node) -> None:
        """Fill the padding around the elements that the loops store: before and after, outer dimensions first."""
        type_: Any = node.results[0].type
        shape, pointer = sizes(type_), self.stores[node.results[0]]
        constant = self.b.constant(node.attributes.get("constant_values", 0), type_.dtype)

        def fill(first: Position, start: Position, stop: Position) -> None:
            if start != stop:
                with self.out.loop(str(start), str(stop)) as i:
                    store(self.b, constant, pointer, plus(self.out, first, i))

        def fill_around(first: Position, depth: int) -> None:
            if depth == len(shape):
                return
            out, stride = self.out, element_count(self.out, shape[depth + 1 :])
            before, after = (dimension(out, amount) for amount in node.attributes["paddings"][depth])
            end = plus(out, shape[depth], product(out, after, -1))
            fill(first, 0, product(out, before, stride))
            fill(first, product(out, end, stride), product(out, shape[depth], stride))
            if any(map(any, node.attributes["paddings"][depth + 1 :])):
                with self.out.loop(str(before), str(end)) as i:
                    fill_around(plus(out, first, product(out, i, stride)), depth + 1)

        fill_around(0, 0)

    def _dimension(self, index: Index, shape: Sequence[int], sums: Sequence[Reduction]) -> None:
        depth, part = len(index), self._split.dimension if self._split is not None else None
        for one in sums:
            one.enter(index)
        if depth == len(shape):
            self._body(index, flat=False, sums=sums)
        elif shape[depth] == 1:
            self._dimension((*index, 0), shape, sums)
        else:
            bounds = ("%first", "%last") if part == depth and self._split is not None else ("0", str(shape[depth]))

            def write(i: Position) -> None:
                self._dimension((*index, i), shape, sums)

            def loop(first: Position, last: Position) -> None:
                with self.out.loop(str(first), str(last)) as i:
                    write(i)

            if all(size == 1 for size in shape[depth + 1 :]):
                self._innermost(index, shape[depth], *bounds, write)
            else:
                loop_in_strips(self.out, sums, index, bounds, part, loop)
        for one in sums:
            one.leave(index, part)

    def _innermost(
        self, index: Index, size: int, first: str, last: str, write: Callable[[Position], None]
    ) -> None:
        """Write the innermost loop from `first` to `last`, cut where rolled or padded arrays begin or end.

        Between the cuts, consecutive iterations read adjacent elements.
        """
        out, whole = self.out, (first, last) == ("0", str(size))
        if not isinstance(size, int):
            with out.loop(first, last) as i:
                write(i)
            return
        pieces = split_counts(size, lambda low, high: self._cuts(index, low, high)) if self._is_split else [(0, size)]
        if whole and self._may_recompute:
            pieces = [part for piece in pieces for part in in_vectors(*piece, self._lanes)]
        for low, high in pieces:
            start, stop = str(low), str(high)
            if not whole:
                start, stop = str(maximum(out, first, low)), str(minimum(out, last, high))
            elif high == low + 1:
                write(low)
                continue
            with out.loop(start, stop) as i:
                note_counter(out, i, low, high)
                write(i)

    def _cuts(self, index: Index, low: int, high: int) -> set[int]:
        """Return the iterations of the innermost loop at which it begins to read other elements."""
        span = Span(COUNTER, low, high)
        outer = (Symbol(i) if isinstance(i, str) else i for i in index)
        rank = len(self._item.shape or ())
        place = (*outer, COUNTER, *[0] * (rank - len(index) - 1))
        return cut_positions(self._plan, self._item.nodes, place, span, self._names)

    def _body(self, index: Index, flat: bool, sums: Any, nodes: Sequence[Node] | None = None) -> None:
        self._memo.clear()
        self._flat = flat
        self._index = index
        for node in self._item.nodes if nodes is None else nodes:
            (value,) = node.results
            if self._plan.classes[node] == "place":
                before = [dimension(self.out, pair[0]) for pair in node.attributes["paddings"]]
                place = tuple(plus(self.out, i, by) for i, by in zip(index, before, strict=True))
                self._store(self.element(node.inputs[0], index), self.stores[value], sizes(value.type), place)
            elif self._plan.classes[node] == "scatter":
                self._scatter(node, index)
            elif self._plan.classes[node] != "reduce":
                element = self.element(value, index)
                if value in self.stores:
                    self._store(element, self.stores[value], sizes(value.type), index)
        for one in sums:
            one.accumulate(self.element(one.node.inputs[0], index), index)

    def _store(self, element: Element, pointer: str, shape: tuple[int, ...], index: Index) -> None:
        offset = index[0] if self._flat else linear_offset(self.out, index, shape)
        store(self.b, element, pointer, offset)

    def _scatter(self, node: Node, index: Index) -> None:
        """Store updates at their positions; the memory of the result already holds the base."""
        (result,) = node.results
        type_: Any = result.type
        element = self.b.cast(self._operand(updates(node), result, index), type_.dtype)
        target = gather_map(node).write(self.b, index, self._pick_names.get(node, []))
        offset = linear_offset(self.out, target, sizes(type_))
        scatter = node.op.traits.scatter
        assert scatter is not None
        combine = scatter.combine
        if combine is not None:
            before = load(self.b, type_.dtype, self.stores[result], offset)
            name = "logical_or" if combine == "add" and type_.dtype.is_bool else combine
            element = compute(self.b, name, [before, element], before.dtype)
        store(self.b, element, self.stores[result], offset)

    # ---- elements

    @property
    def shape(self) -> tuple[Position, ...] | None:
        """The extents of the loops."""
        return self._item.shape

    def element(self, value: Value, index: Index) -> Element:
        """Return the number at `index` of a value; in a flat loop the index is the offset in memory."""
        if is_scalar(value.type):
            return self.b.wrap(value.dtype, self._names[value])
        key = value, index
        if key not in self._memo:
            self._memo[key] = self._element(value, index)
        return self._memo[key]

    def _element(self, value: Value, index: Index) -> Element:
        node = value.node
        if value in self._plan.lent and not (self._flat and is_row(value)):
            moved = byte_offset(self.out, index, self._strides(value))
            return load(self.b, value.dtype, self.out.gep("i8", self._names[value], moved, inbounds=False), 0)
        if value in self._names:
            offset = index[0] if self._flat else linear_offset(self.out, index, sizes(value.type))
            return load(self.b, value.dtype, self._names[value], offset)
        assert node is not None
        base = base_of(value, self._plan.views)
        if base is not value and base in self._names and base not in self._plan.lent and is_dense(base.type):
            # Elements in the same order have the same offsets as in the base.
            return load(self.b, base.dtype, self._names[base], linear_offset(self.out, index, sizes(value.type)))
        if value in self._plan.views or self._plan.classes[node] == "copy":
            place = place_in_base(self.b, node, index, self._pick_names.get(node, []))
            return self._element_at(place)
        operands = [self._operand(operand, value, index) for operand in node.inputs]
        result = apply_rule(self.b, node, operands)
        assert result is not None, node.op.name
        return result

    def _element_at(self, place: Place) -> Element:
        if isinstance(place, Element):
            return place
        value, index, finish = place
        element = self.element(value, index)
        return finish(element) if finish is not None else element

    def _operand(self, operand: Value, result: Value, index: Index) -> Element:
        """Return an operand at the index of the result to which it is broadcast."""
        if is_scalar(operand.type) or self._flat:
            return self.element(operand, index)
        return self.element(operand, broadcast_index(index, sizes(operand.type)))
