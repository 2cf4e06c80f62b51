"""Lower assignments at arrays of positions into arrays in memory: `x[i] = value`, `x[:, i, j] = values`."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.classify_indexing import is_indexed_store
from autoconv.backends.llvm.analysis.indexing import gather_map, part_shape
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.bounds_checks import write_position_checks
from autoconv.backends.llvm.codegen.memory.array_view import memory_of
from autoconv.backends.llvm.codegen.memory.ops import write_element_address, write_nested_loops
from autoconv.backends.llvm.codegen.registry import memory_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, broadcast_index
from autoconv.backends.llvm.ir.scalars import store
from autoconv.graph.graph import Node


@memory_lowering("array_set", fits=is_indexed_store)
def _write_set(region: LoweringContext, node: Node) -> None:
    """Check all positions, then store the elements in order, so that the last one at a position remains."""
    positions = write_position_checks(region, node)
    x, value, target_map = memory_of(region, node.inputs[0]), node.inputs[1], gather_map(node)
    b, dtype, value_shape = RegisterWriter(region), node.inputs[0].dtype, sizes(node.inputs[1].type)

    def write(index: Index) -> None:
        element = b.cast(b.at(value, broadcast_index(index, value_shape)), dtype)
        store(b, element, write_element_address(region, x, target_map.write(b, index, positions)), 0)

    write_nested_loops(region, part_shape(node), write)
