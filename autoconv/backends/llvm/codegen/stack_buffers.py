"""Stack allocation of small arrays that only loops read, so that they need no Python object."""

from __future__ import annotations

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.schedule.stack_buffers import size_in_bytes
from autoconv.graph.types import Type

_BYTES_LIMIT = 1 << 14  # most bytes of all small arrays of a function


class StackBuffers:
    """The memory of one function's small arrays; later arrays reuse the memory of dead arrays of equal size."""

    def __init__(self, out: FunctionText) -> None:
        self._out = out
        self._free_buffers: dict[int, list[str]] = {}  # buffers for reuse, by size in bytes
        self._used_sizes: dict[str, int] = {}  # buffer in use -> its size
        self._total_bytes = 0

    def allocate(self, type_: Type) -> str | None:
        """Return memory for an array of a type; None if the limit is reached."""
        size = size_in_bytes(type_)
        buffers = self._free_buffers.get(size)
        if buffers:
            buffer = buffers.pop()
        elif self._total_bytes + size > _BYTES_LIMIT:
            return None
        else:
            self._total_bytes += size
            buffer = self._out.alloca(f"[{size} x i8], align 64")
        self._used_sizes[buffer] = size
        return buffer

    def release(self, buffer: str) -> None:
        """Make a buffer available for reuse; do nothing if it has been released before."""
        size = self._used_sizes.pop(buffer, None)
        if size is not None:
            self._free_buffers.setdefault(size, []).append(buffer)
