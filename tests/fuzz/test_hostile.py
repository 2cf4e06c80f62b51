"""A few of the random programs over hostile arrays; `python tests/fuzz/hostile.py` runs as many as wanted."""

import importlib.util
from pathlib import Path

_PATH = Path(__file__).with_name("hostile.py")
_SPEC = importlib.util.spec_from_file_location("hostile_programs", _PATH)
hostile = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(hostile)


def test_programs(capsys):
    counts = hostile.run(programs=24, seed=3)
    assert sum(counts.values()) == 24
    assert not counts["WRONG"] + counts["HANG"] + counts["ENDED"], capsys.readouterr().out


def test_what_ends_or_hangs_is_told(monkeypatch, capsys):
    """By the number of the program, and the programs behind it run all the same."""
    monkeypatch.setattr(hostile, "STARTING_SECONDS", 0.5)
    monkeypatch.setenv("AUTOCONV_HOSTILE_TEST", "1")
    counts = hostile.run(programs=3, seed=0)
    assert counts["ENDED"] == 1 and counts["HANG"] == 1, counts
