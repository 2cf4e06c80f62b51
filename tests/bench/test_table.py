"""Figures and ratios of given measurements."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from autoconv.bench.picture import draw_ratios
from autoconv.bench.rounds import Measurement
from autoconv.bench.table import as_data, as_tables, geometric_mean, notes
from autoconv.errors import TargetError

ROWS = {
    "fast": [
        Measurement(peer="numpy", warm=1e-6, first=1e-3, memory=10_000_000),
        Measurement(peer="autoconv", warm=2e-6, first=2e-2, cached=1e-2, memory=20_000_000),
        Measurement(peer="jax", warm=8e-6, first=4e-2, memory=30_000_000),
        Measurement(peer="numba", warm=9e-6, first=4e-1, memory=30_000_000),
    ],
    "slow": [
        Measurement(peer="numpy", warm=1.0, first=1.0),
        Measurement(peer="autoconv", warm=4.0, first=1.0, kernels=["sort", "sort", "gather"]),
        Measurement(peer="jax", note="Mismatch: result 0 has shape (1,), NumPy's (2,)"),
        Measurement(peer="numba", warm=1.0, first=1.0),
    ],
}


def print_table() -> str:
    out = io.StringIO()
    console = Console(file=out, width=160)
    for table in as_tables(ROWS):
        console.print(table)
    return out.getvalue()


def test_ratios_are_to_the_best_compiled_peer() -> None:
    text = print_table()
    assert "4.00 x JAX" in text and "0.25 x Numba" in text
    assert geometric_mean(ROWS) == pytest.approx(1.0)
    assert "geometric mean" in text and "TensorFlow" not in text


def test_figures_are_in_microseconds_milliseconds_and_megabytes() -> None:
    fast = [line.split() for line in print_table().splitlines() if "fast" in line]
    assert [row[3:10:2] for row in fast] == [
        ["1.00", "2.00", "8.00", "9.00"],
        ["1.00", "20.0", "40.0", "400"],
        ["10.0", "20.0", "30.0", "30.0"],
    ]
    assert fast[1][11] == "10.0"


def test_notes_name_failures_and_kernels() -> None:
    assert notes(ROWS) == [
        "slow, JAX: Mismatch: result 0 has shape (1,), NumPy's (2,)",
        "slow: by kernels: gather, sort",
    ]


def test_data_is_json_in_seconds_and_bytes() -> None:
    data = json.loads(json.dumps(as_data(ROWS, {"torch": "No module named 'torch'"})))
    assert data["workloads"]["fast"]["ahead"] == pytest.approx(4.0)
    assert data["workloads"]["fast"]["peers"]["autoconv"]["cached"] == 1e-2
    assert data["absent"] == {"torch": "No module named 'torch'"}


def test_a_picture_without_matplotlib_raises_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(TargetError, match=r"pip install matplotlib"):
        draw_ratios(ROWS, "unused.png")  # type: ignore[arg-type]


def test_a_picture(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    draw_ratios(ROWS, tmp_path / "ratios.png")
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(TargetError, match="cannot be written"):
        draw_ratios(ROWS, tmp_path / "ratios.unknown")
