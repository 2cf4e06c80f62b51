"""Lower nodes that return a dimension or an element count of an array with open sizes."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import SMALLEST_OPEN_SIZE
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import RunTimeSize, Size, element_count
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.ops.analysis.value_range import SIZES


@class_lowering("extent")
def write_extent(region: LoweringContext, node: Node) -> None:
    """Write a dimension of an array, or its number of elements."""
    (result,) = node.results
    shape = sizes(node.inputs[0].type)
    dimension = shape[node.attributes["axis"]] if node.op.name == "dimension" else element_count(region.out, shape)
    b = RegisterWriter(region)
    size = b.wrap(int64, str(dimension))
    region.body.record_range(size, SIZES)
    if isinstance(dimension, Size) and not isinstance(dimension, RunTimeSize):
        region.body.record_range(size, (SMALLEST_OPEN_SIZE, SIZES[1]))
    extent = b.cast(size, result.dtype)
    if extent.ir != size.ir:
        # A size that does not fit into the dtype wraps to a smaller one.
        region.body.record_upper_bound(extent, size, 0)
    region.set(result, extent)
