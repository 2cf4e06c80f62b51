"""Native dispatch: `Function.__call__` in native code, once there are entries.

Python's own `__call__` runs before that, and whenever trying the entries of the latest traces in turn is not enough
(see backends/llvm/runtime/call_dispatch.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends import backend_named
from autoconv.backends.protocol import Dispatch
from autoconv.config import DETOUR
from autoconv.forks import new_lock
from autoconv.runtime.recording.activity import BUSY
from autoconv.tracing.guards.float_errors import DEFAULT, VARIABLE, has_actions

_LOCK = new_lock()
_INSTALLED: list[bool] = []


def straight(
    owner: Any, cell: ctypes.c_int64, gate: Any, plain: Callable[..., Any], entries: Sequence[Callable[..., Any]]
) -> tuple[Any, ...]:
    """Return the contents of an object's slot `_straight`: the call counter, the gate, the plain function, the entries.

    It is empty where one of these does not have the memory layout that native code expects.
    """
    if not backend_named().can_dispatch((cell, gate), entries):
        return ()
    with _LOCK:
        if not _INSTALLED:
            _INSTALLED.append(_install(owner))
    return (cell, gate, plain, *entries) if _INSTALLED[0] else ()


def native_entries(slot: tuple[Any, ...]) -> tuple[Callable[..., Any], ...]:
    """Return the entries in a slot."""
    return slot[3:]


def _install(owner: Any) -> bool:
    slot = _offset(owner)
    if slot is None:
        return False
    call = backend_named().dispatching(
        Dispatch(
            owner=owner, slot=slot, slow=owner.__call__, failed=owner._failed, flagged=owner._flagged, detour=DETOUR,
            busy=BUSY, variable=VARIABLE, default=DEFAULT, has_actions=has_actions(),
        )
    )  # fmt: skip
    if call is not None:
        owner.__call__ = call
    return call is not None


def _offset(owner: type) -> int | None:
    """Return the offset in bytes of the slot in an object; None where it cannot be found."""
    instance: Any = object.__new__(owner)
    mark = instance._straight = ("mark",)
    words = (ctypes.c_void_p * (owner.__basicsize__ // 8)).from_address(id(instance))
    offsets = [8 * i for i, word in enumerate(words) if word == id(mark)]
    return offsets[0] if len(offsets) == 1 else None
