"""A few chains of views and copies of arrays; `python tests/fuzz/array_copies.py` is the large search."""

from pathlib import Path

from tests.module_loading import load_module

array_copies = load_module(Path(__file__).with_name("array_copies.py"), "array_copies")


def test_views_copies_and_later_writes_are_those_of_numpy():
    for number in range(8):
        source = array_copies.program(number)
        kind, details = array_copies.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
