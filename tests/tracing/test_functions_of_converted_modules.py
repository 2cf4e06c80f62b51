"""Functions of a converted module are guarded as others are: what they read and change outside of the trace."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import autoconv.importing

PROGRAM = """\
import numpy as np

SCALE = 2.0
TABLE = np.arange(3.0)


def helper(x):
    return x * SCALE + TABLE.sum()


def through_helper(x):
    return helper(x)


def calls(function, *arguments):
    return function(*arguments)


def handled(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error)


def change(k):
    TABLE[0] += k
    return TABLE


def scaled(x, k):
    x *= k
    x -= x.min()
    return x


def adder(n):
    box = [n]

    def add(x):
        return x + box[0] + n

    return add, box


def outer_names():
    global SCALE, TABLE
    results = []
    for i in range(4):
        results.append((through_helper(1.0), calls(helper, 2.0)))
        SCALE += 1.0
        TABLE[1] += 1.0
    TABLE = np.ones(2)
    results.append((through_helper(1.0), calls(helper, 2.0)))
    return results


def cells():
    add, box = adder(5)
    results = []
    for i in range(3):
        results.append(calls(add, 1.5))
        box[0] += 10
    return results


def changed_arrays():
    results = []
    for i in range(3):
        results.append(calls(change, i).tolist())
    for x, k in ((np.arange(3), 2), (np.arange(3.0), 1.5), (np.arange(3), 1.5), (np.array([]), 2)):
        result = handled(lambda: scaled(x, k))
        results.append((str(result), result is x, x.tolist()))
    return results


def inner_functions(x):
    def twice(y):
        return 2 * y + x

    return [twice(k) for k in range(3)], calls(lambda y: twice(y) + x, 3)
"""
COMPILED = ("through_helper", "calls", "handled", "inner_functions")


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """The program as it is, and converted with some functions compiled."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("outside_plain", "outside_converted"):
        (tmp_path / f"{name}.py").write_text(PROGRAM)
    finders = list(sys.meta_path)
    plain = importlib.import_module("outside_plain")
    autoconv.importing.install("outside_converted", compile=COMPILED)
    yield plain, importlib.import_module("outside_converted")
    sys.meta_path[:] = finders
    for name in ("outside_plain", "outside_converted"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("scenario", ["outer_names", "cells", "changed_arrays"])
def test_changes_from_outside(modules, scenario):
    plain, converted = modules
    assert all(hasattr(getattr(converted, name), "explain") for name in COMPILED)
    assert getattr(converted, scenario)() == getattr(plain, scenario)()


def test_functions_that_the_trace_makes_are_not_guarded(modules):
    plain, converted = modules
    for x in (1.5, 2.5, 3):
        assert converted.inner_functions(x) == plain.inner_functions(x)
    assert converted.inner_functions.explain().startswith("inner_functions: 2 traces")  # of floats and of ints
    assert np.array_equal(converted.TABLE, plain.TABLE)
