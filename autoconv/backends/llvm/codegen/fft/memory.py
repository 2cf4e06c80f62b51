"""Memory of the buffers that Fourier transforms use between their stages."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.graph.dtypes import uint8
from autoconv.graph.types import TensorType

MAX_STACK_BYTES = 1 << 18  # most bytes of buffers on a thread's stack
_ALIGNMENT = 64  # alignment of the buffers, in bytes


class BufferMemory:
    """Memory of the buffers of a split routine: on the stack of each thread, or a new array with a share for each part.

    `parameters` and `arguments` are those that the array adds to the routine and to its call.
    """

    def __init__(self, region: LoweringContext, byte_count: int, split: Split | None) -> None:
        self._byte_count = byte_count
        self.parameters, self.arguments = [], []  # type: list[str], list[str]
        if byte_count > MAX_STACK_BYTES:
            type_ = TensorType(uint8, (byte_count * (split.parts if split else 1) + _ALIGNMENT,))
            array = region.new_array(type_)
            self.parameters, self.arguments = ["ptr noalias %memory"], [f"ptr {region.address(array)}"]
            region.release_after_item(array, type_)

    def write_address(self, out: FunctionText) -> str:
        """Write the computation of the address of a part's buffers, in the body of the routine."""
        if not self.parameters:
            return out.alloca(f"[{self._byte_count} x i8], align {_ALIGNMENT}")
        address = out.new("ptrtoint ptr %memory to i64")
        padding = out.op("and", out.sub(0, address), _ALIGNMENT - 1)
        return out.gep("i8", "%memory", out.add(padding, out.mul("%part", self._byte_count)))
