"""Backends, each of which compiles graphs to functions; `protocol.py` has what they offer.

`BACKENDS` maps names to backends. A function may name a backend; other functions use the configured one.
"""

from __future__ import annotations

import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autoconv.backends.call_form import CallForm
from autoconv.backends.interpreter import Interpreter
from autoconv.backends.llvm.backend import NativeBackend
from autoconv.backends.protocol import Backend, CompiledGraph, LibraryCode, SymbolicCode, Unsupported
from autoconv.config import SETTINGS
from autoconv.config.devices import ACCELERATORS
from autoconv.config.placement import ACCELERATOR
from autoconv.graph.graph import Graph

REFERENCE = Interpreter()
_NATIVE = NativeBackend()
BACKENDS: dict[str, Backend] = {"llvm": _NATIVE, "reference": REFERENCE}
_OTHER_NAMES = {"native": "llvm"}
_LOADED_LATER = ("xla",)


def backend_named(name: str | None = None) -> Backend:
    """Return the backend of that name, without a name the configured one; `xla` is loaded when it is first asked for.

    Raises ValueError for an unknown name, and ImportError where a package is missing.
    """
    key = _OTHER_NAMES.get(name or SETTINGS.backend, name or SETTINGS.backend)
    if key not in BACKENDS:
        if key.partition(":")[0] not in _LOADED_LATER:
            names = sorted({*_OTHER_NAMES, *_LOADED_LATER, *BACKENDS} - set(_OTHER_NAMES.values()))
            raise ValueError(f"there is no backend {key!r}: there are {', '.join(names)}")
        backend: Backend = import_module("autoconv.backends.xla").XlaBackend(_NATIVE, key.partition(":")[2])
        BACKENDS[key] = backend
    return BACKENDS[key]


def checked_name(name: str | None) -> str | None:
    """Return the name of a backend, None for the configured one. Raises as `backend_named`."""
    if name is not None or SETTINGS.backend not in BACKENDS:
        backend_named(name)
    return name


def compile_graph(
    graph: Graph, form: CallForm | None = None, pool: int = 0, backend: str | None = None
) -> CompiledGraph:
    """Compile by a backend, the configured one if it is None.

    Where it does not run, warn once, and use native code from then on, or the reference in its place.
    """
    used = backend_named(backend)
    try:
        return used.compile(graph, form, pool)
    except Unsupported as error:
        other = REFERENCE if used is _NATIVE else _NATIVE
        warnings.warn(f"graphs run without the backend {used.name}: {error}", RuntimeWarning, stacklevel=2)
        BACKENDS.update({name: other for name, found in BACKENDS.items() if found is used})
        return compile_graph(graph, form, pool, backend)


@cache
def accelerators() -> tuple[str, ...]:
    """Return the names of the accelerators that a runtime of this process has, such as `GPU:0`."""
    return import_module("autoconv.backends.xla").accelerators() if find_spec("jaxlib") else ()  # type: ignore[no-any-return]


@cache
def accelerator(name: str) -> Any:
    """Return an accelerator, which compiles graphs for itself."""
    return import_module("autoconv.backends.xla").Accelerator(backend_named(f"xla:{name}"))


ACCELERATORS.set(accelerators)
ACCELERATOR.set(accelerator)


def library_code() -> LibraryCode:
    """Return what compiles object files for C, whichever backend runs graphs."""
    return next(library for backend in BACKENDS.values() if (library := backend.library) is not None)


def symbolic_code() -> SymbolicCode:
    """Return the code for any size, whichever backend runs graphs."""
    return next(symbolic for backend in BACKENDS.values() if (symbolic := backend.symbolic) is not None)


__all__ = [
    "BACKENDS", "REFERENCE", "accelerator", "accelerators", "backend_named", "checked_name", "compile_graph",
    "library_code", "symbolic_code",
]  # fmt: skip
