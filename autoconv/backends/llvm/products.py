"""Products of matrices: by the BLAS that NumPy brought along, with threads of ours instead of its own.

Its threads wait for each other in turns: where something else has one of the cores, a product takes many times as long
as by a single thread. So it is told to use one, and large products are split into twice as many as there are threads.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.roles import sizes
from autoconv.backends.llvm.scalars import literal
from autoconv.backends.llvm.split import Split
from autoconv.backends.llvm.text import QUICK, FunctionText, ModuleText
from autoconv.backends.llvm.threads import available, thread_count
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_PART = 2_000_000  # multiplications of a part
_NARROWEST = 64  # rows or columns of one


def write_matmul(region: Region, node: Node) -> None:
    """By the BLAS; by NumPy's own matmul where there is none."""
    (result,) = node.results
    product = _Product(node)
    if f"cblas_{product.name}" not in abi.symbols() or not product.work:
        region.write_kernel(node)
        return
    region.set(result, region.new_array(result.type))
    out, module = region.out, region.body.module
    pointers = [region.data(value) for value in (*node.inputs, result)]
    set_threads = "blas_set_threads" in abi.symbols()
    before = ""
    if set_threads:
        before = out.new(f"call i32 {module.declare('blas_get_threads', 'i32', '')}()")
        out.line(f"call void {module.declare('blas_set_threads', 'void', 'i32')}(i32 1)")
    parts = min(product.work // _PART, 2 * thread_count(), max(product.rows, product.columns) // _NARROWEST)
    if set_threads and parts > 1 and available():
        _write_parts(product, parts, module, out, pointers)
    else:
        out.line(product.call(module, out, pointers))
    if set_threads:
        out.line(f'call void @"blas_set_threads"(i32 {before})')


def _write_parts(product: _Product, parts: int, module: ModuleText, out: FunctionText, pointers: list[str]) -> None:
    """Of the longer side of the result."""
    by_rows = product.rows >= product.columns
    whole = product.rows if by_rows else product.columns
    split = Split(None, whole, -(-whole // parts))
    parameters = "ptr %x, ptr %y, ptr %z, i64 %part, i64 %first, i64 %last"
    body = FunctionText(module, f"define internal i1 @FUNCTION({parameters}) nounwind {QUICK}")
    count = body.new("sub nsw i64 %last, %first")
    body.line(product.call(module, body, ["%x", "%y", "%z"], by_rows, "%first", count))
    body.line("ret i1 false")
    given = [f"ptr {pointer}" for pointer in pointers]
    split.run(module, out, module.function("product", body.text()), given, has_rare=False)


class _Product:
    """Of a node: x, `rows` by `inner`, times y, `inner` by `columns`; each may lie in memory the other way round."""

    def __init__(self, node: Node) -> None:
        x, y = node.inputs
        (result,) = node.results
        self.dtype = x.type.dtype  # type: ignore[union-attr]
        self.name = "sgemm" if self.dtype.name == "float32" else "dgemm"
        *several, self.columns = sizes(result.type)
        self.rows = math.prod(several)
        self.flip_x: bool = node.attributes.get("transpose_a", False)
        self.flip_y: bool = node.attributes.get("transpose_b", False)
        self.inner = sizes(x.type)[0 if self.flip_x else -1]
        self.width_x, self.width_y = sizes(x.type)[-1], sizes(y.type)[1]
        self.work = self.rows * self.columns * self.inner

    def call(
        self, module: ModuleText, out: FunctionText, pointers: list[str], by_rows: bool = True, first: str = "0",
        count: str = "",
    ) -> str:  # fmt: skip
        """The call for all of the result, or for `count` rows or columns of it from `first` on."""
        kind = "float" if self.name == "sgemm" else "double"
        function = module.declare(
            f"cblas_{self.name}", "void",
            f"i32, i32, i32, i64, i64, i64, {kind}, ptr, i64, ptr, i64, {kind}, ptr, i64",
        )  # fmt: skip
        x, y, z = pointers
        rows, columns = str(self.rows), str(self.columns)
        if count and by_rows:
            rows = count
            x = _moved(out, kind, x, first, 1 if self.flip_x else self.width_x)
            z = _moved(out, kind, z, first, self.columns)
        elif count:
            columns = count
            y = _moved(out, kind, y, first, self.width_y if self.flip_y else 1)
            z = _moved(out, kind, z, first, 1)
        return (
            f"call void {function}(i32 101, i32 {112 if self.flip_x else 111}, i32 {112 if self.flip_y else 111}, "
            f"i64 {rows}, i64 {columns}, i64 {self.inner}, {kind} {literal(1, self.dtype)}, ptr {x}, "
            f"i64 {self.width_x}, ptr {y}, i64 {self.width_y}, {kind} {literal(0, self.dtype)}, "
            f"ptr {z}, i64 {self.columns})"
        )


def _moved(out: FunctionText, kind: str, pointer: str, count: str, step: int) -> str:
    offset = out.new(f"mul nsw i64 {count}, {step}")
    return out.new(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {offset}")
