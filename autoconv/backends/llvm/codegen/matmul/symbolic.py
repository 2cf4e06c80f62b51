"""Lower open sizes outside of loops: dimensions as numbers, and matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import SMALLEST
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import Matrix, alone, has_products, product_call
from autoconv.backends.llvm.codegen.matmul.symbolic_tile_kernel import OpenProductText, open_tiling
from autoconv.backends.llvm.codegen.matmul.transposed_operand import turned
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PART
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, Size, element_count, is_known
from autoconv.backends.llvm.ir.metadata import QUICK
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.matmul_tiling import FEWEST, SHARE
from autoconv.backends.llvm.schedule.symbolic_partition import OpenSplit
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Node
from autoconv.ops.analysis.value_range import SIZES

_PART = 2_000_000  # multiplications of one part of a product
_NARROWEST = 64  # least rows of one part


@class_lowering("extent")
def write_extent(region: LoweringContext, node: Node) -> None:
    """Write a dimension of an array, or its number of elements."""
    (result,) = node.results
    shape = sizes(node.inputs[0].type)
    found = shape[node.attributes["axis"]] if node.op.name == "dimension" else element_count(region.out, shape)
    b = RegisterWriter(region)
    size = b.wrap(int64, str(found))
    region.body.note_range(size, SIZES)
    if isinstance(found, Size):
        region.body.note_range(size, (SMALLEST, SIZES[1]))
    made = b.cast(size, result.dtype)
    if made.ir != size.ir:
        region.body.note_limit(made, size, 0)  # a value that does not fit becomes smaller
    region.set(result, made)


def write_open_product(region: LoweringContext, node: Node) -> None:
    """Write a product with open rows or inner dimension: by tiles where they suit, else by the BLAS in parts."""
    product = _OpenProduct(region, node)
    blas = has_products(product.dtype)
    if not blas and not product.suits_tiles():
        region.write_kernel(node)
        return
    region.set(product.result, region.new_array(product.result.type))
    if not product.suits_tiles():
        product.write_blas()
    elif isinstance(product.inner, int) or not blas:
        product.write_tiles()
    else:
        out = region.out
        few, many, done = out.label("few"), out.label("many"), out.label("done")
        most = current_target().cache // (product.columns * product.dtype.size)
        out.branch_if(out.icmp("sle", product.inner, most), few, many)
        for label, write in ((few, product.write_tiles), (many, product.write_blas)):
            out.begin(label)
            write()
            out.branch(done)
        out.begin(done)


class _OpenProduct:
    """x, `rows` by `inner`, times y, `inner` by `columns`: each size a constant or a register."""

    def __init__(self, region: LoweringContext, node: Node) -> None:
        self.region = region
        self.node = node
        (self.result,) = node.results
        x, y = (sizes(value.type) for value in node.inputs)
        self.dtype: DType = self.result.dtype
        self.kind = register(self.dtype)
        self.flip_x, self.flip_y = (bool(node.attributes.get(key, False)) for key in ("transpose_a", "transpose_b"))
        *several, self.columns = sizes(self.result.type)
        self.rows = several[0] if len(several) == 1 else element_count(region.out, several)
        self.inner = x[-2 if self.flip_x else -1]
        self.width_x, self.width_y = x[-1], y[-1]

    def suits_tiles(self) -> bool:
        """Return whether all strides are constant and `Product.suits_tiles` holds, as far as that is known."""
        known = is_known((self.columns, self.width_x, self.width_y))
        if current_target().vectors is None or not known or self.columns < FEWEST:
            return False
        return not isinstance(self.inner, int) or self.inner * self.columns * self.dtype.size <= current_target().cache

    def write_tiles(self) -> None:
        machine, region, y = current_target().vectors, self.region, self.node.inputs[1]
        assert machine is not None
        plan = open_tiling(self.rows, self.columns, self.dtype, machine)
        steps = (self.width_x, 1) if self.flip_x else (1, self.width_x)
        text = OpenProductText(region.body.module, plan, self.dtype, steps[0], self.columns, steps[1], self.columns)
        right = turned(region, y, plan.lanes) if self.flip_y else region.data(y)
        out = region.out
        more = out.add(self.rows, plan.height - 1)
        units = out.op("sdiv", more, plan.height)
        given = [f"ptr {pointer}" for pointer in (region.data(self.node.inputs[0]), right, region.data(self.result))]
        given += [f"i64 {self.rows}", f"i64 {self.inner}"]
        self._run(text.rows(), given, OpenSplit(None, units, 1, self._shape(), 1, 1, SHARE, 2 * SHARE))

    def write_blas(self) -> None:
        module, kind = self.region.body.module, self.kind
        parameters = ["ptr %x", "ptr %y", "ptr %z", "i64 %rows", "i64 %inner", "i64 %columns"]
        body = FunctionText(module, Signature("i1", (*parameters, *PART), f"nounwind {QUICK}"))
        count = body.sub("%last", "%first")
        width_x, width_y = "%rows" if self.flip_x else "%inner", "%inner" if self.flip_y else "%columns"
        start = body.mul("%first", "1" if self.flip_x else "%inner")
        moved = body.gep(kind, "%x", start)
        placed = body.gep(kind, "%z", body.mul("%first", "%columns"))
        x, y, z = Matrix(moved, width_x, self.flip_x), Matrix("%y", width_y, self.flip_y), Matrix(placed, "%columns")
        sides = 1 if self.rows == 1 else count, "%inner", 1 if self.columns == 1 else "%columns"
        none, some, done = body.label("none"), body.label("some"), body.label("done")
        body.branch_if(body.icmp("eq", "%inner", 0), none, some)
        for label, found in ((none, False), (some, True)):
            body.begin(label)
            body.line(product_call(module, self.dtype, x, y, z, *sides, some=found))
            body.branch(done)
        body.begin(done)
        body.ret(FALSE)
        given = [f"ptr {self.region.data(value)}" for value in (*self.node.inputs, self.result)]
        given += [f"i64 {self.rows}", f"i64 {self.inner}", f"i64 {self.columns}"]
        split = OpenSplit(0, 0, 1, self._shape(), 1, _NARROWEST, _PART, 2 * _PART, 2 * current_target().threads)
        with alone(self.region.out):
            self._run(body.finish("product"), given, split)

    def _shape(self) -> tuple[Position, ...]:
        return self.rows, self.inner, self.columns

    def _run(self, function: str, given: Sequence[str], split: OpenSplit) -> None:
        """Run the function on several threads, where that is worth it."""
        out = self.region.out
        if current_target().is_parallel:
            run_split(split, self.region.body.module, out, function, given, has_rare=False)
        else:
            size = split.size or self.rows
            out.new(f"call i1 @{function}({', '.join([*given, 'i64 0', 'i64 0', f'i64 {size}'])})")
