"""Converted modules of the standard library pass the tests that CPython has for them.

The rest of those that were tried (difflib, fractions, calendar, configparser, json, argparse, csv,
_pydecimal, random, dataclasses, ipaddress, html, shlex, graphlib, bisect, string, copy) run by hand: see
run_converted.py."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).resolve().parent / "run_converted.py"
CASES = [
    (["heapq"], ["test.test_heapq"]),
    (["textwrap"], ["test.test_textwrap"]),
    (
        ["json", "json.decoder", "json.scanner", "json.encoder"],
        ["test.test_json.test_decode", "test.test_json.test_fail"],
    ),
    (
        ["statistics"],
        ["test.test_statistics.TestMean", "test.test_statistics.TestMedian", "test.test_statistics.TestMode"],
    ),
    (["shlex", "bisect", "graphlib"], ["test.test_shlex", "test.test_bisect", "test.test_graphlib"]),
]

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("test") is None or importlib.util.find_spec("test.test_heapq") is None,
    reason="this Python was installed without its tests",
)


def run(modules, tests, *options):
    arguments = [f"--module={name}" for name in modules] + [f"--test={name}" for name in tests]
    command = [sys.executable, str(RUNNER), *arguments, *options]
    environment = os.environ | {"PYTHONPATH": str(RUNNER.parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300, env=environment)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("modules", "tests"), CASES)
def test_module(modules, tests):
    found = run(modules, tests)
    assert found["converted"] == sorted(modules)
    assert found["run"] == found["tests"] > 10
    if found["failed"]:
        expected = run(modules, tests, "--plain")
        assert set(found["failed"]) <= set(expected["failed"]), found["failed"]
