"""A few programs of classes, functions, patterns and elements; `python tests/fuzz/constructs.py` is the search."""

from pathlib import Path

from tests.module_loading import load_module

constructs = load_module(Path(__file__).with_name("constructs.py"), "programs_of_constructs")


def test_programs_of_classes_and_elements_have_the_effects_of_plain_python():
    kinds = []
    for number in range(12):
        source = constructs.program(number)
        kind, details = constructs.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("graph") + kinds.count("several traces") >= 3
