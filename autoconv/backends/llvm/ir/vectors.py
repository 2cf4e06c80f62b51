"""Instructions on vectors, also on partly filled ones."""

from __future__ import annotations

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType


class VectorWriter:
    """A writer of instructions on vectors of `lanes` numbers of a dtype into `out`."""

    def __init__(self, out: FunctionText, dtype: DType, lanes: int) -> None:
        self.out = out
        self.ir_type = register(dtype)
        self.vector = f"<{lanes} x {self.ir_type}>"
        self.size = dtype.size
        self.lanes = lanes
        self._suffix = f"v{lanes}f{8 * dtype.size}"

    def address(self, pointer: str, offset: int | str) -> str:
        """Return the address `offset` numbers after a pointer."""
        return self.out.new(f"getelementptr inbounds {self.ir_type}, ptr {pointer}, i64 {offset}")

    def load(self, pointer: str, width_or_mask: Position) -> str:
        """Load the first numbers, by their count, or those of the mask in a register; zeros in place of the others."""
        if width_or_mask == self.lanes:
            return self.out.new(f"load {self.vector}, ptr {pointer}, align {self.size}")
        name = f"llvm.masked.load.{self._suffix}.p0"
        function = self.out.module.declare(
            name, self.vector, f"ptr, i32 immarg, <{self.lanes} x i1>, {self.vector}"
        )  # fmt: skip
        arguments = f"ptr {pointer}, i32 {self.size}, {self._mask(width_or_mask)}, {self.vector} zeroinitializer"
        return self.out.new(f"call {self.vector} {function}({arguments})")

    def store(self, value: str, pointer: str, width_or_mask: Position) -> None:
        """Store the first numbers, by their count, or those of the mask in a register."""
        if width_or_mask == self.lanes:
            self.out.line(f"store {self.vector} {value}, ptr {pointer}, align {self.size}")
            return
        name = f"llvm.masked.store.{self._suffix}.p0"
        function = self.out.module.declare(name, "void", f"{self.vector}, ptr, i32 immarg, <{self.lanes} x i1>")
        self.out.line(
            f"call void {function}({self.vector} {value}, ptr {pointer}, i32 {self.size}, {self._mask(width_or_mask)})"
        )

    def bits_below(self, count: object, first: int = 0) -> str:
        """Return a mask, a vector of i1: bit i is set if `first` + i is below `count`, the register of an i64."""
        numbers, zeros = f"<{self.lanes} x i64>", f"<{self.lanes} x i32> zeroinitializer"
        single = self.out.new(f"insertelement {numbers} poison, i64 {count}, i64 0")
        limit = self.out.new(f"shufflevector {numbers} {single}, {numbers} poison, {zeros}")
        positions = ", ".join(f"i64 {first + i}" for i in range(self.lanes))
        return self.out.new(f"icmp slt {numbers} <{positions}>, {limit}")

    def _mask(self, width_or_mask: Position) -> str:
        """Return a mask with its type: the one in a given register, or one with the given number of first bits set."""
        if isinstance(width_or_mask, str):
            return f"<{self.lanes} x i1> {width_or_mask}"
        lanes = ", ".join(f"i1 {'true' if i < width_or_mask else 'false'}" for i in range(self.lanes))
        return f"<{self.lanes} x i1> <{lanes}>"

    def broadcast(self, number: str) -> str:
        """Broadcast one number to all lanes."""
        single = self.out.new(f"insertelement {self.vector} poison, {self.ir_type} {number}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self.out.new(f"shufflevector {self.vector} {single}, {self.vector} poison, {zeros}")

    def fma(self, x: str, y: str, z: str) -> str:
        function = self.out.module.declare(f"llvm.fma.{self._suffix}", self.vector, ", ".join([self.vector] * 3))
        return self.out.new(f"call {self.vector} {function}({self.vector} {x}, {self.vector} {y}, {self.vector} {z})")

    def shuffle(self, x: str, y: str, lanes: list[int]) -> str:
        """Select numbers of both vectors, by their positions."""
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.out.new(f"shufflevector {self.vector} {x}, {self.vector} {y}, <{len(lanes)} x i32> <{mask}>")
