"""A small budget of the programs over objects; `python tests/fuzz/object_graphs.py --programs N` is the large one."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).with_name("object_graphs.py")
_SPEC = importlib.util.spec_from_file_location("object_graphs", _PATH)
object_graphs = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(object_graphs)


@pytest.mark.parametrize("start", (0, 1000))
def test_compiled_programs_mean_the_same(start):
    kinds = []
    for seed in range(start, start + 8):
        kind, details, _ = object_graphs.check(seed)
        assert kind != "WRONG", f"program {seed}: {details}"
        kinds.append(kind)
    assert "traced" in kinds
