"""Matrix products of a C library, with the names and parameters of the BLAS functions that native code calls.

x is `rows` by `inner`, y is `inner` by `columns`. Blocks of both are packed: copied into the order in which the
innermost loop reads them, and padded by zeros to full tiles of _TILE_ROWS rows by a vector of columns. The sums of a
tile stay in registers. Products are added in the order of the inner dimension. The parameters `order`, `alpha` and
`beta`, and the steps of vectors, are not read: native code has matrices by rows, and replaces z.
"""

from __future__ import annotations

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.signature import Parameter, Signature

_TILE_ROWS = 6
_BLOCK_STEPS, _BLOCK_TILES = 256, 16  # steps of the inner dimension, and tiles of x, in a block
_TRANSPOSED = 112  # CblasTrans


def write_products(module: ModuleText) -> None:
    """Write the products of float32 and float64: matrix by matrix, and matrix by vector."""
    module.has_loops = True
    for ir_type, letter, lanes in (("float", "s", 16), ("double", "d", 8)):
        _ProductWriter(module, ir_type, letter, lanes).write()
        _write_vector_product(module, ir_type, letter)


def _signature(parameters: str, name: str = "") -> Signature:
    """Return the signature of a function with parameters such as `x:ptr`."""
    names_and_types = (word.split(":") for word in parameters.split())
    parameter_list = [Parameter(ir_type, f"%{parameter}") for parameter, ir_type in names_and_types]
    return Signature("void", parameter_list, "nounwind" if name else "noinline nounwind", name, exported=bool(name))


