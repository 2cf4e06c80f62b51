"""The traces that ran while `SETTINGS.collect_graphs` was on."""

from __future__ import annotations

from typing import Any

from autoconv.config import SETTINGS

_COLLECTED: dict[int, Any] = {}


def collect(trace: Any) -> None:
    """Keep a trace that runs, once."""
    _COLLECTED[id(trace)] = trace


def start_collection() -> None:
    """Keep the traces that run from now on."""
    _COLLECTED.clear()
    SETTINGS.collect_graphs = True


def end_collection() -> list[Any]:
    """Return the traces that ran since the start, in the order of their first runs, and keep no more."""
    SETTINGS.collect_graphs = False
    result = list(_COLLECTED.values())
    _COLLECTED.clear()
    return result
