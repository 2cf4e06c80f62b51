"""A few methods and operators; `python tests/fuzz/methods.py --programs N` runs more."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

methods = load_module(Path(__file__).with_name("methods.py"), "method_programs")


@pytest.mark.parametrize("start", (0, 300))
def test_methods_and_operators_mean_the_same(start):
    for seed in range(start, start + 8):
        kind, details, _ = methods.check(seed)
        assert kind != "WRONG", f"program {seed}: {details}"
