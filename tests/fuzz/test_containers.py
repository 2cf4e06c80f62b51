"""A few dicts of arrays whose items are replaced; `python tests/fuzz/containers.py` is the large search."""

from pathlib import Path

from tests.module_loading import load_module

containers = load_module(Path(__file__).with_name("containers.py"), "containers")


def test_dicts_have_the_contents_and_the_identities_of_plain_python():
    for number in range(5):
        source = containers.program(number)
        kind, details = containers.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
