"""A small budget of the programs over sizes; `python tests/fuzz/sizes.py --programs N` is the large one."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).with_name("sizes.py")
_SPEC = importlib.util.spec_from_file_location("size_programs", _PATH)
sizes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sizes)


@pytest.mark.parametrize("number", range(2))
def test_compiled_programs_agree_with_numpy_for_every_shape(number):
    kind, details, _ = sizes.check(number)
    assert kind != "WRONG", details
