"""Stack allocation of small arrays that only loops read: they are no Python objects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from autoconv.backends.llvm.indices import is_indexed
from autoconv.backends.llvm.roles import is_array, sizes
from autoconv.backends.llvm.text import FunctionText
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Value
from autoconv.graph.types import Type

if TYPE_CHECKING:
    from autoconv.backends.llvm.fusion import Plan

_LARGEST = 2048  # bytes of a stack-allocated array
_MOST = 1 << 14  # bytes of all such arrays of a function
_LOOPS = frozenset({"element", "reduce", "copy", "place", "pick", "join"})


class Locals:
    """The memory of one function's small arrays; that of dead arrays is reused for later ones of their size."""

    def __init__(self, out: FunctionText) -> None:
        self._out = out
        self._free: dict[int, list[str]] = {}
        self._taken: dict[str, int] = {}
        self.size_in_bytes = 0

    def take(self, type_: Type) -> str | None:
        """Return memory for an array of that type; None if there is no room."""
        size = size_in_bytes(type_)
        free = self._free.get(size)
        if free:
            found = free.pop()
        elif self.size_in_bytes + size > _MOST:
            return None
        else:
            self.size_in_bytes += size
            found = self._out.alloca(f"[{size} x i8], align 64")
        self._taken[found] = size
        return found

    def give(self, memory: str) -> None:
        size = self._taken.pop(memory, None)
        if size is not None:
            self._free.setdefault(size, []).append(memory)


def is_local(plan: Plan, value: Value) -> bool:
    """Return whether an array that a loop makes is small, and read only by loops that cannot fail."""
    node = value.node
    if node is None or not is_array(value.type) or not 0 < size_in_bytes(value.type) <= _LARGEST:
        return False
    if plan.roles[node] not in ("element", "reduce", "join") or node.effects is not Effects.PURE:
        return False
    if value in plan.graph.outputs:
        return False
    if any(looker.effects is not Effects.PURE or is_indexed(looker) for looker in plan.lookers(value)):
        return False  # for invalid positions the kernel raises, and needs an object
    return all(plan.roles[reader] in _LOOPS and not reader.regions for reader in plan.readers(value))


def size_in_bytes(type_: Type) -> int:
    return -(-math.prod(sizes(type_)) * type_.dtype.size // 64) * 64  # type: ignore[union-attr]
