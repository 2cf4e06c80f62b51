"""Backends, each of which compiles graphs to functions; `protocol.py` defines their interface.

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
from autoconv.config.devices import ACCELERATOR_NAMES
from autoconv.config.placement import ACCELERATOR
from autoconv.graph.graph import Graph

REFERENCE = Interpreter()
_NATIVE = NativeBackend()
BACKENDS: dict[str, Backend] = {"llvm": _NATIVE, "reference": REFERENCE}
_ALIASES = {"native": "llvm"}
_LAZY_NAMES = ("xla",)  # of backends whose packages are imported at their first use


def get_backend(name: str | None = None) -> Backend:
    """Return the backend of that name; without a name, the configured one.

    `xla:GPU:0` is the backend `xla` for one device.

    Raises ValueError for an unknown name, and ImportError where a package is missing.
    """
    given_name = name or SETTINGS.backend
    full_name = _ALIASES.get(given_name, given_name)
    if full_name not in BACKENDS:
        base_name, _, device = full_name.partition(":")
        if base_name not in _LAZY_NAMES:
            names = sorted({*_ALIASES, *_LAZY_NAMES, *BACKENDS} - set(_ALIASES.values()))
            raise ValueError(f"there is no backend {full_name!r}: there are {', '.join(names)}")
        BACKENDS[full_name] = import_module("autoconv.backends.xla").XlaBackend(_NATIVE, device)
    return BACKENDS[full_name]


def check_backend_name(name: str | None) -> str | None:
    """Return `name`, which may be None for the configured backend; raise the error of `get_backend` if it is wrong."""
    get_backend(name)
    return name


def compile_graph(
    graph: Graph, form: CallForm | None = None, pool_number: int = 0, backend: str | None = None
) -> CompiledGraph:
    """Compile with the named backend, or the configured one if the name is None.

    `pool_number` is that of the thread pool that runs large loops. If the backend cannot run in this process, warn
    once, and replace it from now on by the native backend, or the native backend itself by the reference.
    """
    selected = get_backend(backend)
    try:
        return selected.compile(graph, form, pool_number)
    except Unsupported as error:
        replacement = REFERENCE if selected is _NATIVE else _NATIVE
        warnings.warn(f"graphs run without the backend {selected.name}: {error}", RuntimeWarning, stacklevel=2)
        BACKENDS.update({name: replacement for name, backend_ in BACKENDS.items() if backend_ is selected})
        return compile_graph(graph, form, pool_number, backend)


@cache
def accelerators() -> tuple[str, ...]:
    """Return the names of the accelerators that a runtime of this process has, such as `GPU:0`."""
    return import_module("autoconv.backends.xla").accelerators() if find_spec("jaxlib") else ()  # type: ignore[no-any-return]


@cache
def accelerator(name: str) -> Any:
    """Return the accelerator of that name, which compiles graphs for its device."""
    return import_module("autoconv.backends.xla").Accelerator(get_backend(f"xla:{name}"))


# Lower layers, which may not import this package, reach these functions through the hooks.
ACCELERATOR_NAMES.set(accelerators)
ACCELERATOR.set(accelerator)


def library_compiler() -> LibraryCode:
    """Return the compiler of object files for C, which does not depend on the backend that runs graphs."""
    return next(compiler for backend in BACKENDS.values() if (compiler := backend.compile_library) is not None)


def symbolic_code() -> SymbolicCode:
    """Return the queries for open dimensions of graphs and for ops without native code for these.

    They do not depend on the backend that runs graphs.
    """
    return next(queries for backend in BACKENDS.values() if (queries := backend.symbolic_code) is not None)
