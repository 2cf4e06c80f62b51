"""Backends, each of which compiles graphs to functions; `protocol.py` has what they offer.

`BACKENDS` maps the names in the settings to backends. `compile_graph` uses the configured one.
"""

from __future__ import annotations

import warnings

from autoconv.backends.call_form import CallForm
from autoconv.backends.interpreter import Interpreter
from autoconv.backends.llvm.backend import NativeBackend
from autoconv.backends.protocol import Backend, CompiledGraph, Unsupported
from autoconv.config import SETTINGS
from autoconv.graph.graph import Graph

REFERENCE = Interpreter()
BACKENDS: dict[str, Backend] = {"llvm": NativeBackend(), "reference": REFERENCE}


def current() -> Backend:
    """Return the configured backend."""
    return BACKENDS[SETTINGS.backend]


def compile_graph(graph: Graph, form: CallForm | None = None, pool: int = 0) -> CompiledGraph:
    """Compile by the configured backend; where it does not run, warn once and use the reference from then on."""
    try:
        return current().compile(graph, form, pool)
    except Unsupported as error:
        warnings.warn(f"graphs run without native code: {error}", RuntimeWarning, stacklevel=2)
        BACKENDS[SETTINGS.backend] = REFERENCE
        return REFERENCE.compile(graph)


__all__ = ["BACKENDS", "REFERENCE", "compile_graph", "current"]
