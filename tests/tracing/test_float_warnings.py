"""RuntimeWarnings of NumPy: a compiled function warns where plain NumPy does, with its text, file and line."""

import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def graphs(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def warned(function, *arguments, action="always"):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        value = function(*arguments)
    return value, {(str(one.message), one.category, one.filename, one.lineno) for one in found}


def quotient(x):
    return 1 / x + 1


def logarithm(x):
    return np.log(x) + 1


def exponential(x):
    return np.exp(x) * 2


def difference(x):
    return x - x


def power(x):
    return x**1000.0


def accumulated(x):
    total = 0.0
    for i in range(len(x)):
        total += 1 / x[i]
    return total


def filled(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] / 0.0
    return y


PROGRAMS = [quotient, logarithm, exponential, difference, power, np.sqrt, accumulated, filled]
ROWS = [[1.0, 2, 3], [1, 0, 2], [-1, 1, 2], [800, 1e200, np.inf], [1, 2, 3], [0, 0, 0], [np.nan, 1, 2], [1, 0, 2]]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("size", [3, 300])
def test_warnings_are_those_of_numpy(program, size):
    def plain(x):
        return program(x)

    compiled = autoconv.compile(plain)
    expected_texts = set()
    for row in ROWS:
        x = np.resize(np.array(row, float), size)
        expected, found = warned(plain, x), warned(compiled, x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        assert found[1] == expected[1]
        expected_texts |= expected[1]
    assert expected_texts and "1 trace" in compiled.explain()


def test_threads_of_a_loop_raise_flags_too():
    x = np.ones(2_000_000)
    compiled = autoconv.compile(quotient)
    assert not warned(compiled, x)[1]
    x[-1] = 0
    assert warned(compiled, x)[1] == warned(quotient, x)[1] != set()


def test_filters_of_errors_make_exceptions():
    compiled = autoconv.compile(quotient)
    compiled(np.array([1.0, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            compiled(np.array([1.0, 0]))
        assert compiled(np.array([1.0, 0.5])).tolist() == [2, 3]
        with np.errstate(divide="ignore"):
            assert compiled(np.array([1.0, 0])).tolist() == [2, np.inf]


def test_errstate_in_the_function_ignores():
    @autoconv.compile
    def guarded(x):
        with np.errstate(divide="ignore"):
            return 1 / x

    assert not warned(guarded, np.array([1.0, 0]))[1]
    assert not warned(guarded, np.array([1.0, 0]))[1]


def test_flags_of_the_program_before_the_call_do_not_count():
    compiled = autoconv.compile(quotient)
    x, zeros = np.array([1.0, 2]), np.zeros(2)
    for _ in range(3):
        with np.errstate(all="ignore"):
            zeros / zeros
        assert not warned(compiled, x)[1]


def test_a_warning_that_is_shown_once_costs_few_plain_runs():
    compiled, runs = autoconv.compile(quotient), []
    x = np.array([1.0, 0])
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("default")
        compiled(x)
        compiled.python_function = lambda *given: runs.append(1) or quotient(*given)
        for _ in range(1000):
            compiled(x)
    assert 4 < len(runs) < 16


class Counter:
    def __init__(self):
        self.calls, self.items, self.table, self.array = 0, [], {}, np.zeros(2)


CHANGES = {
    "attribute": lambda counter: setattr(counter, "calls", counter.calls + 1),
    "list": lambda counter: counter.items.append(1),
    "dict": lambda counter: counter.table.update({len(counter.table): 1}),
    "array": lambda counter: np.add(counter.array, 1, out=counter.array),
    "print": lambda counter: print("called"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_side_effects_happen_once(change, capsys):
    """Such a call does not run again, and is without a warning."""
    states = []
    for decorate in (lambda function: function, autoconv.compile):
        counter, act = Counter(), CHANGES[change]

        def function(x):
            act(counter)  # noqa: B023
            return 1 / x

        called = decorate(function)
        for _ in range(3):
            warned(called, np.array([1.0, 0]))
        state = {name: np.asarray(value).tolist() for name, value in vars(counter).items()}
        states.append((state, capsys.readouterr().out))
    assert states[0] == states[1]


def test_errors_of_constants_are_at_the_users_line():
    def shifted(x):
        return x + np.log(0.0)

    compiled = autoconv.compile(shifted)
    x = np.ones(2)
    for _ in range(2):
        assert warned(compiled, x)[1] == warned(shifted, x)[1] != set()
    with np.errstate(divide="ignore"):
        assert warned(compiled, x)[1] == set()


def test_gradients_are_those_of_the_trace():
    def volume(x):
        return np.sum(1 / x + np.log(x))

    compiled = autoconv.compile(volume)
    for row in ([1.0, 2.0], [0.0, 2.0], [4.0, 5.0]):
        x = np.array(row)
        with np.errstate(all="ignore"):
            expected = 1 / x - 1 / x**2
        np.testing.assert_allclose(np.asarray(autoconv.grad(compiled)(x)), expected, rtol=1e-12)
