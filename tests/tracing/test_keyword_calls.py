"""Calls with keyword arguments and with keyword-only parameters: natively by position, with Python's own errors."""

import inspect
import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from autoconv.tracing.api.function import Function
from tests.tracing.plain_comparison import result_or_error

X = np.array([1.0, 2.0, 3.0])


def ordinary(x, n, k=2.0):
    return x * n + k


def keyword_only(x, *, n, k=2.0):
    return x * n + k


def all_with_defaults(x, m=1.0, *, n=3.0, k=2.0):
    return x * n + k * m


def first_has_default(x=5.0, *, n, k=2.0):
    return x * n + k


def positional_only(x, n, /, k=2.0):
    return x * n + k


def variadic(*x, n=2.0):
    return x[0] * n


CALLS = [
    ((X, 3.0), {}), ((X, 3.0, 4.0), {}), ((X,), {"n": 3.0}), ((), {"n": 3.0, "x": X}), ((X,), {"k": 1.0, "n": 3.0}),
    ((X,), {"k": 1.0}), ((X,), {}), ((X, 3.0), {"k": 1.0}), ((X, 3.0), {"n": 4.0}), ((X,), {"n": 3.0, "z": 1.0}),
    ((), {"x": X}), ((), {"n": 3.0}), ((X, 1.0, 2.0, 3.0), {}), ((X,), {"m": 3.0}), ((X,), {"m": 3.0, "k": 1.0}),
    ((X,), {"".join(["n"]): 3.0}),
]  # fmt: skip
PROGRAMS = [ordinary, keyword_only, all_with_defaults, first_has_default, positional_only, variadic]


@pytest.fixture(autouse=True)
def graphs_alone(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def texts(value):
    return repr(value)


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_and_errors_are_those_of_python(program):
    compiled = autoconv.compile(program)
    for _ in range(3):
        for args, kwargs in CALLS:
            expected = result_or_error(lambda: program(*args, **kwargs))  # noqa: B023
            assert texts(result_or_error(lambda: compiled(*args, **kwargs))) == texts(expected), (args, kwargs)  # noqa: B023


@pytest.mark.parametrize(
    ("program", "call"),
    [
        (ordinary, lambda f: f(X, n=3.0)), (ordinary, lambda f: f(n=3.0, x=X)), (keyword_only, lambda f: f(X, n=3.0)),
        (keyword_only, lambda f: f(k=4.0, n=3.0, x=X)), (all_with_defaults, lambda f: f(X)),
        (all_with_defaults, lambda f: f(X, 2.0)), (positional_only, lambda f: f(X, 2.0, k=3.0)),
    ],
)  # fmt: skip
def test_they_enter_no_python_code(program, call, monkeypatch):
    compiled = autoconv.compile(program)
    for _ in range(4):
        call(compiled)
    monkeypatch.setattr(Function, "_run_graph", lambda *_: pytest.fail("Python code of the package ran"))
    monkeypatch.setattr(Function, "_call_by_trace", lambda *_: pytest.fail("Python code of the package ran"))
    np.testing.assert_array_equal(call(compiled), call(program))


def failing(x, *, n, factor=2):
    if x[0] > 5:
        raise ValueError("large")
    return n * factor * 2**40, x / n


def test_errors_warnings_and_large_numbers():
    compiled = autoconv.compile(failing)
    for x, n in ((X, 3), (X, 4), (X, 2**40), (X + 5, 3), (X, 3), (X, 2**40)):
        expected = result_or_error(lambda: failing(x, n=n))  # noqa: B023
        assert texts(result_or_error(lambda: compiled(x, n=n))) == texts(expected)  # noqa: B023
    for run in (failing, compiled, compiled):
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            run(X * 0 + 1, n=np.float64(0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        compiled(X, n=np.float64(2.0))


def test_changed_defaults_and_methods():
    def shifted(x, *, n=3.0):
        return x * n

    compiled = autoconv.compile(shifted)
    for _ in range(4):
        np.testing.assert_array_equal(compiled(X), X * 3)
    shifted.__kwdefaults__["n"] = 4.0
    np.testing.assert_array_equal(compiled(X), X * 4)
    shifted.__kwdefaults__ = None
    assert type(result_or_error(lambda: compiled(X))) is tuple

    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @autoconv.compile
        def run(self, x, *, n=1.0):
            return x * self.factor + n

    scales = Scale(2.0), Scale(5.0)
    for _ in range(5):
        for scale in scales:
            np.testing.assert_array_equal(scale.run(X, n=2.0), X * scale.factor + 2)
            np.testing.assert_array_equal(scale.run(x=X), X * scale.factor + 1)
            np.testing.assert_array_equal(Scale.run(scale, X, n=3.0), X * scale.factor + 3)
    assert "n" in inspect.signature(Scale.run).parameters


total = 0.0


def of_a_list(values, base=18.0, *, scale=1.0):
    return scale * sum(max(0.0, base - value) for value in values)


def of_a_dict(values, key="a", factor=2.0):
    values[key] += factor
    return values


def of_a_list_and_a_global(values, factor=2.0):
    global total
    total += factor * values[0]
    return total


def of_a_global(x, factor=2.0):
    global total
    total += factor * x
    return total


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (of_a_list, lambda i: [1.0 + i, 20.0, 3.5]), (of_a_dict, lambda i: {"a": 1.0 + i, "b": 2.0}),
        (of_a_list_and_a_global, lambda i: [1.0 + i, 2.0]), (of_a_global, float),
    ],
)  # fmt: skip
def test_structures_with_omitted_defaults(program, make, graphs_alone):
    def results(function):
        global total
        total = 0.0
        found = [function(make(i)) for i in range(4)]
        for i in range(3):
            found += [function(make(i)), function(make(i), "b" if program is of_a_dict else 0.5)]
        return [*found, total]

    assert results(autoconv.compile(program)) == results(program)