class _ProductWriter:
    """The writer of the product of matrices of one type; a vector has `lanes` numbers."""

    def __init__(self, module: ModuleText, ir_type: str, letter: str, lanes: int) -> None:
        self._ir_type, self._letter, self._lanes = ir_type, letter, lanes
        self._vector = f"<{lanes} x {ir_type}>"
        self._element_size = 4 if ir_type == "float" else 8
        module.declare(f"llvm.fmuladd.v{lanes}f{8 * self._element_size}", self._vector, ", ".join([self._vector] * 3))
        self._module = module

    def write(self) -> None:
        """Write the product of two matrices, by tiles of packed blocks."""
        tile_function, pack_function = self._write_tile(), self._write_pack()
        out = FunctionText(self._module, _signature(
            "order:i32 transpose_x:i32 transpose_y:i32 rows:i64 columns:i64 inner:i64 "
            f"alpha:{self._ir_type} x:ptr width_x:i64 y:ptr width_y:i64 beta:{self._ir_type} z:ptr width_z:i64",
            f"cblas_{self._letter}gemm",
        ))  # fmt: skip
        self._clear(out)
        lanes = self._lanes
        row_x, step_x = self._step_operands(out, "%transpose_x", "%width_x")
        step_y, column_y = self._step_operands(out, "%transpose_y", "%width_y")
        panel_count = out.op("sdiv", out.add("%columns", lanes - 1), lanes)
        block_rows = _TILE_ROWS * _BLOCK_TILES
        packed_y_count = out.mul(out.mul(panel_count, lanes), _BLOCK_STEPS)
        byte_count = out.mul(out.add(packed_y_count, block_rows * _BLOCK_STEPS), self._element_size)
        self._module.declare("library_memory", "ptr", "i64")
        packed_y = out.call("library_memory", byte_count)
        memory_label, no_memory_label = out.label("memory"), out.label("none")
        out.branch_if(out.is_null(packed_y), no_memory_label, memory_label)
        out.begin(no_memory_label)
        self._write_without_copies(out, row_x, step_x, step_y, column_y)
        out.ret()
        out.begin(memory_label)
        packed_x = out.gep(self._ir_type, packed_y, packed_y_count)
        with out.loop("0", out.op("sdiv", out.add("%inner", _BLOCK_STEPS - 1), _BLOCK_STEPS)) as block:
            first_step = out.mul(block, _BLOCK_STEPS)
            step_count = out.intrinsic("smin", out.sub("%inner", first_step), Operand.of(_BLOCK_STEPS, "i64"))
            source = out.gep(self._ir_type, "%y", out.mul(first_step, step_y))
            out.call(pack_function, packed_y, source, "%columns", step_count, column_y, step_y, lanes)
            with out.loop("0", out.op("sdiv", out.add("%rows", block_rows - 1), block_rows)) as strip:
                first_row = out.mul(strip, block_rows)
                row_count = out.intrinsic("smin", out.sub("%rows", first_row), Operand.of(block_rows, "i64"))
                start = out.add(out.mul(first_row, row_x), out.mul(first_step, step_x))
                source_x = out.gep(self._ir_type, "%x", start)
                out.call(pack_function, packed_x, source_x, row_count, step_count, row_x, step_x, _TILE_ROWS)
                tile_count = out.op("sdiv", out.add(row_count, _TILE_ROWS - 1), _TILE_ROWS)
                with out.loop("0", panel_count) as panel, out.loop("0", tile_count) as tile_number:
                    row, column = out.mul(tile_number, _TILE_ROWS), out.mul(panel, lanes)
                    offset = out.add(out.mul(out.add(first_row, row), "%width_z"), column)
                    out.call(
                        tile_function, out.gep(self._ir_type, packed_x, out.mul(row, step_count)),
                        out.gep(self._ir_type, packed_y, out.mul(column, step_count)),
                        out.gep(self._ir_type, "%z", offset),
                        step_count, out.sub(row_count, row), out.sub("%columns", column), "%width_z",
                    )  # fmt: skip
        out.call_c("free", "void", "ptr", packed_y)
        out.ret()
        out.finish()

    def _clear(self, out: FunctionText) -> None:
        """Set z to zero."""
        with out.loop("0", "%rows") as i:
            row = out.gep(self._ir_type, "%z", out.mul(i, "%width_z"))
            out.clear(row, out.mul("%columns", self._element_size))

    def _step_operands(self, out: FunctionText, transposition: str, width: str) -> tuple[Operand, Operand]:
        """Return the distances of adjacent numbers in a column and in a row."""
        is_transposed = out.icmp("eq", Operand.of(transposition, "i32"), _TRANSPOSED)
        one = Operand.of("1", "i64")
        return out.select(is_transposed, one, width), out.select(is_transposed, width, one)

    def _write_without_copies(self, out: FunctionText, row_x: str, step_x: str, step_y: str, column_y: str) -> None:
        """Write the product for the case that there is no memory for packed blocks."""
        ir_type = self._ir_type
        with out.loop("0", "%rows") as i, out.loop("0", "%inner") as k:
            x = out.load(ir_type, out.gep(ir_type, "%x", out.add(out.mul(i, row_x), out.mul(k, step_x))))
            with out.loop("0", "%columns") as j:
                y = out.load(ir_type, out.gep(ir_type, "%y", out.add(out.mul(k, step_y), out.mul(j, column_y))))
                address = out.gep(ir_type, "%z", out.add(out.mul(i, "%width_z"), j))
                out.store(ir_type, out.op("fadd", out.load(ir_type, address), out.op("fmul", x, y)), address)

    def _write_pack(self) -> str:
        """Write a function that packs `lines` lines of `length` elements in groups of `group` lines.

        Adjacent lines are `line` elements apart, adjacent elements of a line `step` elements. A group has the first
        elements of all its lines, then the second ones, and so on.
        """
        ir_type = self._ir_type
        parameters = "to:ptr from:ptr lines:i64 length:i64 line:i64 step:i64 group:i64"
        out = FunctionText(self._module, _signature(parameters))
        group_count = out.op("sdiv", out.sub(out.add("%lines", "%group"), 1), "%group")
        zero = Operand.of("0.0", ir_type)
        with out.loop("0", group_count) as group_number:
            start = out.mul(group_number, "%group")
            base = out.mul(start, "%length")
            with out.loop("0", "%length") as k, out.loop("0", "%group") as i:
                line = out.add(start, i)
                is_inside = out.icmp("slt", line, "%lines")
                bounded_line = out.select(is_inside, line, Operand.of("0", "i64"))
                source = out.add(out.mul(bounded_line, "%line"), out.mul(k, "%step"))
                element = out.load(ir_type, out.gep(ir_type, "%from", source))
                offset = out.add(out.add(base, out.mul(k, "%group")), i)
                out.store(ir_type, out.select(is_inside, element, zero), out.gep(ir_type, "%to", offset))
        out.ret()
        return out.finish(f"pack_{self._letter}")

    def _write_tile(self) -> str:
        """Write a function that adds the sums of a tile to z, for the first `rows` and `columns` of the tile."""
        ir_type, vector, lanes = self._ir_type, self._vector, self._lanes
        parameters = "x:ptr y:ptr z:ptr length:i64 rows:i64 columns:i64 width:i64"
        out = FunctionText(self._module, _signature(parameters))
        cells = [out.alloca(vector, "zeroinitializer") for _ in range(_TILE_ROWS)]
        fma = f"llvm.fmuladd.v{lanes}f{8 * self._element_size}"
        alignment = f", align {self._element_size}"
        with out.loop("0", "%length", unrolled=False) as k:
            y = out.load(vector, out.gep(ir_type, "%y", out.mul(k, lanes)), alignment)
            for i, cell in enumerate(cells):
                x = out.load(ir_type, out.gep(ir_type, "%x", out.add(out.mul(k, _TILE_ROWS), i)))
                first_lane = out.new(f"insertelement {vector} poison, {ir_type} {x}, i32 0")
                all_lanes = out.new(
                    f"shufflevector {vector} {first_lane}, {vector} poison, <{lanes} x i32> zeroinitializer"
                )
                out.store(vector, out.call(fma, all_lanes, y, out.load(vector, cell)), cell)
        is_full = out.icmp("sge", "%columns", lanes)
        for i, cell in enumerate(cells):
            with out.if_(out.icmp("slt", Operand.of(i, "i64"), "%rows")):
                row = out.gep(ir_type, "%z", out.mul(i, "%width"))
                with out.if_(is_full):
                    total = out.op("fadd", out.load(vector, row, alignment), out.load(vector, cell))
                    out.store(vector, total, row, alignment)
                with out.if_(out.not_(is_full)), out.loop("0", "%columns") as j:
                    address, cell_address = out.gep(ir_type, row, j), out.gep(ir_type, cell, j)
                    total = out.op("fadd", out.load(ir_type, address), out.load(ir_type, cell_address))
                    out.store(ir_type, total, address)
        out.ret()
        return out.finish(f"tile_{self._letter}")


