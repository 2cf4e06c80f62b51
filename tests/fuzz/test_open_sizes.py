"""A few random programs; `python tests/fuzz/open_sizes.py` runs more."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).with_name("open_sizes.py")
SPEC = importlib.util.spec_from_file_location("fuzz_open_sizes", PATH)
assert SPEC is not None and SPEC.loader is not None
open_sizes = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(open_sizes)


@pytest.mark.parametrize("number", (3, 36, 63, 129, 178))
def test_program(number):
    kind, details = open_sizes.check(number)
    assert kind != "WRONG", details
