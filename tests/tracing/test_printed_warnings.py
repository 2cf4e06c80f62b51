"""RuntimeWarnings among printed lines: plain Python's order, also where warnings are printed or raised."""

import contextlib
import io
import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def graphs(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def prints_sums(x):
    total = 0.0
    for i, value in enumerate(x):
        total += 1 / value
        print(i, total)
    return total


def prints_before_the_result_is_used(x):
    y = 1 / x[0]
    print("start")
    return y


def writes(x):
    x[1] = 5
    x[2] = (1 / x[:1]).sum()
    return x


def leaves_arrays_to_numpy(x):
    total = x[1]
    for i in range(len(x)):
        print(i, x[i] / x[i])
        total = x[1] - x[i]
    x[1] = total
    return total is x[1]


def outcome(function, x, action):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter(action)
        warnings.showwarning = lambda message, *_: print("warning:", message)
        try:
            result = repr(function(x))
        except RuntimeWarning as warning:
            result = repr(warning)
    return result, x.tolist(), out.getvalue()


@pytest.mark.parametrize("action", ["always", "error"])
@pytest.mark.parametrize(
    "program", [prints_sums, prints_before_the_result_is_used, writes, leaves_arrays_to_numpy], ids=lambda f: f.__name__
)
def test_text_and_warnings_are_those_of_plain_python(program, action):
    compiled = autoconv.compile(program)
    for first in (2.0, 0.0, 1.0, 0.0, 4.0):
        x = np.array([first, 2.0, 3.0])
        assert outcome(compiled, x.copy(), action) == outcome(program, x, action)
    assert compiled.experimental_get_tracing_count(), compiled.explain()


def test_raised_warnings_are_seen_after_many_calls_without_one():
    compiled = autoconv.compile(writes)
    for first in (*range(1, 12), 0.0, 3.0):
        x = np.array([float(first), 2.0, 3.0])
        assert outcome(compiled, x.copy(), "error") == outcome(writes, x, "error")
