"""A few trials of processes; `python tests/fuzz/processes.py` runs more."""

import os
from pathlib import Path

import pytest

from tests.module_loading import load_module

processes = load_module(Path(__file__).with_name("processes.py"), "processes")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.parametrize("name", ["forks", "threads", "caches"])
def test_trial(name):
    assert processes.TRIALS[name](1, 2 if name == "caches" else 1) == "right"
