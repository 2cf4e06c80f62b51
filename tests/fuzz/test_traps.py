"""Some of the programs of every day, a few calls each; `python tests/fuzz/traps.py` runs all, and times many calls."""

from pathlib import Path

import pytest

from autoconv.config import SETTINGS
from tests.module_loading import load_module

traps = load_module(Path(__file__).with_name("traps.py"), "traps")


@pytest.fixture(autouse=True)
def _measured(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")


@pytest.mark.parametrize("name", list(traps.PROGRAMS)[::12])
def test_programs_of_every_day_are_right_and_traced_a_few_times(name):
    found = traps.measure(name, calls=12, seed=1)
    assert not found.wrong
    assert max(found.compiled) < traps.LONG
    assert found.traces <= traps.MOST_TRACES