def _write_vector_product(module: ModuleText, ir_type: str, letter: str) -> None:
    """Write the product of a matrix of `lines` by `columns`, or of its transpose, with a vector."""
    out = FunctionText(module, _signature(
        f"order:i32 transpose:i32 lines:i64 columns:i64 alpha:{ir_type} x:ptr width:i64 y:ptr step_y:i64 "
        f"beta:{ir_type} z:ptr step_z:i64",
        f"cblas_{letter}gemv",
    ))  # fmt: skip

    def write_transposed() -> None:
        """Write z = x.T @ y: the rows of `x`, scaled, are added."""
        out.clear("%z", out.mul("%columns", 4 if ir_type == "float" else 8))
        with out.loop("0", "%lines") as i:
            factor = out.load(ir_type, out.gep(ir_type, "%y", i))
            row = out.gep(ir_type, "%x", out.mul(i, "%width"))
            with out.loop("0", "%columns") as j:
                address, x = out.gep(ir_type, "%z", j), out.load(ir_type, out.gep(ir_type, row, j))
                out.store(ir_type, out.op("fadd", out.load(ir_type, address), out.op("fmul", factor, x)), address)

    def write_rows() -> None:
        """Write z = x @ y, row by row."""
        with out.loop("0", "%lines") as i:
            cell = out.alloca(ir_type)
            out.store(ir_type, "0.0", cell)
            row = out.gep(ir_type, "%x", out.mul(i, "%width"))
            with out.loop("0", "%columns") as j:
                x, y = (out.load(ir_type, out.gep(ir_type, pointer, j)) for pointer in (row, "%y"))
                product = out.op("fmul", x, y)
                out.store(ir_type, out.op("fadd reassoc", out.load(ir_type, cell), product), cell)
            out.store(ir_type, out.load(ir_type, cell), out.gep(ir_type, "%z", i))

    out.either(out.icmp("eq", Operand.of("%transpose", "i32"), _TRANSPOSED), write_transposed, write_rows)
    out.ret()
    out.finish()
