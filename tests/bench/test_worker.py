"""The process that measures one peer: its answers where a module is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import autoconv.bench

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
