"""A few random programs; `python tests/fuzz/open_sizes.py` runs more."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

open_sizes = load_module(Path(__file__).with_name("open_sizes.py"), "fuzz_open_sizes")


@pytest.mark.parametrize("number", (3, 36, 63, 129, 178))
def test_program(number):
    kind, details = open_sizes.check(number)
    assert kind != "WRONG", details
