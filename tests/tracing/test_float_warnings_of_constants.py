"""RuntimeWarnings of constants, outer arrays, means of no elements and unused results, without flags in graphs."""

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.tracing.test_float_warnings import ROWS, results_and_warnings


@pytest.fixture(autouse=True)
def graphs(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


NEGATIVE = np.array([-1.0, 4.0])


@pytest.mark.parametrize(
    "function", [lambda x: x + np.sqrt(NEGATIVE), lambda x: x + NEGATIVE // 0, lambda x: np.log(NEGATIVE).sum()]
)
def test_warnings_of_outer_arrays(function):
    compiled = autoconv.compile(function)
    for _ in range(3):
        assert results_and_warnings(compiled, np.ones(2))[1] == results_and_warnings(function, np.ones(2))[1] != set()


def test_warnings_of_constants_are_at_the_users_line():
    def shifted(x):
        return x + np.log(0.0)

    compiled = autoconv.compile(shifted)
    x = np.ones(2)
    for _ in range(2):
        assert results_and_warnings(compiled, x)[1] == results_and_warnings(shifted, x)[1] != set()
    with np.errstate(divide="ignore"):
        assert results_and_warnings(compiled, x)[1] == set()


def test_errors_of_constants_that_were_ignored_while_tracing():
    def shifted(x):
        return x + np.log(0.0)

    compiled, x = autoconv.compile(shifted), np.ones(2)
    with np.errstate(all="ignore"):
        assert results_and_warnings(compiled, x)[1] == set()
    assert results_and_warnings(compiled, x)[1] == results_and_warnings(shifted, x)[1] != set()


def mean_of_no_elements(x):
    return x[:0].mean() + 1


def means_of_rows_without_elements(x):
    return x.reshape(-1, 1)[:, :0].mean(axis=1)


def quotient_before_an_error(x):
    y = 1 / x
    if x[0] < 9:
        raise ValueError(y[1])
    return y


def root_of_a_constant(x):
    return np.sqrt(-1.0)


def stored_root_of_a_constant(x):
    x[0] = np.sqrt(-1.0)
    return x


@pytest.mark.parametrize(
    "function",
    [
        mean_of_no_elements, means_of_rows_without_elements, quotient_before_an_error, root_of_a_constant,
        stored_root_of_a_constant,
    ],
)  # fmt: skip
def test_means_of_no_elements_and_calls_that_raise(function):
    def outcome(called, x):
        try:
            return str(called(x))
        except ValueError as error:
            return repr(error)

    compiled = autoconv.compile(function)
    for row in ROWS:
        x = np.array(row)
        expected = results_and_warnings(lambda x: outcome(function, x), x)
        assert results_and_warnings(lambda x: outcome(compiled, x), x) == expected
    assert "plain Python" not in compiled.explain()


def unused_quotient(x):
    1 / x
    x[1:] // 0
    return len(x)


def unused_before_an_error(x):
    np.sqrt(x)
    return x[len(x)]


def changed_before_an_error(x):
    x /= 0
    return x[len(x)]


def unused_through_others(x):
    np.logical_not(x / x)
    np.abs(1 / x)[::-1] + 1
    x *= 2
    return x


def unused_conversion_before_an_error(x):
    x.astype(np.int32)
    return x[len(x)]


def unused_mean_before_an_error(x):
    np.mean(x[:0])
    return x[len(x)]


def mean_beside_no_elements(x):
    nothing = x.astype(np.int32)[:0]
    return nothing.mean() / nothing


def unused_sum_of_numbers(x):
    numbers = x.astype(np.int64) * (2**62) + 2**62
    numbers[0] + numbers[1]
    return len(x)


@pytest.mark.parametrize(
    "program",
    [
        unused_quotient, unused_before_an_error, changed_before_an_error, unused_through_others,
        unused_conversion_before_an_error, unused_mean_before_an_error, mean_beside_no_elements, unused_sum_of_numbers,
    ],
)  # fmt: skip
def test_warnings_of_unused_results(program):
    def called(function, row):
        x = np.array(row)
        try:
            return str(function(x)), x.tolist()
        except IndexError as error:
            return str(error), x.tolist()

    compiled = autoconv.compile(program)
    for row in ([1.0, 2], [-1.0, 2], [0.0, 1], [np.nan, 1e20]):
        expected = results_and_warnings(called, program, row)
        found = results_and_warnings(called, compiled, row)
        assert str(found[0]) == str(expected[0])
        assert found[1] == expected[1]


def test_an_error_after_unused_results_warns_on_each_call():
    compiled = autoconv.compile(unused_before_an_error)

    def called(function):
        with pytest.raises(IndexError):
            function(np.array([-1.0, 2]))

    for _ in range(9):
        expected = results_and_warnings(called, unused_before_an_error)[1]
        assert results_and_warnings(called, compiled)[1] == expected != set()
