"""Matrix products of a library, under the names and with the parameters of the BLAS that native code calls.

x is `rows` by `inner`, y `inner` by `columns`. Blocks of both are copied into the order in which the innermost loop
reads them, tiles of _ROWS by _LANES sums at a time; what a block lacks to whole tiles is zero. The sums of a tile stay
in registers; products are added in the order of the inner dimension.
"""

from __future__ import annotations

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.signature import Parameter, Signature

_ROWS, _INNER, _TILES = 6, 256, 16  # rows of a tile, its products, tiles of a block of x
_TURNED = 112  # the BLAS's word for a transposed matrix


def write_products(module: ModuleText) -> None:
    """Write the products of float32 and float64, of matrices and with vectors."""
    module.has_loops = True
    for kind, letter, lanes in (("float", "s", 16), ("double", "d", 8)):
        _Product(module, kind, letter, lanes).write()
        _write_by_vector(module, kind, letter)


def _signature(parameters: str, name: str = "") -> Signature:
    """Return the signature of a function with parameters such as `x:ptr`."""
    given = [Parameter(kind, f"%{one}") for one, _, kind in (word.partition(":") for word in parameters.split())]
    return Signature("void", given, "nounwind" if name else "noinline nounwind", name, exported=bool(name))


class _Product:
    def __init__(self, module: ModuleText, kind: str, letter: str, lanes: int) -> None:
        self._kind, self._letter, self._lanes = kind, letter, lanes
        self._vector = f"<{lanes} x {kind}>"
        self._width = 4 if kind == "float" else 8
        module.declare(f"llvm.fmuladd.v{lanes}f{8 * self._width}", self._vector, ", ".join([self._vector] * 3))
        self._module = module

    def write(self) -> None:
        tile, pack = self._write_tile(), self._write_pack()
        out = FunctionText(self._module, _signature(
            "order:i32 turn_x:i32 turn_y:i32 rows:i64 columns:i64 inner:i64 "
            f"alpha:{self._kind} x:ptr width_x:i64 y:ptr width_y:i64 beta:{self._kind} z:ptr width_z:i64",
            f"cblas_{self._letter}gemm",
        ))  # fmt: skip
        self._clear(out)
        lanes = self._lanes
        steps = [self._steps(out, "%turn_x", "%width_x"), self._steps(out, "%turn_y", "%width_y")]
        (row_x, step_x), (step_y, column_y) = steps
        panels = out.op("sdiv", out.add("%columns", lanes - 1), lanes)
        height = _ROWS * _TILES
        count = out.mul(out.mul(panels, lanes), _INNER)
        room = out.mul(out.add(count, height * _INNER), self._width)
        self._module.declare("library_memory", "ptr", "i64")
        packed_y = out.call("library_memory", room)
        go_on, leave = out.label("memory"), out.label("none")
        out.branch_if(out.is_null(packed_y), leave, go_on)
        out.begin(leave)
        self._write_slowly(out, row_x, step_x, step_y, column_y)
        out.ret()
        out.begin(go_on)
        packed_x = out.gep(self._kind, packed_y, count)
        with out.loop("0", out.op("sdiv", out.add("%inner", _INNER - 1), _INNER)) as block:
            first = out.mul(block, _INNER)
            some = out.intrinsic("smin", out.sub("%inner", first), Operand.of(_INNER, "i64"))
            source = out.gep(self._kind, "%y", out.mul(first, step_y))
            out.call(pack, packed_y, source, "%columns", some, column_y, step_y, lanes)
            with out.loop("0", out.op("sdiv", out.add("%rows", height - 1), height)) as strip:
                top = out.mul(strip, height)
                high = out.intrinsic("smin", out.sub("%rows", top), Operand.of(height, "i64"))
                start = out.add(out.mul(top, row_x), out.mul(first, step_x))
                out.call(pack, packed_x, out.gep(self._kind, "%x", start), high, some, row_x, step_x, _ROWS)
                tiles = out.op("sdiv", out.add(high, _ROWS - 1), _ROWS)
                with out.loop("0", panels) as panel, out.loop("0", tiles) as t:
                    row, column = out.mul(t, _ROWS), out.mul(panel, lanes)
                    place = out.add(out.mul(out.add(top, row), "%width_z"), column)
                    out.call(
                        tile, out.gep(self._kind, packed_x, out.mul(row, some)),
                        out.gep(self._kind, packed_y, out.mul(column, some)), out.gep(self._kind, "%z", place),
                        some, out.sub(high, row), out.sub("%columns", column), "%width_z",
                    )  # fmt: skip
        out.call_c("free", "void", "ptr", packed_y)
        out.ret()
        out.finish()

    def _clear(self, out: FunctionText) -> None:
        with out.loop("0", "%rows") as i:
            place = out.gep(self._kind, "%z", out.mul(i, "%width_z"))
            out.clear(place, out.mul("%columns", self._width))

    def _steps(self, out: FunctionText, turned: str, width: str) -> tuple[Operand, Operand]:
        """Return the distances of neighbours in a column and in a row."""
        test = out.icmp("eq", Operand.of(turned, "i32"), _TURNED)
        one = Operand.of("1", "i64")
        return out.select(test, one, width), out.select(test, width, one)

    def _write_slowly(self, out: FunctionText, row_x: str, step_x: str, step_y: str, column_y: str) -> None:
        """Write the product without memory for copies."""
        kind = self._kind
        with out.loop("0", "%rows") as i, out.loop("0", "%inner") as k:
            x = out.load(kind, out.gep(kind, "%x", out.add(out.mul(i, row_x), out.mul(k, step_x))))
            with out.loop("0", "%columns") as j:
                y = out.load(kind, out.gep(kind, "%y", out.add(out.mul(k, step_y), out.mul(j, column_y))))
                place = out.gep(kind, "%z", out.add(out.mul(i, "%width_z"), j))
                out.store(kind, out.op("fadd", out.load(kind, place), out.op("fmul", x, y)), place)

    def _write_pack(self) -> str:
        """Write the copy of `lines` lines of `some` elements: groups of `group` lines, element by element."""
        kind = self._kind
        parameters = "to:ptr from:ptr lines:i64 some:i64 line:i64 step:i64 group:i64"
        out = FunctionText(self._module, _signature(parameters))
        whole = out.op("sdiv", out.sub(out.add("%lines", "%group"), 1), "%group")
        zero = Operand.of("0.0", kind)
        with out.loop("0", whole) as number:
            start = out.mul(number, "%group")
            base = out.mul(start, "%some")
            with out.loop("0", "%some") as k, out.loop("0", "%group") as i:
                at = out.add(start, i)
                inside = out.icmp("slt", at, "%lines")
                safe = out.select(inside, at, Operand.of("0", "i64"))
                element = out.load(kind, out.gep(kind, "%from", out.add(out.mul(safe, "%line"), out.mul(k, "%step"))))
                place = out.add(out.add(base, out.mul(k, "%group")), i)
                out.store(kind, out.select(inside, element, zero), out.gep(kind, "%to", place))
        out.ret()
        return out.finish(f"pack_{self._letter}")

    def _write_tile(self) -> str:
        """Write the addition of a tile's sums to z, for the first `rows` and `columns` of a whole tile."""
        kind, vector, lanes = self._kind, self._vector, self._lanes
        parameters = "x:ptr y:ptr z:ptr some:i64 rows:i64 columns:i64 width:i64"
        out = FunctionText(self._module, _signature(parameters))
        cells = [out.alloca(vector, "zeroinitializer") for _ in range(_ROWS)]
        fma = f"llvm.fmuladd.v{lanes}f{8 * self._width}"
        aligned = f", align {self._width}"
        with out.loop("0", "%some", unrolled=False) as k:
            y = out.load(vector, out.gep(kind, "%y", out.mul(k, lanes)), aligned)
            for i, cell in enumerate(cells):
                x = out.load(kind, out.gep(kind, "%x", out.add(out.mul(k, _ROWS), i)))
                alone = out.new(f"insertelement {vector} poison, {kind} {x}, i32 0")
                all_ = out.new(f"shufflevector {vector} {alone}, {vector} poison, <{lanes} x i32> zeroinitializer")
                out.store(vector, out.call(fma, all_, y, out.load(vector, cell)), cell)
        wide = out.icmp("sge", "%columns", lanes)
        for i, cell in enumerate(cells):
            with out.if_(out.icmp("slt", Operand.of(i, "i64"), "%rows")):
                place = out.gep(kind, "%z", out.mul(i, "%width"))
                with out.if_(wide):
                    total = out.op("fadd", out.load(vector, place, aligned), out.load(vector, cell))
                    out.store(vector, total, place, aligned)
                with out.if_(out.not_(wide)), out.loop("0", "%columns") as j:
                    at, own = out.gep(kind, place, j), out.gep(kind, cell, j)
                    out.store(kind, out.op("fadd", out.load(kind, at), out.load(kind, own)), at)
        out.ret()
        return out.finish(f"tile_{self._letter}")


