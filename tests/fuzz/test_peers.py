"""The fuzzer of performance measures programs, and keeps and reports results; its times need a quiet machine."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
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
    completed = run(kind, tmp_path / "results")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    (line,) = (tmp_path / "results").read_text().splitlines()
    measurement = json.loads(line)
    assert measurement["status"] == "measured" and measurement["ratio"] > 0
    (tmp_path / "results").write_text(json.dumps(measurement | {"ratio": 123.0}) + "\n")
    assert "123.00" in run(kind, tmp_path / "results").stdout


@pytest.mark.skipif(shutil.which("clang") is None, reason="needs clang")
def test_programs_in_c_agree_with_numpy():
    sys.path.insert(0, str(_HERE))
    from measured import c_loops, cases

    compared = 0
    for number in (0, 3, 9, 10, 13, 16):
        case = cases.random_case(number, "loops")
        case.sizes = (30, 20)
        arguments = case.arguments()
        with np.errstate(all="ignore"):
            expected = cases.load_function(case.source, f"<in C {number}>")(*arguments), arguments[:3]
        measured = c_loops.measure_c(case.source, case.dtype, case.arguments(), 2)
        if measured is not None:
            called = case.arguments()
            for (s, t, *arrays), written in (measured.results, (measured.function(*called), called[:3])):
                actual = ((np.float64(s), t, *arrays), written)
                assert cases.results_agree(((np.float64(expected[0][0]), *expected[0][1:]), expected[1]), actual)
            compared += 1
    assert compared


@pytest.mark.skipif(importlib.util.find_spec("jax") is not None, reason="JAX is installed")
def test_gradients_without_jax_name_the_package_to_install(tmp_path):
    completed = run("gradients", tmp_path / "results")
    assert completed.returncode == 1 and "needs JAX" in completed.stderr
