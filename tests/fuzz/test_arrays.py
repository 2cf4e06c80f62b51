"""A small budget of the array programs; `python tests/fuzz/arrays.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

arrays = load_module(Path(__file__).with_name("arrays.py"), "array_programs")


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_compiled_programs_agree_with_numpy(start):
    kinds = []
    for number in range(start, start + 4):
        generator = arrays.Generator(number)
        source = generator.program()
        kind, details = arrays.check(source, number, generator.dtype)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("memory") >= 3
