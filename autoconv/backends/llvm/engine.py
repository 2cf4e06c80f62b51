"""Machine code in this process: compiled, or kept from an earlier one, and loaded."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm import compiler, helper
from autoconv.backends.llvm.abi import symbols
from autoconv.backends.llvm.compiler import PIPELINE
from autoconv.backends.llvm.loader import Loaded, Unlinkable
from autoconv.backends.llvm.machine_code import binding, linking_machine
from autoconv.code_cache import NATIVE
from autoconv.config import SETTINGS
from autoconv.forks import COMPILATION, after_fork, new_lock

_COUNT = itertools.count()
_LOCK = new_lock(waited=COMPILATION)  # LLVM's global context is not for two threads at once
after_fork(helper.forget)  # it is the parent's
_PROCESSOR = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part", "Features",
)  # fmt: skip
_LIBRARIES = 16  # that share a linker: what is dropped leaves 9 KB in it, until the last of them goes


class Code:
    """Loaded machine code: `address(name)` of an exported function or global. It lives as long as this object.

    `texts` are those of modules that refer to each other, with what each is compiled for: 3 for speed, 1 for a short
    compilation, 0 for the shortest. `imports` are addresses by the names that they declare, besides those of
    abi.symbols. Compiled code is kept on disk (see code_cache).
    """

    def __init__(
        self, texts: Mapping[str, int], exports: Sequence[str], imports: Mapping[str, int] | None = None
    ) -> None:
        with _LOCK:
            make_ready(texts)
            codes = [_READY.pop(text) for text in texts]
        known = {**symbols(), **(imports or {})}
        try:
            self._library: Loaded | _Linked = Loaded(codes, known)
        except Unlinkable:
            # Each name that a library of LLVM's knows costs it a kilobyte.
            wanted = {name: at for name, at in known.items() if any(name in text for text in texts)}
            self._library = _Linked(codes, wanted, exports)

    def address(self, name: str) -> int:
        return self._library.address(name)


class NoMachineCode(Exception):
    """LLVM makes no machine code of a text, whatever it is to leave undone; `str()` says why."""


_READY: dict[str, bytes] = {}  # what was made ready, until it is loaded
_NONE: dict[str, str] = {}  # by key, why there is no machine code of a text
_LESS: dict[str, str] = {}  # by text, why it was compiled for less than it was to be
_LOWER = {3: (2, 1, 0), 1: (0,), 0: ()}  # what is tried next where LLVM ends over a text


def make_ready(texts: Mapping[str, int]) -> None:
    """Reads the object files of texts from the disk, or compiles them, side by side, for `Code` to load. Raises
    NoMachineCode."""
    with _LOCK:
        keys = {
            text: hashlib.sha256(f"{level}\0{_fingerprint()}\0{text}".encode()).hexdigest()
            for text, level in texts.items()
            if text not in _READY
        }
        for text, key in keys.items():
            kept = NATIVE.load(key)
            if kept is not None:
                _READY[text] = kept
        missing = [(text, texts[text]) for text in keys if text not in _READY]
        for text, _ in missing:
            if keys[text] in _NONE:
                raise NoMachineCode(_NONE[keys[text]])
        for (text, level), made in zip(missing, _object_files(missing) if missing else (), strict=True):
            code = _with_less(text, level, made, keys[text]) if isinstance(made, helper.Ended) else made
            if isinstance(code, BaseException):
                raise code
            NATIVE.store(keys[text], code)
            _READY[text] = code


def _with_less(text: str, level: int, ended: helper.Ended, key: str) -> bytes | BaseException:
    """The text compiled for less, as LLVM ended over it."""
    for lower in _LOWER[level][-1:] if ended.is_late else _LOWER[level]:
        (made,) = _object_files([(text, lower)])
        if not isinstance(made, helper.Ended):
            _LESS[text] = f"compiled at level {lower}, not {level}: {ended}"
            return made
    _NONE[key] = str(ended)
    return NoMachineCode(str(ended))


def notes(texts: Iterable[str]) -> list[str]:
    """Of which texts LLVM made less than it was to, and why."""
    return [_LESS[text] for text in texts if text in _LESS]


def _object_files(modules: Sequence[tuple[str, int]]) -> list[bytes | BaseException]:
    """Compiled by the helper; where no process can be started, here."""
    if SETTINGS.helper:
        try:
            return helper.object_files(modules)
        except helper.Unavailable:
            pass
    return compiler.object_files(modules)


def warm_up() -> None:
    """Loads LLVM, if it is not there."""
    with _LOCK:
        _object_files([])


class _Linked:
    """What `Loaded` is, by LLVM's linker, which knows every format."""

    def __init__(self, codes: Sequence[bytes], imports: Mapping[str, int], exports: Sequence[str]) -> None:
        with _LOCK:
            library = binding().JITLibraryBuilder()
            for code in codes:
                library.add_object_img(code)
            for name, address in imports.items():
                library.import_symbol(name, address)
            library.add_current_process()
            for name in exports:
                library.export_symbol(name)
            number = next(_COUNT)
            self._tracker = library.link(_linker(number // _LIBRARIES), f"autoconv{number}")

    def address(self, name: str) -> int:
        return int(self._tracker[name])


@functools.lru_cache(maxsize=1)
def _linker(batch: int) -> Any:
    """The linker of the libraries of that batch; it lives on as long as one of them does."""
    return binding().create_lljit_compiler(linking_machine(), use_jit_link=False, suppress_errors=False)


@functools.cache
def _fingerprint() -> str:
    """What machine code depends on besides its text: found without LLVM, which code that was kept does not need."""
    import llvmlite  # its version alone: light

    return repr((llvmlite.__version__, sys.platform, _processor(), sys.version_info[:2], np.__version__, PIPELINE))


@functools.cache
def instructions() -> frozenset[str]:
    """The sets of instructions that the system says its first processor has; none where it says nothing."""
    told = _told()
    return frozenset((told.get("flags") or told.get("Features") or "").split())


@functools.cache
def has_half() -> bool:
    """Whether this machine turns numbers of 16 bits into float32 and back by instructions of its own."""
    return "f16c" in instructions() or platform.machine().lower() in ("aarch64", "arm64")


@functools.cache
def has_ldexp() -> bool:
    """Whether LLVM makes a single instruction of `llvm.ldexp`, for vectors too: the one that llvmlite 0.50 came with
    does where AVX-512 has one."""
    import llvmlite  # its version alone: light

    version = tuple(int(part) for part in llvmlite.__version__.split(".")[:2] if part.isdigit())
    return {"avx512f", "avx512vl"} <= instructions() and version >= (0, 50)


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
    return repr((binding().get_host_cpu_name(), binding().get_host_cpu_features().flatten()))


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