def _write_by_vector(module: ModuleText, kind: str, letter: str) -> None:
    """Write the product of a matrix of `lines` by `columns`, as it lies or transposed, with a vector."""
    out = FunctionText(module, _signature(
        f"order:i32 turn:i32 lines:i64 columns:i64 alpha:{kind} x:ptr width:i64 y:ptr step_y:i64 "
        f"beta:{kind} z:ptr step_z:i64",
        f"cblas_{letter}gemv",
    ))  # fmt: skip

    def write_transposed() -> None:
        out.clear("%z", out.mul("%columns", 4 if kind == "float" else 8))
        with out.loop("0", "%lines") as i:
            factor = out.load(kind, out.gep(kind, "%y", i))
            row = out.gep(kind, "%x", out.mul(i, "%width"))
            with out.loop("0", "%columns") as j:
                place, x = out.gep(kind, "%z", j), out.load(kind, out.gep(kind, row, j))
                out.store(kind, out.op("fadd", out.load(kind, place), out.op("fmul", factor, x)), place)

    def as_it_lies() -> None:
        with out.loop("0", "%lines") as i:
            cell = out.alloca(kind)
            out.store(kind, "0.0", cell)
            row = out.gep(kind, "%x", out.mul(i, "%width"))
            with out.loop("0", "%columns") as j:
                product = out.op("fmul", out.load(kind, out.gep(kind, row, j)), out.load(kind, out.gep(kind, "%y", j)))
                out.store(kind, out.op("fadd reassoc", out.load(kind, cell), product), cell)
            out.store(kind, out.load(kind, cell), out.gep(kind, "%z", i))

    out.either(out.icmp("eq", Operand.of("%turn", "i32"), _TURNED), write_transposed, as_it_lies)
    out.ret()
    out.finish()


__all__ = ["write_products"]
