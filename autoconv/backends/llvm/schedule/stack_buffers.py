"""Decide which small arrays live on the stack."""

from __future__ import annotations

import math

from autoconv.backends.llvm.analysis.indexing import is_indexed
from autoconv.backends.llvm.analysis.representation import is_array, sizes
from autoconv.backends.llvm.schedule.plan import Plan
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Value
from autoconv.graph.types import Type

_LARGEST = 2048  # bytes of a stack-allocated array
_LOOPS = frozenset({"element", "reduce", "copy", "place", "pick", "join"})


def is_local(plan: Plan, value: Value) -> bool:
    """Return whether an array that a loop makes is small, and read only by loops that cannot fail."""
    node = value.node
    if node is None or not is_array(value.type) or not 0 < size_in_bytes(value.type) <= _LARGEST:
        return False
    if plan.classes[node] not in ("element", "reduce", "join") or node.effects is not Effects.PURE:
        return False
    if value in plan.graph.outputs:
        return False
    if any(looker.effects is not Effects.PURE or is_indexed(looker) for looker in plan.all_readers(value)):
        return False  # for invalid positions the kernel raises, and needs an object
    return all(plan.classes[reader] in _LOOPS and not reader.regions for reader in plan.readers(value))


def size_in_bytes(type_: Type) -> int:
    return -(-math.prod(sizes(type_)) * type_.dtype.size // 64) * 64  # type: ignore[union-attr]
