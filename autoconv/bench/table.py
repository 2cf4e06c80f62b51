"""Measurements as tables, and as JSON data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.bench.peers import PEERS
from autoconv.bench.rounds import Measurement, best_peer_ratio

Rows = Mapping[str, Sequence[Measurement]]  # the measurements of all peers, by workload
_PEERS_BY_NAME = {peer.name: peer for peer in PEERS}


def as_tables(rows: Rows) -> list[Any]:
    """Return three rich tables: times of a warm call with ratios, times of the first call, and peak memory.

    A ratio is the time of the best compiled peer divided by autoconv's.
    """
    warm_table = _table("warm call, µs", rows, "ahead")
    for name, row in rows.items():
        warm_table.add_row(name, *_cells(rows, row, lambda measurement: measurement.warm, 1e6), _ratio_text(row))
    mean = geometric_mean(rows)
    if mean is not None:
        warm_table.add_section()
        warm_table.add_row("geometric mean", *[""] * len(_measured_peers(rows)), f"{mean:.2f}")
    first_table = _table("first call, ms", rows, "autoconv, code cached")
    memory_table = _table("peak memory of the process, MB", rows)
    for name, row in rows.items():
        cached_time = next((measurement.cached for measurement in row if measurement.peer == "autoconv"), None)
        first_table.add_row(
            name, *_cells(rows, row, lambda measurement: measurement.first, 1e3), _figure_text(cached_time, 1e3)
        )
        memory_table.add_row(name, *_cells(rows, row, lambda measurement: measurement.memory, 1e-6))
    return [warm_table, first_table, memory_table]


def as_data(rows: Rows, absent: Mapping[str, str]) -> dict[str, Any]:
    """Return all figures, in seconds and bytes, as data for JSON; "ahead" is the ratio to the best compiled peer."""
    return {
        "workloads": {
            name: {
                "ahead": _ratio(row),
                "peers": {measurement.peer: dataclasses.asdict(measurement) for measurement in row},
            }
            for name, row in rows.items()
        },
        "geometric_mean": geometric_mean(rows),
        "absent": dict(absent),
    }


def notes(rows: Rows) -> list[str]:
    """Return a line for each measurement without figures, and for each workload with ops that ran as kernels."""
    lines = [
        f"{name}, {_PEERS_BY_NAME[measurement.peer].title}: {measurement.note}"
        for name, row in rows.items()
        for measurement in row
        if measurement.note
    ]
    for name, row in rows.items():
        kernels = sorted({kernel for measurement in row for kernel in measurement.kernels})
        lines += [f"{name}: by kernels: {', '.join(kernels)}"] if kernels else []
    return lines


def geometric_mean(rows: Rows) -> float | None:
    """Return the geometric mean of the workloads' ratios to the best compiled peer."""
    ratios = [ratio for row in rows.values() if (ratio := _ratio(row)) is not None]
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else None


def _ratio(row: Sequence[Measurement]) -> float | None:
    """Return the ratio to the best compiled peer, None without the times."""
    ratio, _ = best_peer_ratio(row, _PEERS_BY_NAME) or (None, "")
    return ratio


def _table(title: str, rows: Rows, *further_columns: str) -> Any:
    """Return an empty table with a column for each measured peer."""
    from rich.table import Table  # slow to import, needed only here

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("workload")
    for name in (*(_PEERS_BY_NAME[name].title for name in _measured_peers(rows)), *further_columns):
        table.add_column(name, justify="right")
    return table


def _measured_peers(rows: Rows) -> list[str]:
    """Return the peers that have any figures, in the order of PEERS."""
    measured_names = {measurement.peer for row in rows.values() for measurement in row if measurement.first is not None}
    return [peer.name for peer in PEERS if peer.name in measured_names]


def _cells(
    rows: Rows, row: Sequence[Measurement], figure_of: Callable[[Measurement], float | None], scale: float
) -> list[str]:
    """Return the text of one figure, times `scale`, for each peer; the lowest figure is in bold."""
    values_by_peer = {measurement.peer: value for measurement in row if (value := figure_of(measurement)) is not None}
    lowest = min(values_by_peer.values(), default=None)
    texts = [_figure_text(values_by_peer.get(name), scale) for name in _measured_peers(rows)]
    return [
        f"[bold]{text}[/bold]" if name in values_by_peer and values_by_peer[name] == lowest else text
        for name, text in zip(_measured_peers(rows), texts, strict=True)
    ]


def _figure_text(value: float | None, scale: float) -> str:
    if value is None:
        return "-"
    scaled = value * scale
    return f"{scaled:.2f}" if scaled < 10 else f"{scaled:.1f}" if scaled < 100 else f"{scaled:.0f}"


def _ratio_text(row: Sequence[Measurement]) -> str:
    peer_ratio = best_peer_ratio(row, _PEERS_BY_NAME)
    if peer_ratio is None:
        return "-"
    ratio, peer = peer_ratio
    return f"{ratio:.2f} x {_PEERS_BY_NAME[peer].title}"
