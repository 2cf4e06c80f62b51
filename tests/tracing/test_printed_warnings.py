"""RuntimeWarnings among printed lines: plain Python's order, also where warnings are printed or raised."""

import contextlib
import io
import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.module_loading import load_module


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


def test_warnings_that_were_shown_are_not_shown_again():
    """Python forgets them when filters change, and kernels of NumPy that may warn run without the program's filters."""

    @autoconv.compile
    def estimate(x):
        return np.nanmedian(x) + np.nanquantile(x, 0.3) + np.polyfit(x, x, 1)[0]

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        shown = []
        warnings.showwarning = lambda message, *_: shown.append(str(message))
        for _ in range(4):
            warnings.warn("once for this line", stacklevel=1)
            estimate(np.arange(5.0))
    assert shown == ["once for this line"]


@pytest.mark.parametrize("action", ["always", "error"])
def test_warnings_of_the_compiler_are_not_shown_again(tmp_path, action):
    """Python shows them when it compiles the program; the first call of a function parses its text again."""
    path = tmp_path / f"invalid_escape_{action}.py"
    path.write_text("def f(x):\n    total = 0\n    for i in range(x):\n        total += i\n    return total, '\\d'\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        module = load_module(path)
        warnings.simplefilter(action)
        assert autoconv.compile(module.f)(4) == (6, "\\d")
    assert not caught
