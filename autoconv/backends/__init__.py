"""Backends, each of which compiles graphs to functions; `protocol.py` has what they offer.

`BACKENDS` maps the names in the settings to backends. `compile_graph` uses the configured one.
"""

from __future__ import annotations

import warnings
from importlib import import_module

from autoconv.backends.call_form import CallForm
from autoconv.backends.interpreter import Interpreter
from autoconv.backends.llvm.backend import NativeBackend
from autoconv.backends.protocol import Backend, CompiledGraph, LibraryCode, SymbolicCode, Unsupported
from autoconv.config import SETTINGS
from autoconv.graph.graph import Graph

REFERENCE = Interpreter()
_NATIVE = NativeBackend()
BACKENDS: dict[str, Backend] = {"llvm": _NATIVE, "reference": REFERENCE}


def current() -> Backend:
    """Return the configured backend; `xla` is loaded when it is first asked for."""
    name = SETTINGS.backend
    if name == "xla" and name not in BACKENDS:
        made: Backend = import_module("autoconv.backends.xla").XlaBackend(_NATIVE)
        BACKENDS[name] = made
    return BACKENDS[name]


def compile_graph(graph: Graph, form: CallForm | None = None, pool: int = 0) -> CompiledGraph:
    """Compile by the configured backend; where it does not run, warn once and use the reference from then on."""
    try:
        return current().compile(graph, form, pool)
    except Unsupported as error:
        warnings.warn(f"graphs run without native code: {error}", RuntimeWarning, stacklevel=2)
        BACKENDS[SETTINGS.backend] = REFERENCE
        return REFERENCE.compile(graph)


def library_code() -> LibraryCode:
    """Return what compiles object files for C, whichever backend runs graphs."""
    return next(found for backend in BACKENDS.values() if (found := backend.library) is not None)


def symbolic_code() -> SymbolicCode:
    """Return the code for any size, whichever backend runs graphs."""
    return next(found for backend in BACKENDS.values() if (found := backend.symbolic) is not None)


__all__ = ["BACKENDS", "REFERENCE", "compile_graph", "current", "library_code", "symbolic_code"]
