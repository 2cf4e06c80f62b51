"""A small budget of the programs over complex numbers; `python tests/fuzz/complexes.py` is the large one."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).with_name("complexes.py")
_SPEC = importlib.util.spec_from_file_location("complex_programs", _PATH)
complexes = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(complexes)


@pytest.mark.parametrize("start", range(0, 30, 6))
def test_compiled_programs_agree_with_python_to_the_last_bit(start):
    kinds = []
    for number in range(start, start + 2):
        source = complexes.Generator(number).program()
        kind, details = complexes.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("graph") >= 1
