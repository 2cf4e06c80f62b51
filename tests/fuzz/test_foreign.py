"""A few operators between numbers and values of other classes; `python tests/fuzz/foreign.py` is the large search."""

import importlib.util
from pathlib import Path

import numpy as np

_PATH = Path(__file__).with_name("foreign.py")
_SPEC = importlib.util.spec_from_file_location("foreign_programs", _PATH)
foreign = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(foreign)


def test_operators_mean_what_they_mean_in_python():
    with np.errstate(all="ignore"):
        for number in range(12):
            source = foreign.program(number)
            kind, details = foreign.check(source, number)
            assert kind != "WRONG", f"{source}\n{details}"
