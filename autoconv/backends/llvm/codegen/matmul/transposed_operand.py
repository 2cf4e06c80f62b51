"""Transposition of the right operand of a product, for tiles, which read it in row-major order."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.transpose_kernel import transpose_function
from autoconv.backends.llvm.codegen.values import Object
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Value
from autoconv.graph.types import TensorType


def transpose_operand(region: LoweringContext, y: Value, lanes: int) -> str:
    """Write code that transposes the matrix y; return the address of the transposed matrix.

    A loop-invariant matrix is transposed once for all iterations.
    """
    out, (rows, columns) = region.out, sizes(y.type)
    dtype: DType = y.dtype
    transposed_type = TensorType(dtype, (columns, rows))
    transpose = transpose_function(region.body.module, dtype, rows, columns, lanes)
    representation = None if region.is_view(y) else region.representation_of(y)
    slot = None
    if isinstance(representation, Object):
        slot = region.body.loop_invariant_slot(representation, transposed_type)
    if slot is None:
        array = region.new_array(transposed_type)
        out.call(transpose, region.data(y), region.address(array))
        region.release_after_item(array, transposed_type)
        return region.address(array)
    with out.unlikely(out.is_null(out.load("ptr", slot))):
        array = region.new_array(transposed_type)
        out.store("ptr", "null", array.slot)  # the slot of the loop takes over the reference that this slot had
        out.store("ptr", array.ir, slot)
        out.call(transpose, region.data(y), region.address(array))
    return region.address(Object(out.load("ptr", slot)))
