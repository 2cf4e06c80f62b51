"""The traces that ran while `SETTINGS.collect_graphs` was on."""

from __future__ import annotations

from typing import Any

from autoconv.config import SETTINGS

_COLLECTED: dict[int, Any] = {}  # id of the trace -> the trace


def collect(trace: Any) -> None:
    """Add a trace that runs to the collected traces."""
    _COLLECTED[id(trace)] = trace


def start_collection() -> None:
    """Collect the traces that run from now on; forget those collected before."""
    _COLLECTED.clear()
    SETTINGS.collect_graphs = True


def end_collection() -> list[Any]:
    """Stop, and return the traces that ran since `start_collection`, in the order of their first runs."""
    SETTINGS.collect_graphs = False
    result = list(_COLLECTED.values())
    _COLLECTED.clear()
    return result
