"""The fuzzer of performance measures, keeps and reports; its figures are for runs on a quiet machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def run(kind, results):
    command = [
        sys.executable,
        str(_HERE / "peers.py"),
        "--kind",
        kind,
        "--programs",
        "1",
        "--seed",
        "3",
        "--worst",
        "0",
    ]
    return subprocess.run([*command, "--results", str(results)], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("kind", ["arrays", "loops"])
def test_programs_agree_and_results_are_kept(kind, tmp_path):
    done = run(kind, tmp_path / "results")
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = (tmp_path / "results").read_text().splitlines()
    kept = json.loads(line)
    assert kept["status"] == "measured" and kept["ratio"] > 0
    (tmp_path / "results").write_text(json.dumps(kept | {"ratio": 123.0}) + "\n")
    assert "123.00" in run(kind, tmp_path / "results").stdout
