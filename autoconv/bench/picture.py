"""Plot of the peers' times relative to autoconv's."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autoconv.bench.peers import PEERS
from autoconv.bench.rounds import Measurement
from autoconv.errors import TargetError


def load_matplotlib() -> Any:
    """Return matplotlib, set up to draw into files; raises TargetError if it is not installed."""
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError:
        raise TargetError(
            "--plot needs matplotlib, which is not installed: pip install matplotlib, or 'autoconv[bench]'"
        ) from None
    matplotlib.use("Agg")
    return importlib.import_module("matplotlib.pyplot")


def draw_ratios(rows: Mapping[str, Sequence[Measurement]], path: Path) -> None:
    """Plot each peer's time relative to autoconv's, one line for each workload, on a logarithmic scale.

    The suffix of the path selects the format; raises TargetError for an unknown one.
    """
    pyplot = load_matplotlib()
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.3 * len(rows)), layout="constrained")
    names = list(rows)
    times_by_peer = [
        {measurement.peer: measurement.warm for measurement in row if measurement.warm is not None}
        for row in rows.values()
    ]
    for peer in PEERS:
        if peer.name == "autoconv":
            continue
        points = [
            (times[peer.name] / times["autoconv"], row_index)
            for row_index, times in enumerate(times_by_peer) if peer.name in times and "autoconv" in times
        ]  # fmt: skip
        if points:
            axes.scatter(*zip(*points, strict=True), label=peer.title, marker="o" if peer.is_compiler else "x")
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("time of a warm call, relative to autoconv (right of the line: autoconv is faster)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0), ncols=6, fontsize="small")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise TargetError(f"{path}: the picture cannot be written: {error}") from None
    finally:
        pyplot.close(figure)
