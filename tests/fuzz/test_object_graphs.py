"""A small budget of the programs over objects; `python tests/fuzz/object_graphs.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

object_graphs = load_module(Path(__file__).with_name("object_graphs.py"), "object_graphs")


@pytest.mark.parametrize("start", (0, 1000))
def test_compiled_programs_mean_the_same(start):
    kinds = []
    for seed in range(start, start + 8):
        kind, details, _ = object_graphs.check(seed)
        assert kind != "WRONG", f"program {seed}: {details}"
        kinds.append(kind)
    assert "traced" in kinds


def test_a_cycle_of_dataclasses_in_an_arm_ends():
    kind, details, _ = object_graphs.check(7_100_052)
    assert kind == "traced", details
