"""A few operators between numbers and values of other classes; `python tests/fuzz/foreign.py` is the large search."""

from pathlib import Path

import numpy as np

from tests.module_loading import load_module

foreign = load_module(Path(__file__).with_name("foreign.py"), "foreign_programs")


def test_operators_mean_the_same_as_in_python():
    with np.errstate(all="ignore"):
        for number in range(12):
            source = foreign.program(number)
            kind, details = foreign.check(source, number)
            assert kind != "WRONG", f"{source}\n{details}"
