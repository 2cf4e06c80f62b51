"""Differentiation of graphs; the public namespace of `ForwardAccumulator`, which `autoconv._public` sets here."""

from importlib import import_module
from typing import Any

from autoconv.forks import LazyImport


def __getattr__(name: str) -> Any:
    if name == "ForwardAccumulator":
        with LazyImport():
            import_module("autoconv._public")  # sets ForwardAccumulator in this module
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
