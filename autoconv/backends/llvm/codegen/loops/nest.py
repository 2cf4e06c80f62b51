"""Loop nests over the elements of arrays: a function for each nest, and one for a part of its loops if it is split."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.contiguity import base_of
from autoconv.backends.llvm.analysis.index_map import CounterRange, OpenCounterRange, Point
from autoconv.backends.llvm.analysis.index_maps import PIECEWISE_VIEWS, ElementSource, write_element_source
from autoconv.backends.llvm.analysis.indexing import gather_map, updates
from autoconv.backends.llvm.analysis.lent_loads import is_contiguous_row, strides_of
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.loops.bounds_checks import nodes_to_check
from autoconv.backends.llvm.codegen.loops.loop_writer import LoopWriter, NestFunction
from autoconv.backends.llvm.codegen.loops.open_loop import write_open_loop
from autoconv.backends.llvm.codegen.loops.padding import fill_padding
from autoconv.backends.llvm.codegen.loops.reductions import (
    MemoryReduction,
    ReductionWriter,
    RegisterReduction,
    loop_in_strips,
    share_loops,
)
from autoconv.backends.llvm.codegen.parallel.partitioned import call_open_parts, call_parts, write_split_bounds
from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS
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
    plus,
    record_counter_range,
)
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.index_set_split import (
    LOOP_COUNTER,
    VECTOR_BYTES,
    cut_iterations,
    loop_size,
    record_pieces,
    split_by_vectors,
    split_iterations,
)
from autoconv.backends.llvm.schedule.partition import Split, choose_split
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK_ELEMENTS, register_depth
from autoconv.backends.llvm.schedule.row_blocks import is_flat
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Symbol


class LoopNestWriter:
    """A writer of the native function of one plan item.

    `arguments` are the values that the function takes, in order: pointers of arrays, and numbers. The checked indices
    of nodes follow as i64, then pointers to the results, and the open `sizes`. With the argument `split`, the function
    runs one part of the loops. It then also takes the number of the part, its first iteration, and the one after its
    last; both are indices of the split dimension.

    The fast code of element rules may be too inexact for rare elements. If `has_rare`, the function returns an i1 that
    is true if there were any; then the careful function, `careful_name`, whose rules call the C library, has to run.
    """

    def __init__(
        self, module: ModuleText, plan: Plan, item: Item, checked_positions: dict[Node, list[Any]],
        split: Split | None = None,
    ) -> None:  # fmt: skip
        self._plan = plan
        self._item = item
        self._module = module
        self.arguments = list(item.reads)
        indexed_nodes = nodes_to_check(plan, item)
        self.checked_nodes = [node for node in indexed_nodes if checked_positions.get(node)]
        # An element may be computed twice if nothing is accumulated, and no array is both read and written.
        self._may_recompute = all(plan.classes[node] in ("element", "copy", "pad") for node in item.nodes)
        itemsizes = [value.dtype.size for value in (*item.reads, *item.stored) if is_dense(value.type)]
        self._lanes = VECTOR_BYTES // max(itemsizes, default=1)
        self._has_piecewise_views = not item.phases and any(node.op.name in PIECEWISE_VIEWS for node in indexed_nodes)
        # Node -> its checked indices: constants, or the registers of parameters.
        self._checked_indices: dict[Node, list[Position]] = {
            node: [x if isinstance(x, int) else f"%x{i}_{j}" for j, x in enumerate(checked_positions[node])]
            for i, node in enumerate(self.checked_nodes)
        }
        self._registers: dict[Value, str] = {value: f"%p{i}" for i, value in enumerate(self.arguments)}
        self.stores: dict[Value, str] = {value: f"%s{i}" for i, value in enumerate(item.stored)}  # addresses
        self._is_part = split is not None
        self._is_flat = is_flat(plan, item)
        self._split = split or choose_split(plan, item, self._is_flat)
        self.sizes: tuple[str, ...] = ()  # open sizes that the function takes
        self.careful_sizes: tuple[str, ...] = ()
        self.name, self.has_rare = self._write_function(is_careful=False)
        fast_sizes, self.careful_name = self.sizes, ""
        if self.has_rare and split is None:
            self.careful_name = self._write_function(is_careful=True).name
        self.sizes, self.careful_sizes = fast_sizes, self.sizes

    def _write_function(self, is_careful: bool) -> NestFunction:
        """Write the function of all loops."""
        parameters = self._parameters()
        if self._split is not None:
            return self._write_split(self._split, parameters, is_careful)
        self._begin_function(parameters, is_careful)
        reductions = self._reduction_writers()
        self._write_prologue(reductions)
        self._write_loops(reductions)
        for reduction in reductions:
            reduction.write_after_loops()
        return self._finish_function("kernel")

    def _parameters(self) -> list[str]:
        """Return the parameters: operands with the strides of lent ones, checked positions, and memory of results."""
        parameters = []
        for value, name in self._registers.items():
            ir_type = register(value.dtype) if is_scalar(value.type) else "ptr noalias readonly"
            parameters.append(f"{ir_type} {name}")
            if value in self._plan.lent:
                parameters += [f"i64 {stride}" for stride in self._stride_operands(value) if isinstance(stride, str)]
        for node in self.checked_nodes:
            parameters += [f"i64 {position}" for position in self._checked_indices[node] if isinstance(position, str)]
        return parameters + [f"ptr noalias {address}" for address in self.stores.values()]

    def _stride_operands(self, value: Value) -> list[Position]:
        """Return the strides in bytes of a lent value: constants, or parameters."""
        name = self._registers[value]
        return [f"{name}.{d}" if stride is None else stride for d, stride in enumerate(strides_of(value))]

    def _write_split(self, split: Split, parameters: list[str], is_careful: bool) -> NestFunction:
        """Write a function for a part of the loops, and a function that runs all parts; return the latter.

        Reductions over all loops are computed for each part and combined in order, so that the result does not depend
        on the distribution of parts to threads.
        """
        writers = self._reduction_writers()
        partial_reductions = [x for x in writers if isinstance(x, RegisterReduction) and x.is_outermost]
        total_parameters = [f"ptr noalias %t{i}" for i in range(len(partial_reductions))]
        self._begin_function(parameters, is_careful, [*total_parameters, *PART_PARAMETERS])
        self._write_loops(writers)
        for i, reduction in enumerate(partial_reductions):
            reduction.store_partial(f"%t{i}")
        part_function = self._finish_function("part")
        if self._is_part:
            return part_function
        part_name, has_rare = part_function
        part_sizes = [f"i64 {size}" for size in self.sizes]
        self._begin_function(parameters, is_careful, has_loops=len(partial_reductions) < len(writers))
        total_cells = [self.out.alloca(f"[{split.parts} x {reduction.total_type}]") for reduction in partial_reductions]
        other_writers = [writer for writer in writers if writer not in partial_reductions]
        self._write_prologue(other_writers)
        arguments = [*parameters, *part_sizes, *(f"ptr {cell}" for cell in total_cells)]
        part_count: Position = split.parts
        if split.step is None:
            bounds = write_split_bounds(split, self.out)
            part_count = bounds.part_count
            rare_flag = call_open_parts(split, self._module, self.out, part_name, arguments, has_rare, bounds)
        else:
            rare_flag = call_parts(split, self._module, self.out, part_name, arguments, has_rare)
        for reduction, cell in zip(partial_reductions, total_cells, strict=True):
            reduction.combine_parts(cell, part_count)
        for writer in other_writers:
            writer.write_after_loops()
        self.out.line(f"ret i1 {rare_flag}")
        self._end_body()
        return NestFunction(self.out.finish("kernel"), has_rare)

    def _begin_function(
        self, parameters: Sequence[str], is_careful: bool, part_parameters: Sequence[str] = (), has_loops: bool = True
    ) -> None:
        """Begin a function, which is optimised if it `has_loops`; `_end_body` adds open sizes after `parameters`."""
        attribute = "noinline" if has_loops and not is_careful else QUICK  # careful code runs too rarely to optimise it
        self.out = FunctionText(self._module, Signature("i1", [*parameters, *part_parameters], f"nounwind {attribute}"))
        self._size_position = len(parameters)
        self.b = LoopWriter(self.out, is_careful, self.element)
        self._element_cache: dict[Any, Element] = {}

    def _finish_function(self, stem: str) -> NestFunction:
        """Write the return of the flag for rare elements, and finish the function, whose name begins with `stem`."""
        flag = self.b.rare_flag
        self.out.line(f"ret i1 {self.out.new(f'load i1, ptr {flag}') if flag else 'false'}")
        self._end_body()
        return NestFunction(self.out.finish(stem), flag is not None)

    def _end_body(self) -> None:
        """Add `sizes`, the open sizes that the function uses, and close the writer."""
        self.sizes = self.out.used_sizes(self._module.size_numbers)
        self.out.add_size_parameters(self.sizes, self._size_position)
        self.b.close()

    def _reduction_writers(self) -> list[ReductionWriter]:
        """Return a writer for each reduction: in registers where a depth of the loops allows it, else in memory."""
        writers: list[ReductionWriter] = []
        is_flat, shape = self._is_flat, self._item.shape or ()
        for node in (node for node in self._item.nodes if self._plan.classes[node] == "reduce"):
            depth = 0 if is_flat else register_depth(node, shape)
            in_registers = None if depth is None else RegisterReduction(self, node, depth, is_flat)
            writers.append(in_registers or MemoryReduction(self, node))
        share_loops(writers)
        return writers

    def _write_prologue(self, reductions: Sequence[ReductionWriter]) -> None:
        """Write the code before all loops."""
        for reduction in reductions:
            reduction.write_before_loops()
        for node in self._item.nodes:
            if self._plan.classes[node] == "pad":
                fill_padding(self.b, node, self.stores[node.results[0]])

    def _write_loops(self, reductions: Sequence[ReductionWriter]) -> None:
        """Write the loops over all elements: one loop if the item is flat, else one for each dimension."""
        for reduction in reductions:
            reduction.allocate()
        if self._is_flat:
            self._write_flat_loop(reductions)
        else:
            self._write_dimension_loop((), self._item.shape or (), reductions)

    def _write_flat_loop(self, reductions: Sequence[ReductionWriter]) -> None:
        """Write one loop over all elements, in strips if a reduction has these."""
        out, shape = self.out, self._item.shape or ()
        divisor = math.prod(size for size in shape if isinstance(size, int))  # it divides the trip count
        bounds = ("0", str(element_count(out, shape)))
        if self._split is not None:
            bounds, divisor = ("%first", "%last"), math.gcd(divisor, self._split.step or 1)

        def write(first: Position, last: Position) -> None:
            strip_divisor = divisor if (first, last) == bounds else math.gcd(divisor, BLOCK_ELEMENTS)
            with out.loop_in_vectors(str(first), str(last), strip_divisor) as index:
                self._write_body((index,), reductions)

        loop_in_strips(out, reductions, (), bounds, None, write)

    def _write_dimension_loop(self, index: Index, shape: Sequence[int], reductions: Sequence[ReductionWriter]) -> None:
        """Write the loop at depth `len(index)` and its inner loops; `index` has the counters of the outer loops."""
        depth, split_dimension = len(index), self._split.dimension if self._split is not None else None
        for reduction in reductions:
            reduction.enter(index)
        if depth == len(shape):
            self._write_body(index, reductions)
        elif shape[depth] == 1:
            self._write_dimension_loop((*index, 0), shape, reductions)
        else:
            bounds = ("%first", "%last") if split_dimension == depth else ("0", str(shape[depth]))

            def write_inner(i: Position) -> None:
                self._write_dimension_loop((*index, i), shape, reductions)

            def write_loop(first: Position, last: Position) -> None:
                with self.out.loop(str(first), str(last)) as i:
                    write_inner(i)

            if all(size == 1 for size in shape[depth + 1 :]):
                self._write_innermost_loop(index, shape[depth], *bounds, write_inner)
            else:
                loop_in_strips(self.out, reductions, index, bounds, split_dimension, write_loop)
        for reduction in reductions:
            reduction.leave(index, split_dimension)

    def _write_innermost_loop(
        self, index: Index, size: int, first: str, last: str, write: Callable[[Position], None]
    ) -> None:
        """Write the innermost loop, cut where a piece of a rotated or padded array begins: each reads adjacent ones."""
        out, is_unsplit = self.out, (first, last) == ("0", str(size))
        if not isinstance(size, int):
            write_open_loop(out, self._open_counter_range(index), size, (first, last), write)
            return
        pieces = [(0, size)]
        if self._has_piecewise_views:
            pieces = split_iterations(size, lambda low, high: self._cut_iterations(index, low, high))
        if is_unsplit and self._may_recompute:
            pieces = [part for piece in pieces for part in split_by_vectors(*piece, self._lanes)]
        for low, high in pieces:
            start, stop = str(low), str(high)
            if not is_unsplit:
                start, stop = str(maximum(out, first, low)), str(minimum(out, last, high))
            elif high == low + 1:
                write(low)
                continue
            with out.loop(start, stop) as i:
                record_counter_range(out, i, low, high)
                write(i)

    def _open_counter_range(self, index: Index) -> OpenCounterRange:
        """Return the range of the innermost loop's counter, with the borders of piecewise views."""
        shape = self._item.shape or ()
        counter_range = OpenCounterRange(LOOP_COUNTER, loop_size(self._plan, self._item.nodes, shape, len(index)))
        if self._has_piecewise_views:
            record_pieces(self._plan, self._item.nodes, self._index_at_counter(index), counter_range, self._registers)
        return counter_range

    def _cut_iterations(self, index: Index, low: int, high: int) -> set[int]:
        """Return the iterations of the innermost loop at which a piece of a piecewise view begins."""
        counter_range, full_index = CounterRange(LOOP_COUNTER, low, high), self._index_at_counter(index)
        return cut_iterations(self._plan, self._item.nodes, full_index, counter_range, self._registers)

    def _index_at_counter(self, index: Index) -> Point:
        """Return the index in the innermost loop, as symbols, where the outer loops have the counters `index`."""
        outer_index = (Symbol(i) if isinstance(i, str) else i for i in index)
        return (*outer_index, LOOP_COUNTER, *[0] * (len(self._item.shape or ()) - len(index) - 1))

    def _write_body(self, index: Index, reductions: Any, nodes: Sequence[Node] | None = None) -> None:
        """Write the body of the innermost loop for `nodes`, by default all nodes of the item."""
        self._element_cache.clear()
        for node in self._item.nodes if nodes is None else nodes:
            (value,) = node.results
            if self._plan.classes[node] == "pad":
                pairs = zip(index, node.attributes["paddings"], strict=True)
                target_index = tuple(plus(self.out, i, write_dimension(self.out, before)) for i, (before, _) in pairs)
                self._store(self.element(node.inputs[0], index), self.stores[value], sizes(value.type), target_index)
            elif self._plan.classes[node] == "scatter":
                self._write_scatter(node, index)
            elif self._plan.classes[node] != "reduce":
                element = self.element(value, index)
                if value in self.stores:
                    self._store(element, self.stores[value], sizes(value.type), index)
        for reduction in reductions:
            reduction.accumulate(self.element(reduction.node.inputs[0], index), index)

    def _store(self, element: Element, pointer: str, shape: tuple[int, ...], index: Index) -> None:
        """Store an element of an array of the shape at `pointer`."""
        offset = index[0] if self._is_flat else linear_offset(self.out, index, shape)
        store(self.b, element, pointer, offset)

    def _write_scatter(self, node: Node, index: Index) -> None:
        """Store updates at their positions; the memory of the result already holds the base."""
        (result,) = node.results
        type_: Any = result.type
        element = self.b.cast(self._write_operand(updates(node), index), type_.dtype)
        target = gather_map(node).write(self.b, index, self._checked_indices.get(node, []))
        offset = linear_offset(self.out, target, sizes(type_))
        scatter = node.op.traits.scatter
        assert scatter is not None
        if (combine := scatter.combine) is not None:
            old_element = load(self.b, type_.dtype, self.stores[result], offset)
            rule_name = "logical_or" if combine == "add" and type_.dtype.is_bool else combine
            element = compute(self.b, rule_name, [old_element, element], old_element.dtype)
        store(self.b, element, self.stores[result], offset)

    # ---- elements

    @property
    def shape(self) -> tuple[Position, ...] | None:
        """The trip counts of the loops."""
        return self._item.shape

    def element(self, value: Value, index: Index) -> Element:
        """Return the element of a value at `index`; in a flat loop the index is the offset in memory."""
        if is_scalar(value.type):
            return self.b.wrap(value.dtype, self._registers[value])
        key = value, index
        if key not in self._element_cache:
            self._element_cache[key] = self._write_element(value, index)
        return self._element_cache[key]

    def _write_element(self, value: Value, index: Index) -> Element:
        """Load the element of an array, or compute the element of a fused value or a view."""
        node = value.node
        if value in self._plan.lent and not (self._is_flat and is_contiguous_row(value)):
            offset = byte_offset(self.out, index, self._stride_operands(value))
            return load(self.b, value.dtype, self.out.gep("i8", self._registers[value], offset, inbounds=False), 0)
        if value in self._registers:
            offset = index[0] if self._is_flat else linear_offset(self.out, index, sizes(value.type))
            return load(self.b, value.dtype, self._registers[value], offset)
        assert node is not None
        base = base_of(value, self._plan.views)
        has_dense_base = base in self._registers and base not in self._plan.lent and is_dense(base.type)
        if base is not value and has_dense_base:
            # `base_of` passes only views of all elements in order, so the offsets are equal.
            return load(self.b, base.dtype, self._registers[base], linear_offset(self.out, index, sizes(value.type)))
        if value in self._plan.views or self._plan.classes[node] == "copy":
            source = write_element_source(self.b, node, index, self._checked_indices.get(node, []))
            return self._write_source_element(source)
        operands = [self._write_operand(operand, index) for operand in node.inputs]
        result = apply_rule(self.b, node, operands)
        assert result is not None, node.op.name
        return result

    def _write_source_element(self, source: ElementSource) -> Element:
        """Return the element that `write_element_source` describes."""
        if isinstance(source, Element):
            return source
        element = self.element(source.array, source.index)
        return source.function(element) if source.function is not None else element

    def _write_operand(self, operand: Value, index: Index) -> Element:
        """Return an operand's element at an index into the shape to which the operand is broadcast."""
        if is_scalar(operand.type) or self._is_flat:
            return self.element(operand, index)
        return self.element(operand, broadcast_index(index, sizes(operand.type)))
