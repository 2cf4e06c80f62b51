"""A few exceptions that handlers raise and keep; `python tests/fuzz/exception_links.py` is the large search."""

import importlib.util
from pathlib import Path

_PATH = Path(__file__).with_name("exception_links.py")
_SPEC = importlib.util.spec_from_file_location("exception_links", _PATH)
exception_links = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(exception_links)


def test_exceptions_and_their_links_are_those_of_python():
    for number in range(8):
        source = exception_links.program(number)
        kind, details = exception_links.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
