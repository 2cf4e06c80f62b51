"""A few random programs over hostile arrays; `python tests/fuzz/hostile.py --programs N` runs more."""

from pathlib import Path

from tests.module_loading import load_module

hostile = load_module(Path(__file__).with_name("hostile.py"), "hostile_programs")


def test_programs(capsys):
    counts = hostile.run(programs=24, seed=3)
    assert sum(counts.values()) == 24
    assert not counts["WRONG"] + counts["HANG"] + counts["ENDED"], capsys.readouterr().out


def test_a_program_that_ends_or_hangs_is_reported(monkeypatch, capsys):
    """The report names its number, and the next programs run."""
    monkeypatch.setattr(hostile, "START_SECONDS", 0.5)
    monkeypatch.setenv("AUTOCONV_HOSTILE_TEST", "1")
    counts = hostile.run(programs=3, seed=0)
    assert counts["ENDED"] == 1 and counts["HANG"] == 1, counts
