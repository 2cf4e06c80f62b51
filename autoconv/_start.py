"""First code to run: it keeps the current folder out of the command line's imports, and guards lazy imports.

At module level only modules that need no loading may be imported here: `sys` and `os`, which are loaded before the
first line of any program, and modules that are part of the interpreter.
"""

from __future__ import annotations

import _frozen_importlib
import _thread
import gc
import os
import sys

TYPE_CHECKING = False  # the name that type checkers take for true
if TYPE_CHECKING:
    from typing import Any

LOADED_BEFORE_AUTOCONV = frozenset(sys.modules)
"""Names of the modules loaded before autoconv imported anything."""


def leave_current_folder() -> None:
    """Remove the current folder from `sys.path`, only if this process is the `autoconv` command.

    `python -m autoconv` puts that folder first, and PYTHONPATH may name it: a user's own gast.py or numpy.py would then
    be imported instead of the library. The folder of autoconv itself stays, so that an installation by `pip install
    --target` works from within.
    """
    if not _is_command():
        return
    current_folder = os.path.realpath(os.curdir)
    if current_folder == os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        return
    inherited_path = os.environ.get("PYTHONPATH", "")
    inherited_count = inherited_path.count(os.pathsep) + 1 if inherited_path else 0
    leading_count = inherited_count + (0 if sys.flags.safe_path else 1)  # the program's folder comes first
    entries = sys.path[:leading_count]
    sys.path[:leading_count] = [entry for entry in entries if os.path.realpath(entry or os.curdir) != current_folder]


_is_quiet = False


def end_quietly_while_loading() -> None:
    """Let ctrl-C end the `autoconv` command without a message, until `restore_interrupts` is called.

    Call it after the current folder has left `sys.path`, which may contain a user's signal.py.
    """
    global _is_quiet
    if not _is_command():
        return
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _is_quiet = True


def restore_interrupts() -> None:
    """Make ctrl-C raise KeyboardInterrupt again."""
    global _is_quiet
    if not _is_quiet:
        return
    import signal

    signal.signal(signal.SIGINT, signal.default_int_handler)
    _is_quiet = False


def _is_command() -> bool:
    """Return whether the program is the console script, or `python -m autoconv` during its start."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m":
        return _find_module_option(sys.orig_argv[1:]) in ("autoconv", "autoconv.__main__")
    name = os.path.basename(program).lower()
    return name in ("autoconv", "autoconv.exe", "autoconv-script.py")


def _find_module_option(arguments: list[str]) -> str:
    """Return the module after -m among the interpreter's own options (`-Bm autoconv`, `-X dev -mautoconv`)."""
    remaining_arguments = iter(arguments)
    for argument in remaining_arguments:
        if argument.startswith("--"):
            next(remaining_arguments, "")  # --check-hash-based-pycs, the only long option with a separate value
            continue
        for position, letter in enumerate(argument[1:], start=2):
            if letter == "m":
                return argument[position:] or next(remaining_arguments, "")
            if letter in "WX":
                if not argument[position:]:
                    next(remaining_arguments, "")
                break
    return ""


# ---- lazy imports and forks

IMPORT_TIMEOUT = 60.0  # seconds that a fork waits for another thread that imports a module
_LOCK_TIMEOUT = 5.0  # seconds that an import waits for one of another thread

_MAX_OBJECTS_BEFORE = 100_000  # objects that are returned to the garbage collector after an import, in some 20 ms
# Classes of the methods, special methods, properties and members of extension types.
_PARTS_OF_TYPES = frozenset((type(str.upper), type(str.__add__), type(BaseException.args), type(slice.start)))
_has_frozen = False  # whether an import of this package has frozen objects

IMPORT_LOCK = _thread.RLock()
"""The lock of lazy imports."""


class LazyImport:
    """Guard for imports that any thread may perform at any time: a fork waits for them.

    A child would inherit Python's own lock of the module. A thread that holds that lock may wait for this thread;
    therefore the import continues without the lock of lazy imports after a timeout. During the import, garbage
    collection is disabled: objects of modules stay alive, and to examine them takes a tenth of the time. They are not
    examined right afterwards either.
    If `freezes`, they are never examined, because each full collection would take tens of milliseconds longer.
    """

    def __init__(self, freezes: bool = False) -> None:
        self._freezes = freezes

    def __enter__(self) -> None:
        self._is_acquired = IMPORT_LOCK.acquire(timeout=_LOCK_TIMEOUT)
        self._was_enabled = gc.isenabled()
        gc.disable()
        # Objects that other threads make during the import are not frozen: they may become garbage.
        may_freeze = self._freezes and self._was_enabled and not _thread._count()
        self._objects_before = gc.get_objects() if may_freeze else []

    def __exit__(self, *error: object) -> None:
        if self._was_enabled:
            _spare_collections(self._objects_before)
            gc.enable()
        self._objects_before = []
        if self._is_acquired:
            IMPORT_LOCK.release()


def _spare_collections(objects_before: list[object]) -> None:
    """Keep the garbage collector from examining the tens of thousands of objects that modules make.

    It would examine them twice on their way to the oldest generation, for 40 ms each, and in each full collection. If
    `objects_before`, the objects before the import, are given and not too many, all others are frozen. Else all are
    moved to the oldest generation. If the program has frozen objects, nothing is moved.
    """
    global _has_frozen
    if not _has_frozen and gc.get_freeze_count():
        return
    if 0 < len(objects_before) < _MAX_OBJECTS_BEFORE:
        gc.freeze()
        _unfreeze(objects_before)
        _has_frozen = True
    elif not _has_frozen:
        gc.freeze()
        gc.unfreeze()


def _unfreeze(objects: list[Any]) -> None:
    """Return objects to the garbage collector's oldest generation; Python itself only unfreezes all at once.

    Functions without cells and parts of extension types stay frozen: no cycle that is worth freeing contains them.
    """
    from ctypes import PYFUNCTYPE, c_void_p, pythonapi  # loaded by now

    prototype, function_type = PYFUNCTYPE(None, c_void_p), type(_unfreeze)
    untrack, track = (prototype((f"PyObject_GC_{name}", pythonapi)) for name in ("UnTrack", "Track"))
    for value in objects:
        kind = type(value)
        if kind in _PARTS_OF_TYPES or (kind is function_type and value.__closure__ is None) or not gc.is_tracked(value):
            continue
        untrack(id(value))  # by its address, since ctypes reads the `__class__` of an object
        track(id(value))  # in the youngest generation
    gc.collect(1)


def forget_unfinished_imports() -> None:
    """Let a forked child import the modules that other threads were importing.

    Their locks would stay acquired for ever.
    """
    this_thread, module_locks = _thread.get_ident(), _module_locks()
    for name, lock_reference in list(module_locks.items()):
        if getattr(lock_reference(), "owner", None) not in (None, this_thread):
            del module_locks[name]
            if name in sys.modules and not is_imported(name):
                del sys.modules[name]


def is_imported(name: str) -> bool:
    """Return whether a module is imported, and its import has ended."""
    specification = getattr(sys.modules.get(name), "__spec__", None)
    return name in sys.modules and not getattr(specification, "_initializing", False)


def have_other_threads_imports() -> bool:
    """Return whether other threads are importing modules, and this thread is not."""
    owners = {getattr(lock_reference(), "owner", None) for lock_reference in list(_module_locks().values())}
    return bool(owners - {None}) and _thread.get_ident() not in owners


def _module_locks() -> dict:
    """Return Python's own locks of modules that are being imported, as weak references, by name."""
    return getattr(_frozen_importlib, "_module_locks", {})
