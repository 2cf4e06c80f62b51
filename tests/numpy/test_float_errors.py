"""`np.errstate` and `np.seterr` under `compile`: errors of floats are raised, called and ignored as by NumPy."""

import warnings

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from tests.numpy.agreement import check_agreement, outcome


@pytest.mark.parametrize("kind", ["raise", "call"])
def test_each_setting_for_float_errors(kind):
    told = []

    def f(x):
        with np.errstate(divide=kind, call=lambda *error: told.append(error)):
            return 1 / x

    check_agreement(f, lambda: np.zeros(2))
    assert len(told) == (6 if kind == "call" else 0)


def test_nothing_is_traced_while_float_errors_raise():
    def f(x):
        return 1 / x

    compiled = check_under_errstate(f, np.zeros(2))
    np.testing.assert_array_equal(compiled(np.full(2, 4.0)), [0.25, 0.25])
    assert "NumPy raise, call" in compiled.explain() and "1 trace" in compiled.explain()


def check_under_errstate(function, x):
    compiled = ac.compile(function)
    before = np.seterr(all="raise")
    try:
        for _ in range(3):
            assert outcome(compiled, [x]) == outcome(function, [x])
            assert outcome(compiled, [x])[0] is FloatingPointError
    finally:
        np.seterr(**before)
    return compiled


def test_errors_of_floats_are_raised_by_warm_calls_too():
    compiled, x = ac.compile(lambda x: 1.0 / x), np.array([1.0, 0.0])
    with np.errstate(all="ignore"):
        for _ in range(5):
            compiled(x)
    for _ in range(3):
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
            compiled(x)
        with np.errstate(divide="ignore"):
            assert compiled(x).tolist() == [1.0, np.inf]
    before = np.seterr(all="raise")
    try:
        with pytest.raises(FloatingPointError):
            compiled(x)
    finally:
        np.seterr(**before)


@pytest.mark.parametrize("calls", range(1, 9))
def test_errors_of_floats_are_raised_however_many_calls_were_before(monkeypatch, calls):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")

    def writes(a, b):
        for i in range(len(a)):
            a[i] = b[i]

    compiled, a, b = ac.compile(writes), np.zeros(3, np.float32), np.array([1.0, 1e300, 2.0])
    with np.errstate(over="ignore"):
        for _ in range(calls):
            compiled(a, b)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        compiled(a, b)


@pytest.mark.parametrize(
    "test",
    [
        lambda x: np.sqrt(x).astype(bool),
        lambda x: np.sqrt(x) != 0,
        lambda x: np.sqrt(x) > 0,
        lambda x: np.sign(np.sqrt(x))[x > 0],
        lambda x: np.any(np.sqrt(x)),
        lambda x: np.count_nonzero(np.sqrt(x)),
        lambda x: np.isnan(np.sqrt(x)),
    ],
)
@pytest.mark.optimised
def test_tests_of_roots_keep_their_warning(test, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(test)
    for x in (np.array([4.0, 0.0, 9.0, 1.0] * 5), np.array([4.0, -1.0, 0.0, 9.0] * 5), np.array([-1.0])):
        for _ in range(2):
            with warnings.catch_warnings(record=True) as expected:
                warnings.simplefilter("always")
                test(x)
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                compiled(x)
            assert [str(warning.message) for warning in found] == [str(warning.message) for warning in expected]
