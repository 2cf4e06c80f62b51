"""Native `__call__`, which dispatches calls of functions to native code without running Python code.

An object's slot holds a tuple: a cell that counts calls, a gate of four numbers, a plain function, the names of the
parameters, and entries (see engine.native_entry). Entries are called in turn until one does not return NotImplemented.
Keyword arguments are moved to the positions of their names, which are compared by identity. The numbers of the gate
are:

1. the number of calls that may still pass;
2. nonzero if these calls run the plain function instead, unless graphs are being recorded;
3. nonzero if calls stop while a context variable has a value by which floating-point errors do more than warn;
4. the largest number of positional arguments.

A second slot, if it is filled, has a mapping from identities of instances to pairs: a weak reference, and an object of
the same class, the method of that instance. A call whose first argument is such an instance becomes a call of its
method with the other arguments.

`handle_miss(self, *args, **kwargs)` handles calls that no entry takes, that the gate stops, or that run while `detour`
is not 0. It also handles calls whose keyword arguments leave a gap, or have other names. An exception of an entry
goes to `handle_failure(self, entry, error, *args)`. If the third number is not 0 and flags of floating-point errors are
set after an entry, they are cleared, and the call returns the result of `handle_raised_flags(self, entry, result,
flags, *args)`. Flags of errors that NumPy is configured to ignore do not count.

NumPy's state is a capsule of a number with three bits for each kind of error, the action (`has_actions`). If NumPy has
another layout, calls stop while the variable differs from its default.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.jit.engine import METH_FASTCALL, MethodDefinition, native_entry
from autoconv.backends.llvm.runtime import float_flags
from autoconv.backends.llvm.runtime.llvm_text import read
from autoconv.backends.protocol import Dispatch

_DEFINITION_OFFSET, _OWNER_OFFSET = 16, 24  # offsets in bytes in a builtin function object
_KEPT_OBJECTS_OFFSET = 32  # offset of the second item in the tuple that owns an entry
# Offsets of the buffer in a ctypes object, of the referent in a weak reference, and of the flags in a class.
_BUFFER_OFFSET, _REFERENT_OFFSET, _FLAGS_OFFSET = 16, 16, 168
_METHOD_DESCRIPTOR = 1 << 17  # Py_TPFLAGS_METHOD_DESCRIPTOR
_FASTCALL_WITH_KEYWORDS = METH_FASTCALL | 0x0002  # METH_KEYWORDS
_STACK_ARGUMENTS = 1024  # arguments that are copied to the stack; more go to the heap
# The functions and global variables of the code; `dispatching_method` sets the variables.
SYMBOLS = [
    "dispatch", "call_python_entry", "take_float_errors", "dispatch_miss_handler", "dispatch_failure_handler",
    "dispatch_not_implemented", "dispatch_slot", "dispatch_methods", "dispatch_detour", "dispatch_busy",
    "dispatch_error_variable", "dispatch_default_errors", "dispatch_has_actions", "dispatch_flags_handler",
]  # fmt: skip
_GATE, _PLAIN, _NAMES, _ENTRIES = range(1, 5)  # positions in the slot's tuple
# Bits of NumPy's error state by which calls stop. Each kind of error has an octal digit, in which the bit 1 is a
# warning: from the right, division, overflow, underflow, invalid value. Graphs do not warn of underflow, so a warning
# of it stops calls too.
_BEYOND_WARNINGS = 0o6766


@functools.cache
def text() -> str:
    """Return the LLVM text of the dispatch code."""
    dispatch = read(
        "call_dispatch", DEFINITION=_DEFINITION_OFFSET, OWNER=_OWNER_OFFSET, BUFFER=_BUFFER_OFFSET,
        REFERENT=_REFERENT_OFFSET, KEPT_OBJECTS=_KEPT_OBJECTS_OFFSET,
        MOST_ON_STACK=_STACK_ARGUMENTS, GATE=_GATE, PLAIN=_PLAIN, NAMES=_NAMES, ENTRIES=_ENTRIES,
        BEYOND_WARNINGS=_BEYOND_WARNINGS,
    )  # fmt: skip
    return f"{dispatch}\n{float_flags.text()}"


_TAKE_FLOAT_ERRORS: list[Callable[[], int]] = []  # the native function, once it is loaded
_KEPT_OBJECTS: list[Any] = []  # objects that machine code refers to


def dispatching_method(address: Callable[[str], int], dispatch: Dispatch) -> Any:
    """Return the method descriptor that replaces the `__call__` of a class.

    `address(name)` is the address of a name of SYMBOLS in the loaded code. A process has one such class.
    """
    definition = MethodDefinition(b"__call__", address("dispatch"), _FASTCALL_WITH_KEYWORDS, None)
    _KEPT_OBJECTS.extend((definition, dispatch))
    for name, value in (
        ("miss_handler", id(dispatch.handle_miss)), ("failure_handler", id(dispatch.handle_failure)),
        ("flags_handler", id(dispatch.handle_raised_flags)), ("not_implemented", id(NotImplemented)),
        ("slot", dispatch.slot), ("methods", dispatch.methods),
        ("detour", ctypes.addressof(dispatch.detour)), ("busy", ctypes.addressof(dispatch.busy)),
        ("error_variable", id(dispatch.error_variable)), ("default_errors", id(dispatch.default_errors)),
        ("has_actions", dispatch.has_actions),
    ):  # fmt: skip
        ctypes.c_int64.from_address(address(f"dispatch_{name}")).value = value
    new_descriptor = ctypes.pythonapi.PyDescr_NewMethod
    new_descriptor.restype, new_descriptor.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_void_p]
    return new_descriptor(dispatch.owner, ctypes.addressof(definition))


def take_float_errors(address: Callable[[str], int]) -> int:
    """Return the flags of floating-point errors in this thread, and clear them."""
    if not _TAKE_FLOAT_ERRORS:
        _TAKE_FLOAT_ERRORS.append(ctypes.PYFUNCTYPE(ctypes.c_int64)(address("take_float_errors")))
    return int(_TAKE_FLOAT_ERRORS[0]())


def is_dispatchable(entry: Any) -> bool:
    """Return whether an entry has the memory layout that the code expects."""
    address, owner = id(entry), getattr(entry, "__self__", None)
    if type(entry) is not type(len) or not isinstance(owner, tuple):
        return False
    if _read_word(address + _OWNER_OFFSET) != id(owner):
        return False
    return _read_word(address + _DEFINITION_OFFSET) == ctypes.addressof(owner[0])


def mark_method_descriptor(class_: type) -> bool:
    """Let calls of methods pass the instance to objects of a class directly, without binding them first.

    Return False, and change nothing, if classes or weak references do not have the expected layout.
    """
    flags, reference = ctypes.c_ulong.from_address(id(class_) + _FLAGS_OFFSET), weakref.ref(class_)
    if flags.value != class_.__flags__ or _read_word(id(reference) + _REFERENT_OFFSET) != id(class_):
        return False
    flags.value |= _METHOD_DESCRIPTOR
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(class_))
    return True


def entry_of_function(address: Callable[[str], int], function: Callable[..., Any]) -> Any:
    """Return a Python function as an entry that the code can call."""
    return native_entry(address("call_python_entry"), function.__name__, function)


def is_readable(cell: Any) -> bool:
    """Return whether a ctypes number or array has the memory layout that the code expects."""
    return _read_word(id(cell) + _BUFFER_OFFSET) == ctypes.addressof(cell)


def _read_word(address: int) -> int | None:
    """Return the word at an address; None for 0."""
    return ctypes.c_void_p.from_address(address).value
