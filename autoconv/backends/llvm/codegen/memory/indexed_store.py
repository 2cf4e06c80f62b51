"""Lower assignments at arrays of positions, or under a mask, into arrays in memory: `x[:, i, j] = values`."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import is_indexed_store
from autoconv.backends.llvm.analysis.indexing import gather_map, part_shape
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.bounds_checks import write_position_checks
from autoconv.backends.llvm.codegen.memory.array_view import memory_of
from autoconv.backends.llvm.codegen.memory.ops import write_element_address, write_nested_loops
from autoconv.backends.llvm.codegen.registry import memory_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, broadcast_index
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.backends.llvm.ir.types import is_narrow, is_native
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.graph.types import ArrayType
from autoconv.ops.index_spec import Mask


def _is_masked_store(node: Node) -> bool:
    """Return whether a mask of the array's rank selects the elements that a vector or a single number replaces."""
    if node.attributes["spec"] != (Mask(),):
        return False
    target, value, mask = (input_.type for input_ in node.inputs)
    if not isinstance(target, ArrayType) or not target.rank:
        return False
    if not is_dense(mask) or len(sizes(mask)) != target.rank:
        return False
    has_vector = is_dense(value) and len(sizes(value)) == 1
    return (is_scalar(value) or has_vector) and all(
        is_native(dtype) and not is_narrow(dtype) for dtype in (target.dtype, node.inputs[1].dtype)
    )


@memory_lowering("array_set", fits=lambda node: is_indexed_store(node) or _is_masked_store(node))
def _write_set(region: LoweringContext, node: Node) -> None:
    """Check all positions, then store the elements in order, so that the last one at a position remains."""
    if node.attributes["spec"] == (Mask(),):
        _write_masked_set(region, node)
        return
    positions = write_position_checks(region, node)
    x, value, target_map = memory_of(region, node.inputs[0]), node.inputs[1], gather_map(node)
    b, dtype, value_shape = RegisterWriter(region), node.inputs[0].dtype, sizes(node.inputs[1].type)

    def write(index: Index) -> None:
        element = b.cast(b.at(value, broadcast_index(index, value_shape)), dtype)
        store(b, element, write_element_address(region, x, target_map.write(b, index, positions)), 0)

    write_nested_loops(region, part_shape(node), write)


def _write_masked_set(region: LoweringContext, node: Node) -> None:
    """Count the selected elements, then store the next number of the vector at each of them.

    The kernel raises where the sizes of the mask are not the array's, or the vector has another number of elements.
    """
    x, (_, value, mask), out = memory_of(region, node.inputs[0]), node.inputs, region.out
    b, dtype, is_vector = RegisterWriter(region), node.inputs[0].dtype, not is_scalar(value.type)
    for size, mask_size in zip(x.sizes, sizes(mask.type), strict=True):
        if size != mask_size:
            region.raise_and_leave_if(node, out.icmp("ne", size, mask_size))
    count_cell, position_cell = out.alloca("i64"), out.alloca("i64")
    step: Any = b.constant(0, int64)
    if is_vector:
        store(b, b.constant(0, int64), count_cell, 0)

        def count(index: Index) -> None:
            store(b, load(b, int64, count_cell, 0) + b.cast(b.at(mask, index), int64), count_cell, 0)

        write_nested_loops(region, x.sizes, count)
        value_count = b.wrap(int64, str(sizes(value.type)[0]))
        is_single = b.compare("eq", value_count, b.constant(1, int64))
        fits = is_single | b.compare("eq", value_count, load(b, int64, count_cell, 0))
        region.raise_and_leave_if(node, out.not_(fits.ir))
        step = b.select(is_single, b.constant(0, int64), b.constant(1, int64))
    store(b, b.constant(0, int64), position_cell, 0)

    def write(index: Index) -> None:
        with out.if_(b.at(mask, index).ir):
            position = load(b, int64, position_cell, 0)
            element = b.at(value, (position.ir,) if is_vector else ())
            store(b, b.cast(element, dtype), write_element_address(region, x, index), 0)
            store(b, position + step, position_cell, 0)

    write_nested_loops(region, x.sizes, write)
