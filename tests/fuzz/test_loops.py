"""A few loops over numbers of Python beside arrays; `python tests/fuzz/loops.py` is the large search."""

from pathlib import Path

from tests.module_loading import load_module

loops = load_module(Path(__file__).with_name("loops.py"), "programs_of_loops")


def test_loops_have_the_results_of_plain_python():
    kinds = []
    for number in range(10):
        source = loops.program(number)
        kind, details = loops.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("graph") >= 5
