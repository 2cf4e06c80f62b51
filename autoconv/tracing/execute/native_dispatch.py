"""Native dispatch: `Function.__call__` in native code, once there are entries.

`__call__` in Python runs before that, and for each call that no entry of the latest traces accepts (see
backends/llvm/runtime/call_dispatch.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autoconv.backends import get_backend
from autoconv.backends.protocol import Dispatch
from autoconv.config import DETOUR
from autoconv.forks import new_lock
from autoconv.runtime.recording.activity import BUSY
from autoconv.tracing.guards.numpy_error_state import DEFAULT_ERROR_STATE, ERROR_STATE, has_expected_layout

_LOCK = new_lock()
_INSTALLED: list[bool] = []  # empty before the first attempt to install native dispatch; then one item, its success


def make_native_slot(
    class_: Any, counter: ctypes.c_int64, gate: Any, python_function: Callable[..., Any], names: tuple[str | None, ...],
    entry_functions: Sequence[Callable[..., Any]],
) -> tuple[Any, ...]:  # fmt: skip
    """Return the contents of the slot `_native_entries` of an object: see backends/llvm/runtime/call_dispatch.py.

    `counter` counts calls, and `gate` those that run without examination. `names` are the names of the parameters of
    `python_function`, None for a parameter that is only positional. `entry_functions` are tried in order. `class_` is
    the class of the called object; its attribute `takes_instances` is determined here if it is None. Return () if an
    object does not have the memory layout that native code expects.
    """
    if not get_backend().can_dispatch((counter, gate), entry_functions):
        return ()
    with _LOCK:
        if not _INSTALLED:
            _INSTALLED.append(_install(next(base for base in class_.__mro__ if "_native_entries" in vars(base))))
        if _INSTALLED[0] and class_.takes_instances is None:
            class_.takes_instances = get_backend().mark_method_descriptor(class_)
    return (counter, gate, python_function, names, *entry_functions) if _INSTALLED[0] else ()


def is_installed() -> bool:
    """Return whether calls go through native code in this process, which takes some 20 ms to load."""
    return bool(_INSTALLED)


def as_native_entry(entry: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """Return an entry that native dispatch can call: a Python function wrapped, other entries and None unchanged."""
    return get_backend().entry_of_function(entry) if isinstance(entry, FunctionType) else entry


def native_entries(slot: tuple[Any, ...]) -> tuple[Callable[..., Any], ...]:
    """Return the entries in a slot: they follow the counter, the gate, the Python function and the names."""
    return slot[4:]


def _install(owner: Any) -> bool:
    """Replace `__call__` of the class `owner` by native code; return whether that was possible."""
    slot, methods = (_offset(owner, name) for name in ("_native_entries", "_methods"))
    if slot is None or methods is None:
        return False
    call = get_backend().dispatch_method(
        Dispatch(
            owner=owner, slot=slot, methods=methods, handle_miss=owner.__call__,
            handle_failure=owner._handle_failure, handle_raised_flags=owner._handle_raised_flags,
            detour=DETOUR, busy=BUSY, error_variable=ERROR_STATE, default_errors=DEFAULT_ERROR_STATE,
            has_actions=has_expected_layout(),
        )
    )  # fmt: skip
    if call is not None:
        owner.__call__ = call
    return call is not None


def _offset(owner: type, name: str) -> int | None:
    """Return the offset in bytes of the slot `name` in objects of a class; None if it cannot be found."""
    instance: Any = object.__new__(owner)
    mark = ("mark",)
    setattr(instance, name, mark)
    words = (ctypes.c_void_p * (owner.__basicsize__ // 8)).from_address(id(instance))
    offsets = [8 * i for i, word in enumerate(words) if word == id(mark)]
    return offsets[0] if len(offsets) == 1 else None
