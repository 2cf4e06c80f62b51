"""Products of integer matrices, which BLAS lacks.

Each row of the result is the sum of the rows of y, each times a number of x. With a transposed y, or for a single
column, each element is a dot product instead.
"""

from __future__ import annotations

from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, shape_of
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, call, open_dimensions, pointers, split_routine
from autoconv.backends.llvm.ir import index_arith
from autoconv.backends.llvm.ir.index_arith import Position, block_offset, plus, times, unravel
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.graph.graph import Node

_ROWS_AT_ONCE = 4  # rows of y that are added to a row of the result at once
_MULTIPLICATION_COST = 8  # cost of a multiplication, in units of 0.05 ns


def fits(node: Node) -> bool:
    """Return whether the operands are arrays of integers whose shapes, with open sizes as symbols, are compatible."""
    types = [value.type for value in (*node.inputs, node.results[0])]
    if not all(is_dense(type_) for type_ in types) or not node.results[0].dtype.is_integer:
        return False
    x, y, result = map(shape_of, types)
    inner = x[-2 if node.attributes.get("transpose_a") else -1], y[-1 if node.attributes.get("transpose_b") else -2]
    return inner[0] == inner[1] and all(broadcasts_to(shape[:-2], result[:-2]) for shape in (x, y))


def write_products(region: LoweringContext, node: Node) -> None:
    """Write the loop over all rows of all matrices of the result; threads share the rows."""
    (result,) = node.results
    region.set(result, region.new_array(result.type))
    parameters = [*open_dimensions(region), "ptr noalias readonly %x", "ptr noalias readonly %y", "ptr noalias %z"]
    routine = PartRoutine(region, parameters)
    *batch, rows, columns = sizes(result.type)
    with routine.out.loop("%first", "%last", unrolled=False) as row_number:
        index = unravel(routine.out, row_number, (*batch, rows))
        _RowWriter(routine, node, row_number, index).write()
    inner = sizes(node.inputs[0].type)[-2 if node.attributes.get("transpose_a") else -1]
    shape = (*batch, rows, columns, inner)
    work = _MULTIPLICATION_COST  # open sizes are no factors of it: `split_routine` gets the shape
    for size in shape:
        work *= size if isinstance(size, int) else 1
    name = split_routine(region, parameters, routine, (*batch, rows), work, shape)
    call(region, name, *open_dimensions(region), *pointers(region, *node.inputs, result))


class _RowWriter:
    """A writer of the code for a row of the result.

    `x_offset`, `y_offset` and `z_offset` are the offsets in elements of the row (or column) of x, of the matrix of y
    and of the row of the result. `x_step` is the distance of adjacent numbers in the row of x.
    """

    def __init__(self, routine: Routine, node: Node, row_number: Position, index: tuple[Position, ...]) -> None:
        self.out, self.b, self.dtype = routine.out, routine.b, node.results[0].dtype
        *batch, row = index
        x, y = node.inputs
        self.is_y_transposed = bool(node.attributes.get("transpose_b"))
        self.columns = sizes(node.results[0].type)[-1]
        self.width_y = sizes(y.type)[-1]
        width_x = sizes(x.type)[-1]
        start_x = block_offset(self.out, batch, sizes(x.type), 2)
        if node.attributes.get("transpose_a"):
            self.inner, self.x_step, self.x_offset = sizes(x.type)[-2], width_x, plus(self.out, start_x, row)
        else:
            self.inner, self.x_step = width_x, 1
            self.x_offset = plus(self.out, start_x, index_arith.product(self.out, row, width_x))
        self.y_offset = block_offset(self.out, batch, sizes(y.type), 2)
        self.z_offset = index_arith.product(self.out, row_number, self.columns)

    def _load_x(self, k: Position) -> Element:
        """Return the number at position `k` of the row of x."""
        offset = plus(self.out, self.x_offset, index_arith.product(self.out, k, self.x_step))
        return load(self.b, self.dtype, "%x", offset)

    def write(self) -> None:
        """Write the row of the result."""
        if self.is_y_transposed or self.columns == 1:
            self._write_dot_products()
        else:
            self._write_row_additions()

    def _write_dot_products(self) -> None:
        """Write one row of the result as dot products with the rows of the transposed `y`."""
        out, b = self.out, self.b
        total_cell = out.alloca(self._ir_type())
        with out.loop("0", str(self.columns), unrolled=False) as j:
            store(b, b.constant(0, self.dtype), total_cell, 0)
            start = plus(out, self.y_offset, index_arith.product(out, j, self.inner))
            with out.loop("0", str(self.inner)) as k:
                product = self._load_x(k) * load(b, self.dtype, "%y", plus(out, start, k))
                store(b, load(b, self.dtype, total_cell, 0) + product, total_cell, 0)
            store(b, load(b, self.dtype, total_cell, 0), "%z", plus(out, self.z_offset, j))

    def _ir_type(self) -> str:
        """Return the type of a number in memory."""
        return f"i{8 * self.dtype.size}"

    def _write_row_additions(self) -> None:
        """Clear the row of the result, and add the rows of y to it, in blocks and then one by one."""
        out = self.out
        out.clear(out.gep(self._ir_type(), "%z", self.z_offset), times(out, self.columns, self.dtype.size))
        if isinstance(self.inner, int):
            block_count: Position = self.inner // _ROWS_AT_ONCE
        else:
            block_count = out.op("sdiv", self.inner, _ROWS_AT_ONCE)
        rows_in_blocks = times(out, block_count, _ROWS_AT_ONCE)
        with out.loop("0", str(block_count), unrolled=False) as block:
            self._add_rows(times(out, block, _ROWS_AT_ONCE), _ROWS_AT_ONCE)
        with out.loop(str(rows_in_blocks), str(self.inner), unrolled=False) as k:
            self._add_rows(k, 1)

    def _add_rows(self, first: Position, count: int) -> None:
        """Add the rows of y from `first` on, each times its number of x, to the row of the result."""
        out, b = self.out, self.b
        inner_positions = [plus(out, first, i) for i in range(count)]
        factors = [self._load_x(k) for k in inner_positions]
        starts = [plus(out, self.y_offset, index_arith.product(out, k, self.width_y)) for k in inner_positions]
        with out.loop("0", str(self.columns)) as j:
            offset = plus(out, self.z_offset, j)
            total = load(b, self.dtype, "%z", offset)
            for factor, start in zip(factors, starts, strict=True):
                total = total + factor * load(b, self.dtype, "%y", plus(out, start, j))
            store(b, total, "%z", offset)
