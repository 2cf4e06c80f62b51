"""Backends: each turns a graph into a function. BACKENDS maps names to `compile(graph) -> run`."""

from autoconv.backends.reference import compile_graph as _reference

BACKENDS = {"reference": _reference}

__all__ = ["BACKENDS"]
