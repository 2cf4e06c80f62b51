"""Command-line flags of version 1: the names of the module `absl.flags`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_absl_flags() -> Any:
    """Return the module `absl.flags`; raises ImportError without the package absl-py."""
    try:
        return import_module("absl.flags")
    except ImportError:
        raise ImportError("flags and app need the package absl-py: pip install absl-py") from None


def __getattr__(name: str) -> Any:
    """Return a name of absl.flags, such as `DEFINE_integer` and `FLAGS`."""
    if name.startswith("__"):
        raise AttributeError(f"module 'autoconv.compat.v1.flags' has no attribute {name!r}")
    return getattr(import_absl_flags(), name)
