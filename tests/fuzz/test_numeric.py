"""A small budget of the numeric programs; `python tests/fuzz/numeric.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

numeric = load_module(Path(__file__).with_name("numeric.py"), "numeric_programs")


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_compiled_programs_agree_with_python(start):
    kinds = []
    for number in range(start, start + 4):
        source = numeric.Generator(number).program()
        kind, details = numeric.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("graph") >= 2
