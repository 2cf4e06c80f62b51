"""Converted modules of the standard library pass the tests that CPython has for them: a quick subset of
`python tests/library/run.py`, which runs many more."""

import importlib.util
from pathlib import Path

import pytest

from tests.module_loading import load_module


def load(path):
    return load_module(path, f"library_{path.stem}", registered=True)


library = load(Path(__file__).resolve().parent / "run.py")

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("test") is None or importlib.util.find_spec("test.test_heapq") is None,
    reason="this Python was installed without its tests",
)


@pytest.mark.parametrize("case", [case for case in library.CASES if case.quick], ids=lambda case: case.modules[0])
def test_module(case):
    report = library.run_case(case, quick=True)
    assert report.regressed == {way: [] for way in library.WAYS}
    assert report.passed["converted"] == report.passed["rewritten"] == report.passed["as they are"] > 5
    assert report.rewritten >= 0.99 * report.statements > 0
