"""Lines of `explain()` for plain runs: the user's line and Python's terms."""

from __future__ import annotations

import dataclasses
import operator

import numpy as np

import autoconv


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float


def test_reasons_name_no_class_of_the_package():
    def chosen(x, table):
        return hash("left" if x < 3 else "right") in table, table[operator.itemgetter("a" if x < 3 else "b")(table)]

    compiled = autoconv.compile(chosen)
    table = {"a": "b", "b": "a"}
    assert compiled(2, table) == chosen(2, table)
    assert "Variant" not in compiled.explain() and "SymbolicObject" not in compiled.explain()


def test_the_line_is_not_that_of_generated_methods():
    def distinct(x, y):
        first, second = Point(x, y), Point(y, x)
        return len({first, second, first})

    compiled = autoconv.compile(distinct)
    assert compiled(1.0, 2.0) == 2
    reason = compiled.explain().splitlines()[1]
    line = distinct.__code__.co_firstlineno + 2
    assert f"test_reasons_of_plain_runs.py:{line}:" in reason and "tensor.ref" not in reason


def test_arguments_of_numpy_that_graphs_cannot_take():
    def zeros(n, names):
        return np.zeros(2, dtype=names[n])

    compiled = autoconv.compile(zeros)
    assert compiled(1, ["int64", "float32"]).dtype == np.float32
    assert "numpy.zeros is given an object that is known only at run time" in compiled.explain()
