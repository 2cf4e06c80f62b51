"""A few trials of processes; `python tests/fuzz/processes.py` is the large run."""

import importlib.util
import os
from pathlib import Path

import pytest

_PATH = Path(__file__).with_name("processes.py")
_SPEC = importlib.util.spec_from_file_location("processes", _PATH)
processes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(processes)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.parametrize("name", ["forks", "threads", "caches"])
def test_trial(name):
    assert processes.TRIALS[name](1, 2 if name == "caches" else 1) == "right"
