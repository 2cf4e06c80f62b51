"""The process that measures one peer: its answers where a module is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import autoconv.bench
from autoconv.bench.peers import PEERS, Worker

WORKER = Path(autoconv.bench.__file__).with_name("worker.py")


def test_a_module_that_is_missing_in_a_call_is_a_failure_of_the_call(tmp_path):
    """Numba, for example, needs SciPy for products, and imports it in the call."""
    workload = tmp_path / "needs.py"
    workload.write_text(
        '"""A program that imports late."""\n\nTOLERANCE = 0.0\n\n\ndef make(seed):\n    return (1.0,)\n\n\n'
        "def program(x):\n    import no_such_module\n\n    return x + no_such_module.one\n"
    )
    requests = [{"do": "load", "peer": "numpy", "file": str(workload), "tiny": True}, {"do": "first", "seed": 0}]
    run = subprocess.run(
        [sys.executable, WORKER],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    loaded, first = map(json.loads, run.stdout.splitlines())
    assert "version" in loaded, loaded
    assert first == {"failed": "ModuleNotFoundError: No module named 'no_such_module'"}


def test_a_worker_that_takes_too_long_is_ended(tmp_path):
    workload = tmp_path / "endless.py"
    workload.write_text("def make(seed):\n    return ()\n\n\ndef program():\n    while True:\n        pass\n")
    with Worker(PEERS[0], sys.executable, {}, timeout=2.0) as worker:
        assert "version" in worker.ask("load", peer="numpy", file=str(workload), tiny=False)
        assert worker.is_running
        assert worker.ask("first", seed=0) == {"failed": "no answer in 2 seconds"}
        assert not worker.is_running


def test_programs_of_textbooks_are_measured_once(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    import textbook_peers

    results = tmp_path / "rows.jsonl"
    rows = textbook_peers.measure_all(["iir"], sys.executable, rounds=1, tiers="native", results=results)
    assert [row["size"] for row in rows] == [50, 500, 5000]
    assert all(row["seconds"]["numpy"] > 0 and row["seconds"]["autoconv"] > 0 for row in rows)
    text = results.read_text()
    assert textbook_peers.measure_all(["iir"], sys.executable, rounds=1, tiers="native", results=results) == rows
    assert results.read_text() == text
