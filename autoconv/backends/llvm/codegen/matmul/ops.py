"""Lower matrix products to tiles if these suit, else to NumPy's BLAS.

The threads of BLAS wait for each other: if another program occupies a core, a product takes many times as long as in a
single thread. BLAS is therefore limited to one thread, and this package's own threads share large products, in twice as
many parts as there are threads.
"""

from __future__ import annotations

from autoconv.backends.llvm.analysis.lent_loads import strides_of
from autoconv.backends.llvm.analysis.representation import has_computed_sizes, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import (
    Matrix,
    ProductSizes,
    has_products,
    product_call,
    single_threaded_blas,
)
from autoconv.backends.llvm.codegen.matmul.blocked import write_blocked, write_transposed_patches
from autoconv.backends.llvm.codegen.matmul.open_blocked import write_open_blocked
from autoconv.backends.llvm.codegen.matmul.row_routine import row_count, write_row_routine
from autoconv.backends.llvm.codegen.parallel.partitioned import call_parts
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS, Routine, call, launch_parts
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, minimum, times
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.matmul_tiling import PART_WORK, Product
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target import abi
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node, Value

_PART_MULTIPLICATIONS = 2_000_000  # least multiplications of a part that BLAS computes
_SYMMETRIC_PARTS = 6  # parts of the rows of a symmetric product, each of which is computed up to the diagonal
_MIRRORED_SIDE = 16  # rows and columns of a block that is mirrored at the diagonal
_BLOCKED_REGISTER_SIZE = 64  # bytes of vector registers with which blocked tiles are faster than BLAS
# Least multiplications, and least length of each side, of a blocked product of open sizes.
_MIN_OPEN_BLOCKED_WORK, _MIN_OPEN_BLOCKED_SIDE = 1 << 16, 16
_MIN_PART_SIDE = 64  # fewest rows or columns of a part that BLAS computes


@class_lowering("matmul")
def write_matmul(region: LoweringContext, node: Node) -> None:
    """Compute the product by tiles or by BLAS, or by the op's kernel if neither is possible.

    If the inner dimension is open, code chooses at run time: tiles if y fits in the cache, else BLAS.
    """
    (result,) = node.results
    product = Product(node, region.patches(node))
    if product.patches is not None and product.is_x_transposed:
        region.set(result, region.new_array(result.type))
        write_transposed_patches(region, product)
        return
    has_blas, suits_tiles = has_products(product.dtype), product.patches is not None or product.suits_tiles()
    if not (product.is_empty or has_blas or (suits_tiles and not has_computed_sizes(result.type))):
        region.write_kernel(node)
        return
    region.set(result, region.new_array(result.type))
    if product.is_empty:  # all sums are empty
        count = element_count(region.out, sizes(result.type))
        region.out.clear(region.data(result), times(region.out, count, product.dtype.size))
    elif has_computed_sizes(result.type):  # there may be no rows or columns, which BLAS refuses
        count = element_count(region.out, sizes(result.type))
        with region.out.unless(region.out.icmp("eq", count, 0)):
            _write_blas(region, product)
    elif not suits_tiles and product.suits_blocks() and not any(map(region.is_lent, node.inputs)):
        write_blocked(region, product)
    elif not suits_tiles:
        _write_blas(region, product)
    elif isinstance(product.inner, int) or not has_blas:
        _write_tiles(region, product)
    else:
        out = region.out
        cached_rows = current_target().cache // (product.columns * product.dtype.size)
        is_cached = out.icmp("sle", product.inner, cached_rows)
        out.either(is_cached, lambda: _write_tiles(region, product), lambda: _write_blas(region, product))


def _write_tiles(region: LoweringContext, product: Product) -> None:
    """Write a product as tiles, which threads divide among them."""
    function, call_arguments, unit_height = write_row_routine(region, product)
    launch_parts(region, function, call_arguments, _split_tiles(region.out, product, unit_height))


