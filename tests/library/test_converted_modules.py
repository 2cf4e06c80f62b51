"""Converted modules of the standard library pass the tests that CPython has for them: a quick subset of
`python tests/library/run.py`, which does many more."""

import importlib.util
import sys
from pathlib import Path

import pytest


def load(path):
    spec = importlib.util.spec_from_file_location(f"library_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


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
