"""A small budget of the programs over complex numbers; `python tests/fuzz/complexes.py` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

complexes = load_module(Path(__file__).with_name("complexes.py"), "complex_programs")


@pytest.mark.parametrize("start", range(0, 30, 6))
def test_compiled_programs_agree_with_python_to_the_last_bit(start):
    kinds = []
    for number in range(start, start + 2):
        source = complexes.Generator(number).program()
        kind, details = complexes.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("graph") >= 1