def _split_tiles(out: FunctionText, product: Product, unit_height: Position) -> Split:
    """Return how to split the units of a product, of `unit_height` rows each, into parts."""
    if product.work and isinstance(unit_height, int):  # the work is 0 if a size is open
        count = -(-product.rows // unit_height)
        part_count = max(min(product.work // PART_WORK, count), 1)
        return Split(dimension=None, size=count, step=-(-count // part_count))
    shape = sizes(product.node.results[0].type)[:-1]
    if product.patches is not None:
        lines = element_count(out, shape[:-1])
        work_shape = (lines, unit_height, product.inner, product.columns)
        return Split(
            dimension=None, size=lines, shape=work_shape, min_part_work=PART_WORK, min_work=2 * PART_WORK
        )
    rows = element_count(out, shape)
    if isinstance(rows, int):
        units: Position = -(-rows // int(unit_height))
    else:
        units = out.op("sdiv", out.add(rows, int(unit_height) - 1), unit_height)
    row_shape = (rows, product.inner, product.columns)
    return Split(dimension=None, size=units, shape=row_shape, min_part_work=PART_WORK, min_work=2 * PART_WORK)


def _write_blas(region: LoweringContext, product: Product) -> None:
    """Write a product as calls of BLAS: one, or one for each part of the rows or columns."""
    if not product.work:
        _write_open_product(region, product)
        return
    out, module = region.out, region.body.module
    pointers = [_address(region, value) for value in (*product.node.inputs, *product.node.results)]
    product.width_x, product.width_y = (_row_distance(region, value) for value in product.node.inputs)
    largest_side = max(product.rows, product.columns)
    part_count = min(
        product.work // _PART_MULTIPLICATIONS, 2 * current_target().threads, largest_side // _MIN_PART_SIDE
    )
    is_symmetric = largest_side >= 2 * _MIN_PART_SIDE and _is_symmetric(product)
    if is_symmetric:  # a fixed number of parts, as the bits of a result must not depend on the number of threads
        part_count = min(_SYMMETRIC_PARTS, largest_side // _MIN_PART_SIDE)
    with single_threaded_blas(out):
        if "blas_set_threads" in abi.symbols() and part_count > 1 and current_target().has_pool:
            _write_blas_parts(product, part_count, module, out, pointers, is_symmetric)
        elif is_symmetric:
            step = -(-product.rows // part_count)
            for first in range(0, product.rows, step):
                last = min(first + step, product.rows)
                call_text = blas_call(
                    product, module, out, pointers, by_rows=True, first=str(first), count=str(last - first),
                    column_count=last,
                )  # fmt: skip
                out.line(call_text)
        else:
            out.line(blas_call(product, module, out, pointers))
    if is_symmetric:
        _mirror(region, product.dtype, product.rows, pointers[2])


def _is_symmetric(product: Product) -> bool:
    """Return whether a product is that of a matrix and its transpose."""
    (x, has_transposed_x), (y, has_transposed_y) = map(_without_transpose, product.node.inputs)
    is_x_turned = product.is_x_transposed != has_transposed_x
    is_y_turned = product.is_y_transposed != has_transposed_y
    shape = sizes(product.node.results[0].type)
    return x is y and is_x_turned != is_y_turned and len(shape) == 2 and shape[0] == shape[1]


def _without_transpose(value: Value) -> tuple[Value, bool]:
    """Return the value without a transpose around it, and whether there was one."""
    node = value.node
    if node is None or node.op.name not in ("transpose", "matrix_transpose") or len(node.inputs) > 1:
        return value, False
    is_transpose = len(sizes(value.type)) == 2 and node.attributes.get("perm") in (None, (1, 0))
    return (node.inputs[0], True) if is_transpose else (value, False)


def _mirror(region: LoweringContext, dtype: DType, side: Position, pointer: str) -> None:
    """Store the elements below the diagonal of a square result above it, too, by blocks that fit the cache."""
    routine = Routine(region, ["ptr noalias %z", "i64 %side"])
    out, b = routine.out, routine.b
    block_count = out.op("sdiv", out.add("%side", _MIRRORED_SIDE - 1), _MIRRORED_SIDE)
    with out.loop("0", block_count) as block, out.loop("0", out.add(block, 1)) as other_block:
        first, first_column = out.mul(block, _MIRRORED_SIDE), out.mul(other_block, _MIRRORED_SIDE)
        last = minimum(out, out.add(first, _MIRRORED_SIDE), "%side")
        with out.loop(first, str(last)) as i:
            last_column = minimum(out, out.add(first_column, _MIRRORED_SIDE), i)
            with out.loop(first_column, str(last_column)) as j:
                element = load(b, dtype, "%z", out.add(out.mul(i, "%side"), j))
                store(b, element, "%z", out.add(out.mul(j, "%side"), i))
    call(region, routine.finish(), f"ptr {pointer}", f"i64 {side}")


def _address(region: LoweringContext, value: Value) -> str:
    """Return the address of an operand's elements, which for a lent value are in the array it was loaded from."""
    return region.lent_array(value).pointer if region.is_lent(value) else region.data(value)


def _row_distance(region: LoweringContext, value: Value) -> int:
    """Return the distance in elements of adjacent rows of a matrix, whose sizes may be open as in `sizes`."""
    if not region.is_lent(value):
        return sizes(value.type)[-1]
    step = strides_of(value)[0]
    assert step is not None
    return step // value.dtype.size


def _write_open_product(region: LoweringContext, product: Product) -> None:
    """Compute a product of open sizes by blocked tiles if they are wide and the product is large, else by BLAS."""
    registers = current_target().vector_registers
    if registers is None or registers.size < _BLOCKED_REGISTER_SIZE:
        _write_open_blas(region, product)
        return
    out, dtype = region.out, product.dtype
    shape = ProductSizes(row_count(out, product), product.inner, product.columns)
    is_large = out.icmp("sge", str(element_count(out, shape)), _MIN_OPEN_BLOCKED_WORK)
    for side in shape:
        is_large = out.op("and", is_large, out.icmp("sge", str(side), _MIN_OPEN_BLOCKED_SIDE))

    def write_blocked_tiles() -> None:
        """Write a blocked product; of a symmetric result one triangle is computed and mirrored."""
        x, y = (
            Matrix(_address(region, value), _row_distance(region, value), is_transposed)
            for value, is_transposed in zip(
                product.node.inputs, (product.is_x_transposed, product.is_y_transposed), strict=True
            )
        )
        is_symmetric, z = _is_symmetric(product), region.data(product.node.results[0])
        write_open_blocked(region, dtype, x, y, z, shape, is_symmetric)
        if is_symmetric:
            _mirror(region, dtype, shape[0], z)

    out.either(is_large, write_blocked_tiles, lambda: _write_open_blas(region, product))


def _write_open_blas(region: LoweringContext, product: Product) -> None:
    """Compute a product of open sizes by BLAS, in parts if it is large at run time.

    The inner dimension may be 0.
    """
    module, ir_type = region.body.module, register(product.dtype)
    operands = product.node.inputs
    parameters = ["ptr %x", "ptr %y", "ptr %z", "i64 %rows", "i64 %inner", "i64 %columns"]
    widths = [f"i64 %width{i}" for i, value in enumerate(operands) if region.is_lent(value)]
    parameters += widths
    part_out = FunctionText(module, Signature("i1", (*parameters, *PART_PARAMETERS), f"nounwind {QUICK}"))
    count = part_out.sub("%last", "%first")
    width_x = "%rows" if product.is_x_transposed else "%inner"
    width_y = "%inner" if product.is_y_transposed else "%columns"
    width_x = "%width0" if region.is_lent(operands[0]) else width_x
    width_y = "%width1" if region.is_lent(operands[1]) else width_y
    x_start = part_out.gep(ir_type, "%x", part_out.mul("%first", "1" if product.is_x_transposed else width_x))
    z_start = part_out.gep(ir_type, "%z", part_out.mul("%first", "%columns"))
    x, y = Matrix(x_start, width_x, product.is_x_transposed), Matrix("%y", width_y, product.is_y_transposed)
    z = Matrix(z_start, "%columns")
    rows = row_count(region.out, product)
    part_sizes = ProductSizes(1 if rows == 1 else count, "%inner", 1 if product.columns == 1 else "%columns")

    def multiply(is_nonempty: bool) -> None:
        part_out.line(product_call(module, product.dtype, x, y, z, part_sizes, is_nonempty))

    is_empty = part_out.icmp("eq", "%inner", 0)
    part_out.either(is_empty, lambda: multiply(is_nonempty=False), lambda: multiply(is_nonempty=True))
    part_out.ret(FALSE)
    shape = rows, product.inner, product.columns
    call_arguments = [f"ptr {_address(region, value)}" for value in (*operands, product.node.results[0])]
    call_arguments += [f"i64 {size}" for size in shape]
    call_arguments += [f"i64 {(strides_of(x)[0] or 0) // x.dtype.size}" for x in operands if region.is_lent(x)]
    name, out = part_out.finish("product"), region.out
    with single_threaded_blas(out):
        split = Split(
            dimension=0, size=rows, shape=shape, step_multiple=_MIN_PART_SIDE,
            min_part_work=_PART_MULTIPLICATIONS, min_work=2 * _PART_MULTIPLICATIONS,
            max_parts=2 * current_target().threads,
        )  # fmt: skip
        launch_parts(region, name, call_arguments, split)


def _write_blas_parts(
    product: Product, part_count: int, module: ModuleText, out: FunctionText, pointers: list[str],
    is_symmetric: bool,
) -> None:  # fmt: skip
    """Compute a product by BLAS in parts, which divide the longer side of the result.

    Rows of a symmetric result are computed up to the diagonal, and to the end of their part.
    """
    by_rows = product.rows >= product.columns
    length = product.rows if by_rows else product.columns
    split = Split(dimension=None, size=length, step=-(-length // part_count))
    parameters = ("ptr %x", "ptr %y", "ptr %z", *PART_PARAMETERS)
    part_out = FunctionText(module, Signature("i1", parameters, f"nounwind {QUICK}"))
    count = part_out.sub("%last", "%first")
    column_count = "%last" if is_symmetric else None
    part_out.line(blas_call(product, module, part_out, ["%x", "%y", "%z"], by_rows, "%first", count, column_count))
    part_out.ret(FALSE)
    call_arguments = [f"ptr {pointer}" for pointer in pointers]
    call_parts(split, module, out, part_out.finish("product"), call_arguments, has_rare=False)


def blas_call(
    product: Product, module: ModuleText, out: FunctionText, pointers: list[str], by_rows: bool = True,
    first: str = "0", count: str = "", column_count: Position | None = None,
) -> str:  # fmt: skip
    """Return the text of a call that computes the product.

    If `count` is given, it computes only `count` rows (with `by_rows`) or columns of the result, from `first` on. Of
    rows, it computes only the first `column_count` elements, if that is given.
    """
    ir_type = register(product.dtype)
    x, y, z = pointers
    rows: Position = product.rows
    columns: Position = product.columns
    if count and by_rows:
        rows, columns = count, columns if column_count is None else column_count
        x = _advance_pointer(out, ir_type, x, first, product.x_row_step)
        z = _advance_pointer(out, ir_type, z, first, product.columns)
    elif count:
        columns = count
        y = _advance_pointer(out, ir_type, y, first, product.width_y if product.is_y_transposed else 1)
        z = _advance_pointer(out, ir_type, z, first, 1)
    x_matrix = Matrix(x, product.width_x, product.is_x_transposed)
    y_matrix = Matrix(y, product.width_y, product.is_y_transposed)
    part_sizes = ProductSizes(rows, product.inner, columns)
    return product_call(module, product.dtype, x_matrix, y_matrix, Matrix(z, product.columns), part_sizes)


def _advance_pointer(out: FunctionText, ir_type: str, pointer: str, count: str, step: int) -> str:
    """Return the address `count · step` elements after a pointer."""
    offset = out.mul(count, step)
    return out.gep(ir_type, pointer, offset)
