"""Lower matrix products: by tiles where they suit, else by NumPy's BLAS.

The threads of the BLAS wait for each other in turns: where something else occupies one of the cores, a product takes
many times as long as in a single thread. The BLAS is therefore limited to one thread, and this package's own threads
share large products, in twice as many parts as there are threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.backends.llvm.analysis.lent_loads import strides_of
from autoconv.backends.llvm.analysis.representation import has_computed_sizes, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import Matrix, has_products, product_call, single_threaded_blas
from autoconv.backends.llvm.codegen.matmul.tile_kernel import ProductText
from autoconv.backends.llvm.codegen.matmul.transposed_operand import transpose_operand
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PART
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, times
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.schedule.matmul_tiling import PART_WORK, Product, Sum, tiling
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension

_PART = 2_000_000  # multiplications of a part for the BLAS
_NARROWEST = 64  # least rows or columns of such a part


@class_lowering("matmul")
def write_matmul(region: LoweringContext, node: Node) -> None:
    """Write the product by tiles or by the BLAS; by NumPy's own matmul where there is none.

    Whether y stays in caches is decided at run time where the inner dimension is symbolic.
    """
    (result,) = node.results
    product = Product(node, region.patches(node))
    by_blas, by_tiles = has_products(product.dtype), product.patches is not None or product.suits_tiles()
    if not (product.is_empty or by_blas or (by_tiles and not has_computed_sizes(result.type))):
        region.write_kernel(node)
        return
    region.set(result, region.new_array(result.type))
    if product.is_empty:  # sums of nothing
        count = element_count(region.out, sizes(result.type))
        region.out.clear(region.data(result), times(region.out, count, product.dtype.size))
    elif has_computed_sizes(result.type):  # there may be no rows or columns, which the BLAS refuses
        count = element_count(region.out, sizes(result.type))
        with region.out.unless(region.out.icmp("eq", count, 0)):
            _write_blas(region, product)
    elif not by_tiles:
        _write_blas(region, product)
    elif isinstance(product.inner, int) or not by_blas:
        _write_tiles(region, product)
    else:
        out = region.out
        most = current_target().cache // (product.columns * product.dtype.size)
        few = out.icmp("sle", product.inner, most)
        out.either(few, lambda: _write_tiles(region, product), lambda: _write_blas(region, product))


def tile_rows(region: LoweringContext, product: Product, unit: int = 0) -> tuple[str, list[str], Position]:
    """Write the function that fills the result of a product.

    Return the function, which takes a first and last unit; its arguments before these; and the rows of a unit: the
    height of a tile, or a line of patches. The height of a tile divides `unit`, if that is given.
    """
    machine, out, patches = current_target().vectors, region.out, product.patches
    assert machine is not None
    y, (result,) = product.node.inputs[1], product.node.results
    registers: dict[str, Position] = {}

    def kernel_for(size: Position) -> Position:
        if isinstance(size, int):
            return size
        name = f"%told.{len(registers)}"
        registers[name] = size
        return name

    rows = _row_count(out, product) if patches is None else dimension(out, patches.rows[-1][0])
    plan = tiling(kernel_for(rows), product.columns, product.dtype, machine, 0 if patches else unit)
    columns = transpose_operand(region, y, plan.lanes) if product.flip_y else region.data(y)
    lines: Sequence[tuple[Position, Position]] = ()
    if patches is None:
        x = product.node.inputs[0]
        step, row = (product.width_x, 1) if product.flip_x else (1, product.width_x)
        sums: Sequence[Sum] = [Sum(0, 0, kernel_for(product.inner), step, product.columns)]
    else:
        x = patches.base
        sums, lines, row = _patch_offsets(patches, product.columns, lambda size: kernel_for(dimension(out, size)))
    text = ProductText(
        region.body.module, plan, product.dtype, tuple(sums), (row, product.columns), tuple(lines), tuple(registers)
    )
    call_arguments = [f"ptr {pointer}" for pointer in (region.data(x), columns, region.data(result))]
    return (
        text.rows(),
        [*call_arguments, *(f"i64 {one}" for one in registers.values())],
        rows if patches else plan.height,
    )


def _row_count(out: FunctionText, product: Product) -> Position:
    return element_count(out, sizes(product.node.results[0].type)[:-1])


def _write_tiles(region: LoweringContext, product: Product) -> None:
    body, call_arguments, unit = tile_rows(region, product)
    split = _split_tiles(region.out, product, unit)
    if split.parts > 1 and current_target().is_parallel:
        run_split(split, region.body.module, region.out, body, call_arguments, has_rare=False)
    else:
        region.launch(body, [*call_arguments, "i64 0", "i64 0", f"i64 {split.size}"])


def _split_tiles(out: FunctionText, product: Product, unit: Position) -> Split:
    """Return the split of the tiles, or of the lines of patches, `unit` rows each."""
    if product.work and isinstance(unit, int):
        count = -(-product.rows // unit)
        return Split(None, count, -(-count // max(min(product.work // PART_WORK, count), 1)))
    shape = sizes(product.node.results[0].type)[:-1]
    if product.patches is not None:
        lines = element_count(out, shape[:-1])
        return Split(None, lines, None, (lines, unit, product.inner, product.columns), 1, 1, PART_WORK, 2 * PART_WORK)
    rows = element_count(out, shape)
    if isinstance(rows, int):
        units: Position = -(-rows // int(unit))
    else:
        units = out.op("sdiv", out.add(rows, int(unit) - 1), unit)
    return Split(None, units, None, (rows, product.inner, product.columns), 1, 1, PART_WORK, 2 * PART_WORK)


def _write_blas(region: LoweringContext, product: Product) -> None:
    if not product.work:
        _write_symbolic_blas(region, product)
        return
    out, module = region.out, region.body.module
    pointers = [_address(region, value) for value in (*product.node.inputs, *product.node.results)]
    product.width_x, product.width_y = (_width(region, value) for value in product.node.inputs)
    parts = min(product.work // _PART, 2 * current_target().threads, max(product.rows, product.columns) // _NARROWEST)
    with single_threaded_blas(out):
        if "blas_set_threads" in abi.symbols() and parts > 1 and current_target().has_pool:
            _write_parts(product, parts, module, out, pointers)
        else:
            out.line(call_product(product, module, out, pointers))


def _address(region: LoweringContext, value: Value) -> str:
    return region.lent_array(value).pointer if region.is_lent(value) else region.data(value)


def _width(region: LoweringContext, value: Value) -> int:
    """Return the distance of two rows of a matrix of known sizes, in elements."""
    if not region.is_lent(value):
        return sizes(value.type)[-1]
    step = strides_of(value)[0]
    assert step is not None
    return step // value.dtype.size


def _write_symbolic_blas(region: LoweringContext, product: Product) -> None:
    """Write the product by the BLAS, in parts where it turns out large; the inner dimension may be 0."""
    module, kind = region.body.module, register(product.dtype)
    operands = product.node.inputs
    parameters = ["ptr %x", "ptr %y", "ptr %z", "i64 %rows", "i64 %inner", "i64 %columns"]
    widths = [f"i64 %width{i}" for i, value in enumerate(operands) if region.is_lent(value)]
    parameters += widths
    body = FunctionText(module, Signature("i1", (*parameters, *PART), f"nounwind {QUICK}"))
    count = body.sub("%last", "%first")
    width_x, width_y = "%rows" if product.flip_x else "%inner", "%inner" if product.flip_y else "%columns"
    width_x = "%width0" if region.is_lent(operands[0]) else width_x
    width_y = "%width1" if region.is_lent(operands[1]) else width_y
    moved = body.gep(kind, "%x", body.mul("%first", "1" if product.flip_x else width_x))
    placed = body.gep(kind, "%z", body.mul("%first", "%columns"))
    x, y, z = Matrix(moved, width_x, product.flip_x), Matrix("%y", width_y, product.flip_y), Matrix(placed, "%columns")
    rows = _row_count(region.out, product)
    sides = 1 if rows == 1 else count, "%inner", 1 if product.columns == 1 else "%columns"

    def multiply(some: bool) -> None:
        body.line(product_call(module, product.dtype, x, y, z, sides, some))

    body.either(body.icmp("eq", "%inner", 0), lambda: multiply(False), lambda: multiply(True))
    body.ret(FALSE)
    shape = rows, product.inner, product.columns
    call_arguments = [f"ptr {_address(region, value)}" for value in (*operands, product.node.results[0])]
    call_arguments += [f"i64 {size}" for size in shape]
    call_arguments += [f"i64 {(strides_of(v)[0] or 0) // v.dtype.size}" for v in operands if region.is_lent(v)]
    name, out = body.finish("product"), region.out
    with single_threaded_blas(out):
        if current_target().is_parallel:
            split = Split(0, rows, None, shape, 1, _NARROWEST, _PART, 2 * _PART, 2 * current_target().threads)
            run_split(split, module, out, name, call_arguments, has_rare=False)
        else:
            region.launch(name, [*call_arguments, "i64 0", "i64 0", f"i64 {rows}"])


def _patch_offsets(
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
    call_arguments = [f"ptr {pointer}" for pointer in pointers]
    run_split(split, module, out, body.finish("product"), call_arguments, has_rare=False)


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
        x = _advance(out, kind, x, first, 1 if product.flip_x else product.width_x)
        z = _advance(out, kind, z, first, product.columns)
    elif count:
        columns = count
        y = _advance(out, kind, y, first, product.width_y if product.flip_y else 1)
        z = _advance(out, kind, z, first, 1)
    left, right = Matrix(x, product.width_x, product.flip_x), Matrix(y, product.width_y, product.flip_y)
    sides = rows, product.inner, columns
    return product_call(module, product.dtype, left, right, Matrix(z, product.columns), sides)


def _advance(out: FunctionText, kind: str, pointer: str, count: str, step: int) -> str:
    offset = out.mul(count, step)
    return out.gep(kind, pointer, offset)
