"""A few calls of some everyday programs; `python tests/fuzz/traps.py` runs all programs, and times many calls."""

from pathlib import Path

import pytest

from autoconv.config import SETTINGS
from tests.module_loading import load_module

traps = load_module(Path(__file__).with_name("traps.py"), "traps")


@pytest.fixture(autouse=True)
def _measured(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")


@pytest.mark.parametrize("name", list(traps.PROGRAMS)[::12])
def test_everyday_programs_are_right_and_traced_a_few_times(name):
    measurement = traps.measure(name, calls=12, seed=1)
    assert not measurement.wrong
    assert max(measurement.compiled) < traps.MAX_CALL_SECONDS
    assert measurement.traces <= traps.MAX_TRACES
