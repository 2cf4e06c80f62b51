"""A small budget of methods and operators; `python tests/fuzz/methods.py --programs N` is the large one."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).with_name("methods.py")
_SPEC = importlib.util.spec_from_file_location("method_programs", _PATH)
methods = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(methods)


@pytest.mark.parametrize("start", (0, 300))
def test_methods_and_operators_mean_the_same(start):
    for seed in range(start, start + 8):
        kind, details, _ = methods.check(seed)
        assert kind != "WRONG", f"program {seed}: {details}"
