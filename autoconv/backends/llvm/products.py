"""Products of matrices: by tiles of our own where these suit, else by the BLAS that NumPy brought along, with threads
of ours instead of its own.

Its threads wait for each other in turns: where something else has one of the cores, a product takes many times as long
as by a single thread. So it is told to use one, and large products are split into twice as many as there are threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.roles import sizes
from autoconv.backends.llvm.scalars import literal
from autoconv.backends.llvm.split import Split
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.threads import available, thread_count
from autoconv.backends.llvm.tiles import ProductText, Sum, tiling
from autoconv.backends.llvm.transposes import transposed
from autoconv.backends.llvm.vectors import Registers, registers
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_PART = 2_000_000  # multiplications of a part that the BLAS has
_SHARE = 500_000  # of one that is tiles
_NARROWEST = 64  # rows or columns of one that the BLAS has
_FEWEST = 4  # columns of a result, for tiles
_LARGEST = 3 << 19  # bytes of y that tiles go over again and again


def write_matmul(region: Region, node: Node) -> None:
    """By tiles or by the BLAS; by NumPy's own matmul where there is none."""
    (result,) = node.results
    product, machine = Product(node), registers()
    if product.work and machine is not None and product.suits(machine):
        _write_tiles(region, node, product, machine)
        return
    if f"cblas_{product.name}" not in abi.symbols() or not product.work:
        region.write_kernel(node)
        return
    region.set(result, region.new_array(result.type))
    out, module = region.out, region.body.module
    pointers = [region.data(value) for value in (*node.inputs, result)]
    parts = min(product.work // _PART, 2 * thread_count(), max(product.rows, product.columns) // _NARROWEST)
    with alone(out):
        if "blas_set_threads" in abi.symbols() and parts > 1 and available():
            _write_parts(product, parts, module, out, pointers)
        else:
            out.line(product.call(module, out, pointers))


@contextmanager
def alone(out: FunctionText, large: bool = True) -> Iterator[None]:
    """BLAS and LAPACK without threads of their own, which they ask for where something is `large`."""
    if not large or "blas_set_threads" not in abi.symbols():
        yield
        return
    before = out.new(f"call i32 {out.module.declare('blas_get_threads', 'i32', '')}()")
    set_threads = out.module.declare("blas_set_threads", "void", "i32")
    out.line(f"call void {set_threads}(i32 1)")
    yield
    out.line(f"call void {set_threads}(i32 {before})")


def _write_tiles(region: Region, node: Node, product: Product, machine: Registers) -> None:
    (x, y), (result,) = node.inputs, node.results
    out, module = region.out, region.body.module
    region.set(result, region.new_array(result.type))
    plan = tiling(product.rows, product.columns, product.dtype, machine)
    columns = region.data(y)
    if product.flip_y:
        turned = region.new_array(TensorType(product.dtype, (product.inner, product.columns)))
        turn = transposed(module, product.dtype, product.columns, product.inner, plan.lanes)
        out.line(f"call void @{turn}(ptr {columns}, ptr {region.address(turned)})")
        columns = region.address(turned)
    steps = (product.width_x, 1) if product.flip_x else (1, product.width_x)
    along = Sum(0, 0, product.inner, steps[0], product.columns)
    body = ProductText(module, plan, product.dtype, (along,), steps[1], product.columns).rows()
    given = [f"ptr {pointer}" for pointer in (region.data(x), columns, region.data(result))]
    parts = min(product.work // _SHARE, plan.count) if thread_count() > 1 else 1
    if parts > 1 and available():
        Split(None, plan.count, -(-plan.count // parts)).run(module, out, body, given, has_rare=False)
    else:
        out.new(f"call i1 @{body}({', '.join(given)}, i64 0, i64 0, i64 {plan.count})")
    if product.flip_y:
        region.body.let_go(turned.slot or "", TensorType(product.dtype, (product.inner, product.columns)))


def _write_parts(product: Product, parts: int, module: ModuleText, out: FunctionText, pointers: list[str]) -> None:
    """Of the longer side of the result."""
    by_rows = product.rows >= product.columns
    whole = product.rows if by_rows else product.columns
    split = Split(None, whole, -(-whole // parts))
    parameters = "ptr %x, ptr %y, ptr %z, i64 %part, i64 %first, i64 %last"
    body = FunctionText(module, f"define internal i1 @FUNCTION({parameters})")
    count = body.new("sub nsw i64 %last, %first")
    body.line(product.call(module, body, ["%x", "%y", "%z"], by_rows, "%first", count))
    body.line("ret i1 false")
    given = [f"ptr {pointer}" for pointer in pointers]
    split.run(module, out, module.function("product", body.text()), given, has_rare=False)


class Product:
    """Of a node: x, `rows` by `inner`, times y, `inner` by `columns`; each may lie in memory the other way round. Rows
    of several matrices are those of one, except where each is multiplied with a matrix of its own (`batched`)."""

    def __init__(self, node: Node, batched: bool = False) -> None:
        x, y = node.inputs
        (result,) = node.results
        self.dtype = x.type.dtype  # type: ignore[union-attr]
        self.name = "sgemm" if self.dtype.name == "float32" else "dgemm"
        *several, self.columns = sizes(result.type)
        self.rows = several[-1] if batched else math.prod(several)
        self.flip_x: bool = node.attributes.get("transpose_a", False)
        self.flip_y: bool = node.attributes.get("transpose_b", False)
        self.inner = sizes(x.type)[-2 if self.flip_x else -1]
        self.width_x, self.width_y = sizes(x.type)[-1], sizes(y.type)[-1]
        self.work = self.rows * self.columns * self.inner

    def suits(self, machine: Registers) -> bool:
        """Whether tiles are as fast as any: y stays in caches, and turning it takes little time beside the product."""
        large = self.inner * self.columns * self.dtype.size > _LARGEST
        return self.columns >= _FEWEST and not large and (self.rows >= 8 or not self.flip_y)

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
