"""Stack allocation of small arrays that only loops read, and that need no Python object."""

from __future__ import annotations

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.schedule.stack_buffers import size_in_bytes
from autoconv.graph.types import Type

_BYTES_LIMIT = 1 << 14  # most bytes of all such arrays of a function


class StackBuffers:
    """The memory of one function's small arrays; later arrays reuse the memory of dead ones of equal size."""

    def __init__(self, out: FunctionText) -> None:
        self._out = out
        self._free: dict[int, list[str]] = {}
        self._sizes: dict[str, int] = {}
        self.size_in_bytes = 0

    def allocate(self, type_: Type) -> str | None:
        """Return memory for an array of a type; None if the limit is reached."""
        size = size_in_bytes(type_)
        free = self._free.get(size)
        if free:
            result = free.pop()
        elif self.size_in_bytes + size > _BYTES_LIMIT:
            return None
        else:
            self.size_in_bytes += size
            result = self._out.alloca(f"[{size} x i8], align 64")
        self._sizes[result] = size
        return result

    def release(self, memory: str) -> None:
        size = self._sizes.pop(memory, None)
        if size is not None:
            self._free.setdefault(size, []).append(memory)
