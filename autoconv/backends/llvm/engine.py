"""From LLVM's text to machine code that is loaded into this process."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.abi import symbols
from autoconv.backends.llvm.loader import Loaded, Unlinkable
from autoconv.code_cache import NATIVE

_COUNT = itertools.count()
_LOCK = threading.RLock()  # LLVM's global context is not for two threads at once
_PIPELINE = 3  # the version of what _compiled does
_PROCESSOR = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part", "Features",
)  # fmt: skip
_LIBRARIES = 16  # that share a linker: what is dropped leaves 9 KB in it, until the last of them goes


class Code:
    """Loaded machine code: `address(name)` of an exported function or global. It lives as long as this object.

    `level` is 3 for speed, 1 for a short compilation, 0 for the shortest. `imports` are addresses by the names that the
    text declares, besides those of abi.symbols. Compiled code is kept on disk (see code_cache).
    """

    def __init__(
        self, text: str, exports: Sequence[str], level: int, imports: Mapping[str, int] | None = None
    ) -> None:
        with _LOCK:
            key = hashlib.sha256(f"{level}\0{_fingerprint()}\0{text}".encode()).hexdigest()
            code = NATIVE.load(key)
            if code is None:
                code = _compiled(text, level)
                NATIVE.store(key, code)
        known = {**symbols(), **(imports or {})}
        try:
            self._library: Loaded | _Linked = Loaded(code, known)
        except Unlinkable:
            # Each name that a library of LLVM's knows costs it a kilobyte.
            self._library = _Linked(code, {name: at for name, at in known.items() if name in text}, exports)

    def address(self, name: str) -> int:
        return self._library.address(name)


class _Linked:
    """What `Loaded` is, by LLVM's linker, which knows every format."""

    def __init__(self, code: bytes, imports: Mapping[str, int], exports: Sequence[str]) -> None:
        with _LOCK:
            library = _binding().JITLibraryBuilder().add_object_img(code)
            for name, address in imports.items():
                library.import_symbol(name, address)
            library.add_current_process()
            for name in exports:
                library.export_symbol(name)
            number = next(_COUNT)
            self._tracker = library.link(_linker(number // _LIBRARIES), f"autoconv{number}")

    def address(self, name: str) -> int:
        return int(self._tracker[name])


@functools.cache
def _binding() -> Any:
    """llvmlite's binding, ready; imported when native code is first made."""
    import llvmlite.binding as binding  # heavy: 30 to 130 ms

    for start in ("initialize_native_target", "initialize_native_asmprinter"):
        getattr(binding, start)()
    return binding


@functools.lru_cache(maxsize=1)
def _linker(batch: int) -> Any:
    """The linker of the libraries of that batch; it lives on as long as one of them does."""
    return _binding().create_lljit_compiler(_machine(3), use_jit_link=False, suppress_errors=False)


@functools.cache
def _fingerprint() -> str:
    """What machine code depends on besides its text: found without LLVM, which code that was kept does not need."""
    import llvmlite  # its version alone: light

    return repr((llvmlite.__version__, sys.platform, _processor(), sys.version_info[:2], np.__version__, _PIPELINE))


@functools.cache
def instructions() -> frozenset[str]:
    """The sets of instructions that the system says its first processor has; none where it says nothing."""
    told = _told()
    return frozenset((told.get("flags") or told.get("Features") or "").split())


@functools.cache
def _told() -> dict[str, str]:
    """What the system says of its first processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = list(itertools.takewhile(str.strip, file))
    except OSError:
        lines = []
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _processor() -> str:
    """What the system says of its first processor, its instructions above all; else what LLVM does."""
    told = _told()
    if "flags" in told or "Features" in told:
        return repr([told.get(key) for key in _PROCESSOR])
    binding = _binding()
    return repr((binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()))


@functools.cache
def _machine(level: int) -> Any:
    binding = _binding()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=level, jit=True
    )


def _compiled(text: str, level: int) -> bytes:
    """The object file of a module's text."""
    binding, machine = _binding(), _machine(level)
    module = binding.parse_assembly(text)
    if not level:
        return bytes(machine.emit_object(module))
    # One for each module: what a run registers with it stays there.
    builder = binding.create_pass_builder(machine, _options(level))
    manager = builder.getModulePassManager()
    manager.run(module, builder)
    code = bytes(machine.emit_object(module))
    _dispose(manager)
    return code


@functools.cache
def _options(level: int) -> Any:
    options = _binding().create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level > 1
    options.loop_interleaving = options.loop_unrolling = level > 1
    return options


def _dispose(manager: Any) -> None:
    """Frees a pass manager: up to llvmlite 0.50 its own `close` calls an empty method, and 45 KB a module stay."""
    _binding().newpassmanagers.NewPassManager._dispose(manager)
    manager.detach()


def native_entry(address: int, name: str, keep: Any) -> Any:
    """The METH_FASTCALL function at `address` as a Python callable; `keep` lives as long as it does."""
    definition = _MethodDefinition(name.encode(), address, 0x0080, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    owner = (definition, keep)
    return make(ctypes.addressof(definition), owner, None)


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )
