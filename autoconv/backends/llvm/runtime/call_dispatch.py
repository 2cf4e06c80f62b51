"""Native `__call__`: dispatch calls of functions to native code without a step through Python.

An object's slot holds a tuple: a cell that counts calls, a gate of three numbers, a plain function, and entries (see
engine.native_entry). Entries are called in turn until one does not return NotImplemented. The numbers of the gate are:

1. the number of calls that may still pass;
2. nonzero if these call the plain function instead, unless graphs are being recorded;
3. nonzero if calls stop while a context variable has a value by which floating-point errors do more than warn.

A second slot, if it is filled, holds a mapping from identities of instances to pairs of a weak reference and an object
of the same class: the method of that instance. A call whose first argument is such an instance is a call of its method
with the other arguments.

`slow(self, *args, **kwargs)` handles calls that no entry takes, that the gate stops, or that run while `detour` is not
0. It also handles calls with keyword arguments that do not go to the plain function. An exception of an entry goes to
`failed(self, entry, error, *args)`. Where the third number is not 0 and flags of floating-point errors are up after an
entry, they are cleared, and the call's result is that of `flagged(self, entry, found, flags, *args)`. Flags of errors
that NumPy is set to ignore do not count.

NumPy's state is a capsule of a number that has an action for each kind of error, in three bits each (`has_actions`).
Where a NumPy has another layout, calls stop while the variable has another value than its default.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.runtime import float_flags
from autoconv.backends.llvm.runtime.llvm_text import read
from autoconv.backends.protocol import Dispatch

_DEFINITION, _OWNER, _BUFFER = 16, 24, 16  # offsets in bytes in a builtin function object (two) and a ctypes object
_REFERENT, _FLAGS = 16, 168  # the same in a weak reference, and in a class
_METHOD_DESCRIPTOR = 1 << 17  # Py_TPFLAGS_METHOD_DESCRIPTOR
_MOST_ON_STACK = 1024  # arguments that are copied to the stack; more go to the heap
FUNCTIONS = [
    "dispatch", "dispatch_slow", "dispatch_failed", "dispatch_missing", "dispatch_slot", "dispatch_methods",
    "dispatch_detour", "dispatch_busy", "dispatch_variable", "dispatch_default", "dispatch_has_actions",
    "dispatch_flagged", "take_float_errors",
]  # fmt: skip
_GATE, _PLAIN, _ENTRIES = range(1, 4)  # positions in the tuple
_BEYOND_WARNINGS = 0o6766  # bits of actions: a warning is 1, more is 2 to 5; graphs do not warn of underflow


@functools.cache
def text() -> str:
    dispatch = read(
        "call_dispatch", DEFINITION=_DEFINITION, OWNER=_OWNER, BUFFER=_BUFFER, REFERENT=_REFERENT,
        MOST_ON_STACK=_MOST_ON_STACK, GATE=_GATE, PLAIN=_PLAIN, ENTRIES=_ENTRIES, BEYOND_WARNINGS=_BEYOND_WARNINGS,
    )  # fmt: skip
    return f"{dispatch}\n{float_flags.text()}"


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("text", ctypes.c_char_p),
    )  # fmt: skip


_TAKEN: list[Callable[[], int]] = []  # the native function, once it is loaded
_KEPT: list[Any] = []  # objects that machine code refers to


def dispatching_method(address: Callable[[str], int], dispatch: Dispatch) -> Any:
    """Return the method descriptor that replaces the `__call__` of a class.

    `address(name)` is the address of each of FUNCTIONS in the loaded code. A process has one such class.
    """
    definition = _MethodDefinition(b"__call__", address("dispatch"), 0x0080 | 0x0002, None)
    _KEPT.extend((definition, dispatch))
    for name, value in (
        ("slow", id(dispatch.slow)), ("failed", id(dispatch.failed)), ("missing", id(NotImplemented)),
        ("slot", dispatch.slot), ("methods", dispatch.methods),
        ("detour", ctypes.addressof(dispatch.detour)), ("busy", ctypes.addressof(dispatch.busy)),
        ("variable", id(dispatch.variable)), ("default", id(dispatch.default)), ("flagged", id(dispatch.flagged)),
        ("has_actions", dispatch.has_actions),
    ):  # fmt: skip
        ctypes.c_int64.from_address(address(f"dispatch_{name}")).value = value
    make = ctypes.pythonapi.PyDescr_NewMethod
    make.restype, make.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    return make(dispatch.owner, ctypes.addressof(definition))


def take_float_errors(address: Callable[[str], int]) -> int:
    """Return the flags of floating-point errors in this thread, and clear them."""
    if not _TAKEN:
        _TAKEN.append(ctypes.PYFUNCTYPE(ctypes.c_int64)(address("take_float_errors")))
    return int(_TAKEN[0]())


def is_dispatchable(entry: Any) -> bool:
    """Return whether an entry has the memory layout that the code expects."""
    at, own = id(entry), getattr(entry, "__self__", None)
    if type(entry) is not type(len) or not isinstance(own, tuple):
        return False
    return _word(at + _OWNER) == id(own) and _word(at + _DEFINITION) == ctypes.addressof(own[0])


def mark_method_descriptor(kind: type) -> bool:
    """Make Python call objects of a class with the instance, instead of binding them first, in calls of methods.

    Return False, and change nothing, where classes or weak references do not have the expected layout.
    """
    flags, reference = ctypes.c_ulong.from_address(id(kind) + _FLAGS), weakref.ref(kind)
    if flags.value != kind.__flags__ or _word(id(reference) + _REFERENT) != id(kind):
        return False
    flags.value |= _METHOD_DESCRIPTOR
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    return True


def is_readable(cell: Any) -> bool:
    """Return whether a ctypes number or array has the memory layout that the code expects."""
    return _word(id(cell) + _BUFFER) == ctypes.addressof(cell)


def _word(at: int) -> int | None:
    return ctypes.c_void_p.from_address(at).value
