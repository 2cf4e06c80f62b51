"""Options of TensorFlow's graph optimizer: they are kept and have no effect on autoconv's optimisations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OPTIONS: dict[str, Any] = {"disable_meta_optimizer": False, "disable_model_pruning": False}
_JIT = {"choice": ""}


def get_experimental_options() -> dict[str, Any]:
    """Return the options that were set.

    >>> autoconv.config.optimizer.get_experimental_options()["disable_meta_optimizer"]
    False
    """
    return dict(_OPTIONS)


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Set options by their names.

    >>> autoconv.config.optimizer.set_experimental_options({"constant_folding": True})
    """
    _OPTIONS.update(options)


def get_jit() -> str:
    """Return "autoclustering" or "", as `set_jit` set it.

    >>> autoconv.config.optimizer.get_jit()
    ''
    """
    return _JIT["choice"]


def set_jit(enabled: bool | str) -> None:
    """Accept a choice of XLA's clustering; graphs are compiled to native code anyway.

    >>> autoconv.config.optimizer.set_jit(False)
    """
    if enabled not in (True, False, "autoclustering"):
        raise ValueError(f"jit must be True, False or 'autoclustering', found {enabled!r}")
    _JIT["choice"] = "autoclustering" if enabled else ""


__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
