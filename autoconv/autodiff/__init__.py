"""Differentiation of graphs; as a public namespace it has `ForwardAccumulator`, which the public names bring."""

from importlib import import_module
from typing import Any

from autoconv.forks import lazy_import


def __getattr__(name: str) -> Any:
    if name == "ForwardAccumulator":
        with lazy_import():
            import_module("autoconv._public")  # which sets it here
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
