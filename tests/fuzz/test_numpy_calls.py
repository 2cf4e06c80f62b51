"""A small budget of calls of NumPy's functions; `python tests/fuzz/numpy_calls.py --programs N` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

numpy_calls = load_module(Path(__file__).with_name("numpy_calls.py"), "numpy_calls")


@pytest.mark.parametrize("start", range(0, 60, 15))
def test_compiled_calls_agree_with_numpy(start):
    staged = 0
    for number in range(start, start + 15):
        generator = numpy_calls.Generator(number)
        source = generator.program()
        execution, kind, details = numpy_calls.check(source, generator.arguments, number)
        assert kind in ("", *numpy_calls.ACCEPTED_KINDS), f"{source}\n{generator.arguments}\n{kind}: {details}"
        staged += execution == "staged"
    assert staged >= 5
