"""Machine code in this process: compile it, or take it from the disk cache, and load it."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.backends.llvm.jit import compiler, helper
from autoconv.backends.llvm.jit.compiler import PIPELINE_VERSION
from autoconv.backends.llvm.jit.elf_loader import LoadedCode, Unlinkable
from autoconv.backends.llvm.jit.machine_code import binding, linking_machine
from autoconv.backends.llvm.target.abi import symbols
from autoconv.backends.llvm.target.cpu import description
from autoconv.code_cache import NATIVE
from autoconv.config import SETTINGS
from autoconv.forks import COMPILATION, after_fork, new_lock
from autoconv.helper_process import HelperUnavailable

_LIBRARY_NUMBERS = itertools.count()
_LOCK = new_lock(order=COMPILATION)  # LLVM's global context is not thread-safe
after_fork(helper.drop_helper)  # it belongs to the parent
_PROCESSOR_FIELDS = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags", "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part", "Features",
)  # fmt: skip
_LIBRARIES_PER_LINKER = 16  # libraries that share a linker: each leaves 9 KB in it until the last of them is dropped


class Code:
    """Loaded machine code, valid as long as this object lives.

    `address(name)` returns the address of an exported function or global. `texts` are modules that refer to each other,
    with the level of each: 3 for speed, 1 for a short compilation, 0 for the shortest. `imports` maps declared names to
    addresses; the names of abi.symbols need none. Compiled code is cached on disk (see code_cache).
    """

    def __init__(
        self, texts: Mapping[str, int], exports: Sequence[str], imports: Mapping[str, int] | None = None
    ) -> None:
        with _LOCK:
            prepare_object_files(texts)
            object_files = [_OBJECT_FILES.pop(text) for text in texts]
        self._load(object_files, declarations_of(texts), exports, imports or {})

    @classmethod
    def of_object_files(
        cls, object_files: Sequence[bytes], declarations: str, exports: Sequence[str], imports: Mapping[str, int]
    ) -> Code:
        """Return the code of object files, whose texts had these declarations (see `declarations_of`)."""
        code = cls.__new__(cls)
        code._load(object_files, declarations, exports, imports)
        return code

    def _load(
        self, object_files: Sequence[bytes], declarations: str, exports: Sequence[str], imports: Mapping[str, int]
    ) -> None:
        """Load object files, with the addresses of the names that the declarations have."""
        all_symbols = {**symbols(), **imports}
        # Only names that are used: each name that LLVM's linker is given costs a kilobyte.
        used_symbols = {name: all_symbols[name] for name in all_symbols if name in declarations}
        self._library = load_object_files(object_files, used_symbols, exports)

    def address(self, name: str) -> int:
        return self._library.address(name)


# A line that declares a function, an intrinsic (which LLVM may replace by a function) or a variable of another text.
_DECLARATION = re.compile(r"^(?:declare |@[^=\n]*= external ).*", re.MULTILINE)


def declarations_of(texts: Iterable[str]) -> str:
    """Return the lines of texts that declare what other texts or libraries define."""
    return "\n".join(dict.fromkeys(line for text in texts for line in _DECLARATION.findall(text)))


def load_object_files(
    codes: Sequence[bytes], imports: Mapping[str, int], exports: Sequence[str]
) -> LoadedCode | _LinkedCode:
    """Load object files, whose exported names have addresses for as long as the result lives."""
    try:
        return LoadedCode(codes, imports)
    except Unlinkable:
        return _LinkedCode(codes, imports, exports)


class NoMachineCode(Exception):
    """Raised if LLVM makes no machine code of a text at any level; `str()` gives the reason."""


# Errors of compiling and loading: no machine code for a text, or no memory, files or process from the system.
COMPILATION_ERRORS = (NoMachineCode, MemoryError, OSError)
_OBJECT_FILES: dict[str, bytes] = {}  # object files by text, until they are loaded
_FAILURES: dict[str, str] = {}  # cache key -> why there is no machine code of the text
_DOWNGRADES: dict[str, str] = {}  # text -> why it was compiled at a lower level


def prepare_object_files(texts: Mapping[str, int]) -> None:
    """Obtain the object files of texts for `Code` to load, from the disk or by compiling them concurrently.

    Raises NoMachineCode.
    """
    texts = {text: min(level, SETTINGS.llvm_level) for text, level in texts.items()}
    with _LOCK:
        keys = {text: _cache_key(text, level) for text, level in texts.items() if text not in _OBJECT_FILES}
        for text, key in keys.items():
            stored_code = NATIVE.load(key)
            if stored_code is not None:
                _OBJECT_FILES[text] = stored_code
        new_texts = [(text, texts[text]) for text in keys if text not in _OBJECT_FILES]
        for text, _ in new_texts:
            if keys[text] in _FAILURES:
                raise NoMachineCode(_FAILURES[keys[text]])
        for (text, level), result in zip(new_texts, _compile_texts(new_texts) if new_texts else (), strict=True):
            code = (
                _compile_at_lower_level(text, level, result, keys[text])
                if isinstance(result, helper.HelperEnded)
                else result
            )
            if isinstance(code, BaseException):
                raise code
            NATIVE.store(keys[text], code)
            _OBJECT_FILES[text] = code


def begin_compilation(text: str, level: int) -> None:
    """Compile a text in the background if it is not on the disk; `prepare_object_files` waits for the result.

    Without effect if another thread compiles, or if there is no helper.
    """
    level = min(level, SETTINGS.llvm_level)
    if not SETTINGS.helper or not _LOCK.acquire(blocking=False):
        return
    try:
        stored_code = NATIVE.load(_cache_key(text, level))
        if stored_code is not None:
            _OBJECT_FILES[text] = stored_code
        else:
            helper.begin(text, level)
    finally:
        _LOCK.release()


def object_file_keys(texts: Mapping[str, int]) -> list[str]:
    """Return the keys by which the disk cache has the object files of texts."""
    return [_cache_key(text, min(level, SETTINGS.llvm_level)) for text, level in texts.items()]


def stored_object_files(keys: Sequence[str]) -> list[bytes] | None:
    """Return the object files of the keys from the disk; None if one is missing."""
    object_files = []
    for key in keys:
        object_file = NATIVE.load(key)
        if object_file is None:
            return None
        object_files.append(object_file)
    return object_files


def _cache_key(text: str, level: int) -> str:
    """Return the key of the machine code of a text in the cache on disk."""
    return hashlib.sha256(f"{level}\0{_fingerprint()}\0{text}".encode()).hexdigest()


def _compile_at_lower_level(text: str, level: int, error: helper.HelperEnded, key: str) -> bytes | BaseException:
    """Compile a text at a lower level, after LLVM ended its process over it at `level`, or took too long."""
    lower_levels = range(level)[::-1]
    for fallback in lower_levels[-1:] if error.is_late else lower_levels:  # after a timeout, only the shortest one
        (result,) = _compile_texts([(text, fallback)])
        if not isinstance(result, helper.HelperEnded):
            _DOWNGRADES[text] = f"compiled at level {fallback}, not {level}: {error}"
            return result
    _FAILURES[key] = str(error)
    return NoMachineCode(str(error))


def compilation_notes(texts: Iterable[str]) -> list[str]:
    """Return the texts' notes on compilation at lower levels."""
    return [_DOWNGRADES[text] for text in texts if text in _DOWNGRADES]


