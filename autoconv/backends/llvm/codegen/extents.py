"""Lower nodes that return a dimension or an element count of an array with open sizes."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import size_range
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import element_count
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


@class_lowering("extent")
def write_extent(region: LoweringContext, node: Node) -> None:
    """Write a dimension of an array, or its number of elements."""
    (result,) = node.results
    shape = sizes(node.inputs[0].type)
    dimension = shape[node.attributes["axis"]] if node.op.name == "dimension" else element_count(region.out, shape)
    b = RegisterWriter(region)
    size = b.wrap(int64, str(dimension))
    region.body.record_range(size, size_range(dimension))
    extent = b.cast(size, result.dtype)
    if extent.ir != size.ir:
        # A size that does not fit into the dtype wraps to a smaller one.
        region.body.record_upper_bound(extent, size, 0)
    region.set(result, extent)
