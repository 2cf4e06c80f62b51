"""A small budget of the programs over sizes; `python tests/fuzz/sizes.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

sizes = load_module(Path(__file__).with_name("sizes.py"), "size_programs")


@pytest.mark.parametrize("number", range(2))
def test_compiled_programs_agree_with_numpy_for_every_shape(number):
    kind, details, _ = sizes.check(number)
    assert kind != "WRONG", details
