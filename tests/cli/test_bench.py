"""`autoconv bench`: its options, and peers that are missing, wrong or end."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

WORKLOAD = """
import os
import numpy as np

SUITE = "{suite}"


def inputs(random, tiny):
    return (random.random(4 if tiny else 8, np.float32),)


def with_numpy(x):
    return x + np.float32(1)


def with_graph(tf):
    return lambda x: x + 1.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.py").write_text(WORKLOAD.format(suite="small"))
    (tmp_path / "second.py").write_text(WORKLOAD.format(suite="other"))
    return tmp_path


def run(cli, folder: Path, *options: object):
    return cli("bench", "--folder", folder, "--rounds", 1, "--seconds", 0, "--small", "--peer", "numpy", *options)


def test_a_table(cli, folder):
    result = run(cli, folder)
    assert result.exit_code == 0, result.output
    assert {"first", "second"} <= {cell.strip() for cell in re.split("[│|\n]|  +", result.stdout)}, result.stdout
    for word in ("NumPy", "autoconv", "warm call, µs", "first call, ms", "peak memory"):
        assert word in result.stdout
    assert "\x1b[" not in result.stdout


def test_json_of_a_suite(cli, folder):
    data = json.loads(run(cli, folder, "--json", "--suite", "small").stdout)
    ours = data["workloads"]["first"]["peers"]["autoconv"]
    assert ours["warm"] > 0 and ours["first"] > 0 and ours["cached"] > 0 and ours["memory"] > 1e6
    assert ours["kernels"] == [] and ours["note"] == ""
    assert set(data["workloads"]) == {"first"}


def test_a_workload_by_its_name(cli, folder):
    assert set(json.loads(run(cli, folder, "--json", "--only", "second").stdout)["workloads"]) == {"second"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--suite", "none"), "no suite none; there are: other, small"),
        (("--only", "third"), "no workload third; there are: first, second"),
        (("--peer", "rust"), "there is no peer rust; the peers are: numpy, autoconv, jax"),
        (("--peers-python", "nowhere/python"), "nowhere/python is not an executable file"),
    ],
)
def test_missing_items_are_named(cli, folder, options, message):
    result = run(cli, folder, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_folder_without_workloads(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    result = run(cli, tmp_path / "empty")
    assert result.exit_code == 2 and "holds no workloads; --folder names the folder of workloads" in result.stderr


def test_a_plot_without_matplotlib_is_refused_before_anything_runs(cli, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(cli, folder, "--plot", folder / "picture.png")
    assert result.exit_code == 2
    assert "--plot needs matplotlib, which is not installed" in result.stderr
    assert "first …" not in result.stderr


def test_a_peer_that_is_not_installed_is_left_out_with_the_reason(cli, folder, tmp_path):
    module = tmp_path / "broken"
    module.mkdir()
    (module / "numba.py").write_text("raise ImportError('no numba here')\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{module}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    result = run(cli, folder, "--only", "first", "--peer", "numba", "--peers-python", python)
    assert result.exit_code == 0
    assert "numba is left out: no numba here" in result.stdout
    assert result.stdout.count("no numba here") == 1


def test_wrong_results_and_crashes_are_notes(cli, folder):
    text = (folder / "first.py").read_text()
    (folder / "first.py").write_text(text.replace("return lambda x: x + 1.0", "return lambda x: x + 1.5"))
    (folder / "second.py").write_text(text.replace("return lambda x: x + 1.0", "os._exit(7)"))
    result = run(cli, folder)
    assert result.exit_code == 0
    assert "first, autoconv: Mismatch: 4 of 4 elements of result 0 are not NumPy's, by up to 0.5" in result.stdout
    assert "second, autoconv: its process ended with 7" in result.stdout
