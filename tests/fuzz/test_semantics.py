"""A few programs of tuples in containers and effects in expressions; `python tests/fuzz/semantics.py` is the search."""

from pathlib import Path

from tests.module_loading import load_module

semantics = load_module(Path(__file__).with_name("semantics.py"), "programs_of_semantics")


def test_programs_have_the_effects_of_plain_python():
    for number in range(12):
        source = semantics.program(number)
        kind, details = semantics.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
