"""Sums that begin as Python numbers and become NumPy's under a condition: values, classes and code without a tag."""

import warnings

import numpy as np
import pytest

import autoconv as ac
from autoconv.tracing.api.stages import stages


def positive_sum(x):
    s = 0.0
    for j in range(len(x)):
        if x[j] > 0:
            s += x[j]
    return s


def halved_sum(x):
    s = 0.0
    for j in range(len(x)):
        if x[j] > 0:
            s += x[j]
        s *= 0.5
        s = s - 2
    return s


def signed_count(x):
    t = 0
    for j in range(len(x)):
        if x[j] > 2:
            t += x[j]
        elif x[j] < -2:
            t -= x[j] * 2
    return t


def overflowing_sum(x):
    s = 2**62
    for j in range(len(x)):
        if x[j] > 0:
            s += np.int64(2**61)
    return s


def quotients(x):
    s = 7
    for j in range(len(x)):
        if x[j] > 1:
            s //= x[j]
    return s, s + np.int64(1), -s


@pytest.mark.parametrize("function", [positive_sum, halved_sum, signed_count, overflowing_sum, quotients])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.float32])
def test_values_classes_and_warnings(function, dtype):
    compiled = ac.compile(function)
    for n in (1, 5, 6, 30, 31):
        numbers = np.random.default_rng(n).normal(size=n) * 5
        for x in (numbers.astype(dtype), np.abs(numbers).astype(dtype), -np.abs(numbers).astype(dtype)):
            outcomes = []
            for item in (function, compiled):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    outcomes.append((repr(item(x)), [str(warning.message) for warning in caught]))
            assert outcomes[0] == outcomes[1]
    assert "plain" not in compiled.explain()


def test_a_sum_is_computed_once_for_both_classes():
    before, *_ = stages(ac.compile(positive_sum), "float64[100]")
    assert before.text.count(" = add(") == 1
