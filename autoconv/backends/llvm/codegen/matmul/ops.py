"""Lower matrix products: by tiles where they suit, else by NumPy's BLAS.

The threads of the BLAS wait for each other in turns: where something else occupies one of the cores, a product takes
many times as long as in a single thread. The BLAS is therefore limited to one thread, and this package's own threads
share large products, in twice as many parts as there are threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.backends.llvm.analysis.representation import is_of_open, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import Matrix, alone, has_products, product_call
from autoconv.backends.llvm.codegen.matmul.symbolic import write_open_product
from autoconv.backends.llvm.codegen.matmul.symbolic_tile_kernel import OpenPatchText, open_tiling
from autoconv.backends.llvm.codegen.matmul.tile_kernel import ProductText
from autoconv.backends.llvm.codegen.matmul.transposed_operand import turned
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PART
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.schedule.matmul_tiling import SHARE, Product, Sum, tiles_of, tiling
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.schedule.symbolic_partition import OpenSplit
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension

_PART = 2_000_000  # multiplications of a part for the BLAS
_NARROWEST = 64  # least rows or columns of such a part


@class_lowering("matmul")
def write_matmul(region: LoweringContext, node: Node) -> None:
    """Write the product by tiles or by the BLAS; by NumPy's own matmul where there is none."""
    (result,) = node.results
    if is_of_open(node):
        patches = region.patches(node)
        if patches is None:
            write_open_product(region, node)
        else:
            _write_open_patches(region, Product(node, patches))
        return
    tiled = tiles_of(node, region.patches(node))
    if tiled is not None:
        _write_tiles(region, tiled)
        return
    product = Product(node)
    if not has_products(product.dtype) or not product.work:
        region.write_kernel(node)
        return
    region.set(result, region.new_array(result.type))
    out, module = region.out, region.body.module
    pointers = [region.data(value) for value in (*node.inputs, result)]
    parts = min(product.work // _PART, 2 * current_target().threads, max(product.rows, product.columns) // _NARROWEST)
    with alone(out):
        if "blas_set_threads" in abi.symbols() and parts > 1 and current_target().has_pool:
            _write_parts(product, parts, module, out, pointers)
        else:
            out.line(call_product(product, module, out, pointers))


def tile_rows(region: LoweringContext, product: Product, unit: int = 0) -> tuple[str, list[str], int]:
    """Allocate the product's result, and write the function that fills it.

    Return the function, which takes a first and last unit; its arguments before these; and the rows of a unit: the
    height of a tile, or a line of patches. The height of a tile divides `unit`, if that is given.
    """
    machine = current_target().vectors
    assert machine is not None
    y, (result,) = product.node.inputs[1], product.node.results
    module, dtype, patches = region.body.module, product.dtype, product.patches
    region.set(result, region.new_array(result.type))
    plan = tiling(product.unit, product.columns, dtype, machine, 0 if patches else unit)
    columns = turned(region, y, plan.lanes) if product.flip_y else region.data(y)
    lines: Sequence[tuple[Position, Position]] = ()
    if patches is None:
        x = product.node.inputs[0]
        step, row = (product.width_x, 1) if product.flip_x else (1, product.width_x)
        sums: Sequence[Sum] = [Sum(0, 0, product.inner, step, product.columns)]
    else:
        x = patches.base
        sums, lines, row = _places(patches, product.columns, _number)
    body = ProductText(module, plan, dtype, tuple(sums), row, product.columns, tuple(lines)).rows()
    given = [f"ptr {pointer}" for pointer in (region.data(x), columns, region.data(result))]
    return body, given, product.unit if patches else plan.height


def _write_tiles(region: LoweringContext, product: Product) -> None:
    body, given, unit = tile_rows(region, product)
    count = -(-product.rows // unit)
    parts = min(product.work // SHARE, count) if current_target().threads > 1 else 1
    if parts > 1 and current_target().has_pool:
        run_split(Split(None, count, -(-count // parts)), region.body.module, region.out, body, given, has_rare=False)
    else:
        region.launch(body, [*given, "i64 0", "i64 0", f"i64 {count}"])


def _write_open_patches(region: LoweringContext, product: Product) -> None:
    """Write a product line of patches by line; several threads share the lines where there are many at run time."""
    out, lines = region.out, element_count(region.out, sizes(product.node.results[0].type)[:-2])
    unit: Position
    body, given, unit = _open_rows(region, product)
    if current_target().is_parallel:
        split = OpenSplit(None, lines, 1, (lines, unit, product.inner, product.columns), 1, 1, SHARE, 2 * SHARE)
        run_split(split, region.body.module, out, body, given, has_rare=False)
    else:
        out.new(f"call i1 @{body}({', '.join([*given, 'i64 0', 'i64 0', f'i64 {lines}'])})")


def _open_rows(region: LoweringContext, product: Product) -> tuple[str, list[str], Position]:
    """Write the function, as `tile_rows`, for patches with open sizes or places."""
    patches, machine, out = product.patches, current_target().vectors, region.out
    assert patches is not None and machine is not None
    y, (result,) = product.node.inputs[1], product.node.results
    region.set(result, region.new_array(result.type))
    told: dict[str, Position] = {}

    def tell(size: Dimension) -> Position:
        found = dimension(out, size)
        if isinstance(found, int):
            return found
        name = f"%told.{len(told)}"
        told[name] = found
        return name

    sums, lines, row = _places(patches, product.columns, tell)
    plan = open_tiling("", product.columns, product.dtype, machine)
    columns = turned(region, y, plan.lanes) if product.flip_y else region.data(y)
    text = OpenPatchText(region.body.module, plan, product.dtype, tuple(sums), row, tuple(lines), tuple(told))
    rows = dimension(out, patches.rows[-1][0])
    given = [f"ptr {pointer}" for pointer in (region.data(patches.base), columns, region.data(result))]
    return text.rows(), [*given, f"i64 {rows}", *(f"i64 {one}" for one in told.values())], rows


def _places(
    patches: Patches, columns: int, tell: Callable[[Dimension], Position]
) -> tuple[Sequence[Sum], Sequence[tuple[Position, Position]], int]:
    """Return where the elements of patches lie: the sums of one, the lines, and the step between patches of a line."""
    *lines, (_, row) = patches.rows
    sums, done = [], 0
    for offset, count in patches.stretches:
        sums.append(Sum(tell(offset), done * columns, count, 1, columns))
        done += count
    # The outermost size is implied by the count.
    walk = [(tell(size) if depth else 1, tell(step)) for depth, (size, step) in enumerate(lines)]
    return sums, walk, _number(row)


def _number(size: Dimension) -> int:
    assert isinstance(size, int)
    return size


def _write_parts(product: Product, parts: int, module: ModuleText, out: FunctionText, pointers: list[str]) -> None:
    """Split the product along the longer side of the result."""
    by_rows = product.rows >= product.columns
    whole = product.rows if by_rows else product.columns
    split = Split(None, whole, -(-whole // parts))
    parameters = ("ptr %x", "ptr %y", "ptr %z", *PART)
    body = FunctionText(module, Signature("i1", parameters, f"nounwind {QUICK}"))
    count = body.sub("%last", "%first")
    body.line(call_product(product, module, body, ["%x", "%y", "%z"], by_rows, "%first", count))
    body.ret(FALSE)
    given = [f"ptr {pointer}" for pointer in pointers]
    run_split(split, module, out, body.finish("product"), given, has_rare=False)


def call_product(
    product: Product, module: ModuleText, out: FunctionText, pointers: list[str], by_rows: bool = True,
    first: str = "0", count: str = "",
) -> str:  # fmt: skip
    """The call for all of the result, or for `count` rows or columns of it from `first` on."""
    kind = register(product.dtype)
    x, y, z = pointers
    rows: Position = product.rows
    columns: Position = product.columns
    if count and by_rows:
        rows = count
        x = _moved(out, kind, x, first, 1 if product.flip_x else product.width_x)
        z = _moved(out, kind, z, first, product.columns)
    elif count:
        columns = count
        y = _moved(out, kind, y, first, product.width_y if product.flip_y else 1)
        z = _moved(out, kind, z, first, 1)
    left, right = Matrix(x, product.width_x, product.flip_x), Matrix(y, product.width_y, product.flip_y)
    return product_call(module, product.dtype, left, right, Matrix(z, product.columns), rows, product.inner, columns)


def _moved(out: FunctionText, kind: str, pointer: str, count: str, step: int) -> str:
    offset = out.mul(count, step)
    return out.gep(kind, pointer, offset)
