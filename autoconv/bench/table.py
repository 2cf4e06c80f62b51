"""Measurements as tables, and as JSON data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.bench.peers import PEERS
from autoconv.bench.rounds import Measurement, ahead

Rows = Mapping[str, Sequence[Measurement]]
_PEER = {peer.name: peer for peer in PEERS}


def as_tables(rows: Rows) -> list[Any]:
    """Return three rich tables: times of a warm call with ratios, times of the first call, and peak memory.

    A ratio is the time of the best compiled peer divided by autoconv's.
    """
    warm = _table("warm call, µs", rows, "ahead")
    for name, row in rows.items():
        warm.add_row(name, *_cells(rows, row, lambda one: one.warm, 1e6), _ahead_text(row))
    mean = geometric_mean(rows)
    if mean is not None:
        warm.add_section()
        warm.add_row("geometric mean", *[""] * len(_names(rows)), f"{mean:.2f}")
    first = _table("first call, ms", rows, "autoconv, code cached")
    memory = _table("peak memory of the process, MB", rows)
    for name, row in rows.items():
        cached = next((one.cached for one in row if one.peer == "autoconv"), None)
        first.add_row(name, *_cells(rows, row, lambda one: one.first, 1e3), _figure(cached, 1e3))
        memory.add_row(name, *_cells(rows, row, lambda one: one.memory, 1e-6))
    return [warm, first, memory]


def as_data(rows: Rows, absent: Mapping[str, str]) -> dict[str, Any]:
    """Return all figures, in seconds and bytes."""
    return {
        "workloads": {
            name: {
                "ahead": (ahead(row, _PEER) or (None,))[0],
                "peers": {one.peer: dataclasses.asdict(one) for one in row},
            }
            for name, row in rows.items()
        },
        "geometric_mean": geometric_mean(rows),
        "absent": dict(absent),
    }


def notes(rows: Rows) -> list[str]:
    """Return a line for each measurement without figures, and for each workload with ops that ran as kernels."""
    lines = [f"{name}, {_PEER[one.peer].title}: {one.note}" for name, row in rows.items() for one in row if one.note]
    for name, row in rows.items():
        kernels = sorted({kernel for one in row for kernel in one.kernels})
        lines += [f"{name}: by kernels: {', '.join(kernels)}"] if kernels else []
    return lines


def geometric_mean(rows: Rows) -> float | None:
    """Return the geometric mean of the workloads' ratios to the best compiled peer."""
    ratios = [ratio[0] for row in rows.values() if (ratio := ahead(row, _PEER)) is not None]
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None


def _table(title: str, rows: Rows, *more: str) -> Any:
    from rich.table import Table  # slow to import, needed only here

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("workload")
    for name in (*(_PEER[name].title for name in _names(rows)), *more):
        table.add_column(name, justify="right")
    return table


def _names(rows: Rows) -> list[str]:
    """Return the peers that have any figures, in the order of PEERS."""
    present = {one.peer for row in rows.values() for one in row if one.first is not None}
    return [peer.name for peer in PEERS if peer.name in present]


def _cells(
    rows: Rows, row: Sequence[Measurement], of: Callable[[Measurement], float | None], scale: float
) -> list[str]:
    """Return one figure for each peer, the best one in bold."""
    values_by_peer = {one.peer: value for one in row if (value := of(one)) is not None}
    least = min(values_by_peer.values(), default=None)
    texts = [_figure(values_by_peer.get(name), scale) for name in _names(rows)]
    return [
        f"[bold]{text}[/bold]" if name in values_by_peer and values_by_peer[name] == least else text
        for name, text in zip(_names(rows), texts, strict=True)
    ]


def _figure(value: float | None, scale: float) -> str:
    if value is None:
        return "-"
    scaled = value * scale
    return f"{scaled:.2f}" if scaled < 10 else f"{scaled:.1f}" if scaled < 100 else f"{scaled:.0f}"


def _ahead_text(row: Sequence[Measurement]) -> str:
    lead = ahead(row, _PEER)
    return "-" if lead is None else f"{lead[0]:.2f} x {_PEER[lead[1]].title}"
