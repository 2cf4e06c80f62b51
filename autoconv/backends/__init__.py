"""Backends: each turns a graph into a function. BACKENDS maps names to `compile(graph) -> run`."""

from __future__ import annotations

import warnings

from autoconv.backends import llvm, reference
from autoconv.backends.llvm.abi import UnknownLayout
from autoconv.backends.reference import Run
from autoconv.graph.graph import Graph


def _native(graph: Graph) -> Run:
    """Native code; on a Python, NumPy or machine that it cannot be made for, the reference, with one warning."""
    try:
        return llvm.compile_graph(graph)
    except (UnknownLayout, ImportError) as error:
        warnings.warn(f"graphs run without native code: {error}", RuntimeWarning, stacklevel=2)
        BACKENDS["llvm"] = reference.compile_graph
        return reference.compile_graph(graph)


BACKENDS = {"llvm": _native, "reference": reference.compile_graph}

__all__ = ["BACKENDS"]
