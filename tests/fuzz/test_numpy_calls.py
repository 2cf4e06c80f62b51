"""A small budget of calls of NumPy's functions; `python tests/fuzz/numpy_calls.py --programs N` is the large one."""

from pathlib import Path

import pytest

from autoconv.config import SETTINGS
from tests.module_loading import load_module

numpy_calls = load_module(Path(__file__).with_name("numpy_calls.py"), "numpy_calls")
selections = numpy_calls.selections


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


@pytest.mark.parametrize("kind", [selections.CallGenerator, selections.Generator])
@pytest.mark.parametrize("start", range(0, 16, 8))
def test_programs_of_several_sizes_agree_with_numpy(kind, start, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    for number in range(start, start + 8):
        generator = kind(number)
        source = generator.program()
        _, difference, details = numpy_calls.check(source, generator.arguments, number, 6)
        assert difference in ("", *numpy_calls.ACCEPTED_KINDS), f"{source}\n{generator.arguments}\n{details}"
