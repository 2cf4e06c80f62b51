"""A few exceptions that handlers raise and keep; `python tests/fuzz/exception_links.py` is the large search."""

from pathlib import Path

from tests.module_loading import load_module

exception_links = load_module(Path(__file__).with_name("exception_links.py"), "exception_links")


def test_exceptions_and_their_links_are_those_of_python():
    for number in range(8):
        source = exception_links.program(number)
        kind, details = exception_links.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
