"""Native code for what has sizes that only the call knows, outside of loops: dimensions as numbers, and products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.blas import alone, declared_gemm
from autoconv.backends.llvm.open_split import OpenSplit
from autoconv.backends.llvm.positions import element_count
from autoconv.backends.llvm.roles import sizes
from autoconv.backends.llvm.scalars import literal
from autoconv.backends.llvm.text import QUICK, FunctionText
from autoconv.backends.llvm.threads import thread_count
from autoconv.backends.llvm.values import RegisterWriter
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_PART = 2_000_000  # multiplications of a part of a product
_NARROWEST = 64  # rows of one


def write_extent(region: Region, node: Node) -> None:
    """A dimension of an array, or how many elements it has."""
    (result,) = node.results
    shape = sizes(node.inputs[0].type)
    found = shape[node.attributes["axis"]] if node.op.name == "dimension" else element_count(region.out, shape)
    b = RegisterWriter(region)
    region.set(result, b.cast(b.wrap(int64, str(found)), result.type.dtype))  # type: ignore[union-attr]


def write_open_product(region: Region, node: Node) -> None:
    """A product whose sizes only the call knows, by the BLAS; where it has many rows, in parts of these."""
    (result,) = node.results
    x = sizes(node.inputs[0].type)
    dtype = result.type.dtype  # type: ignore[union-attr]
    name = "cblas_sgemm" if dtype.name == "float32" else "cblas_dgemm"
    if name not in abi.symbols():
        region.write_kernel(node)
        return
    region.set(result, region.new_array(result.type))
    out, module = region.out, region.body.module
    flip_x, flip_y = (bool(node.attributes.get(key, False)) for key in ("transpose_a", "transpose_b"))
    rows = element_count(out, sizes(result.type)[:-1])
    inner, columns = x[-2 if flip_x else -1], sizes(result.type)[-1]
    kind = "float" if dtype.name == "float32" else "double"
    parameters = ["ptr %x", "ptr %y", "ptr %z", "i64 %rows", "i64 %inner", "i64 %columns"]
    taken = ", ".join([*parameters, "i64 %part", "i64 %first", "i64 %last"])
    body = FunctionText(module, f"define internal i1 @FUNCTION({taken}) nounwind {QUICK}")
    count = body.new("sub nsw i64 %last, %first")
    width_x, width_y = "%rows" if flip_x else "%inner", "%inner" if flip_y else "%columns"
    start = body.new(f"mul nsw i64 %first, {'1' if flip_x else '%inner'}")
    moved = body.new(f"getelementptr inbounds {kind}, ptr %x, i64 {start}")
    placed = body.new(f"getelementptr inbounds {kind}, ptr %z, i64 {body.new('mul nsw i64 %first, %columns')}")
    gemm, one, zero = declared_gemm(module, name, kind), literal(1, dtype), literal(0, dtype)
    body.line(
        f"call void {gemm}(i32 101, i32 {112 if flip_x else 111}, i32 {112 if flip_y else 111}, i64 {count}, "
        f"i64 %columns, i64 %inner, {kind} {one}, ptr {moved}, i64 {width_x}, ptr %y, i64 {width_y}, {kind} {zero}, "
        f"ptr {placed}, i64 %columns)"
    )
    body.line("ret i1 false")
    function = module.function("product", body.text())
    given = [f"ptr {region.data(value)}" for value in (*node.inputs, result)]
    given += [f"i64 {rows}", f"i64 {inner}", f"i64 {columns}"]
    with alone(out):
        whole = OpenSplit(0, 0, 1, (rows, inner, columns), 1, _NARROWEST, _PART, 2 * _PART, 2 * thread_count())
        whole.run(module, out, function, given, has_rare=False)
