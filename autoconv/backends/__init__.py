"""Backends, each of which compiles a graph to a function.

BACKENDS maps names to `compile(graph, form=None) -> run`. With a CallForm, `run.entry` may accept a user's call
directly.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

from autoconv.backends import interpreter, llvm
from autoconv.backends.call_form import CallForm
from autoconv.backends.interpreter import Run
from autoconv.backends.llvm.runtime.call_dispatch import dispatching_method, is_dispatchable, is_readable
from autoconv.backends.llvm.runtime.library import make_ready_ahead, shared_address
from autoconv.backends.llvm.target.abi import UnknownLayout
from autoconv.config import SETTINGS
from autoconv.graph.graph import Graph


def _native(graph: Graph, form: CallForm | None = None) -> Run:
    """Compile to native code; on an unsupported Python, NumPy or machine warn once and use the reference."""
    try:
        return llvm.compile_graph(graph, form)
    except (UnknownLayout, ImportError) as error:
        warnings.warn(f"graphs run without native code: {error}", RuntimeWarning, stacklevel=2)
        BACKENDS["llvm"] = _reference
        return interpreter.compile_graph(graph)


def _reference(graph: Graph, form: CallForm | None = None) -> Run:
    return interpreter.compile_graph(graph)


def dispatching(
    owner: type,
    slot: int,
    slow: Any,
    failed: Any,
    detour: ctypes.c_int64,
    busy: ctypes.c_int64,
    variable: Any,
    default: Any,
) -> Any:
    """Return the native `__call__` of a class, see `llvm/runtime/call_dispatch.py`."""
    return dispatching_method(shared_address, owner, slot, slow, failed, detour, busy, variable, default)


def expect_graphs() -> None:
    """Start preparing the backend in the background, as graphs are about to be traced."""
    if BACKENDS[SETTINGS.backend] is _native:
        make_ready_ahead()


BACKENDS: dict[str, Callable[..., Run]] = {"llvm": _native, "reference": _reference}

__all__ = ["BACKENDS", "dispatching", "expect_graphs", "is_dispatchable", "is_readable"]
