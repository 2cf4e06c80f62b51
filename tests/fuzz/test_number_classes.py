"""A few numbers whose class depends on the path; `python tests/fuzz/number_classes.py` is the large search."""

from pathlib import Path

from tests.module_loading import load_module

number_classes = load_module(Path(__file__).with_name("number_classes.py"), "number_classes")


def test_numbers_keep_the_classes_of_plain_python():
    for number in range(10):
        source = number_classes.program(number)
        kind, details = number_classes.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
