"""Choice of small arrays that are allocated on the stack: only loops read them, so they need no Python object."""

from __future__ import annotations

import math

from autoconv.backends.llvm.analysis.indexing import has_position_arrays
from autoconv.backends.llvm.analysis.representation import is_static_array, sizes
from autoconv.backends.llvm.schedule.plan import Plan
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Value
from autoconv.graph.types import Type

_MAX_BYTES = 2048  # most bytes of a stack-allocated array
_LOOP_CLASSES = frozenset({"element", "reduce", "copy", "pad", "pick", "join"})


def is_on_stack(plan: Plan, value: Value) -> bool:
    """Return whether a value is a small array that a loop computes and that only loops which cannot fail read."""
    node = value.node
    if node is None or not is_static_array(value.type) or not 0 < size_in_bytes(value.type) <= _MAX_BYTES:
        return False
    if plan.classes[node] not in ("element", "reduce", "join") or node.effects is not Effects.PURE:
        return False
    if value in plan.graph.outputs:
        return False
    readers = plan.readers_and_views(value)
    if any(reader.effects is not Effects.PURE or has_position_arrays(reader) for reader in readers):
        return False  # the kernel, which raises for invalid positions, needs an object
    return all(plan.classes[reader] in _LOOP_CLASSES and not reader.regions for reader in plan.readers(value))


def size_in_bytes(type_: Type) -> int:
    """Return the size of an array in bytes, rounded up to a multiple of 64."""
    return -(-math.prod(sizes(type_)) * type_.dtype.size // 64) * 64  # type: ignore[union-attr]