def _compile_texts(modules: Sequence[tuple[str, int]]) -> list[bytes | BaseException]:
    """Compile in the helper; in this process if no helper can be started, or none is wanted."""
    if SETTINGS.helper:
        try:
            return helper.object_files(modules)
        except HelperUnavailable:
            pass
    return compiler.object_files(modules)


def start_helper() -> None:
    """Start the process that LLVM runs in, without waiting for it."""
    if SETTINGS.helper and _LOCK.acquire(blocking=False):  # else a compilation runs, which starts the helper itself
        try:
            helper.start()
        finally:
            _LOCK.release()


class _LinkedCode:
    """Code loaded by LLVM's linker, which supports every format, with the interface of `LoadedCode`."""

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
            number = next(_LIBRARY_NUMBERS)
            self._tracker = library.link(_linker(number // _LIBRARIES_PER_LINKER), f"autoconv{number}")

    def address(self, name: str) -> int:
        return int(self._tracker[name])


@functools.lru_cache(maxsize=1)
def _linker(batch: int) -> Any:
    """Return the linker of a batch of libraries, which all keep it alive."""
    return binding().create_lljit_compiler(linking_machine(), use_jit_link=False, suppress_errors=False)


@functools.cache
def _fingerprint() -> str:
    """Return the versions and the processor on which machine code of a text depends.

    LLVM is not loaded for that: cached code does not need it.
    """
    import llvmlite  # light: only for its version

    python = sys.version_info[:2]
    return repr((llvmlite.__version__, sys.platform, processor(), python, np.__version__, PIPELINE_VERSION))


def processor() -> str:
    """Return a description of the processor, its instructions above all: the system's, else LLVM's."""
    fields = description()
    if "flags" in fields or "Features" in fields:
        return repr([fields.get(key) for key in _PROCESSOR_FIELDS])
    return repr((binding().get_host_cpu_name(), binding().get_host_cpu_features().flatten()))


def native_entry(address: int, name: str, kept_objects: Any) -> Any:
    """Return the METH_FASTCALL function at `address` as a Python callable, which keeps `kept_objects` alive."""
    definition = MethodDefinition(name.encode(), address, METH_FASTCALL, None)
    new_function = ctypes.pythonapi.PyCFunction_NewEx
    new_function.restype, new_function.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    owner = (definition, kept_objects)
    return new_function(ctypes.addressof(definition), owner, None)


METH_FASTCALL = 0x0080  # a flag of functions, from CPython's methodobject.h


class MethodDefinition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )
