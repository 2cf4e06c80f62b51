"""Reductions of windows of an array, whose sizes are known when the program runs, in loops over positions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autoconv as ac

VECTOR = np.random.default_rng(3).normal(size=40)
IMAGE = np.random.default_rng(4).normal(size=(9, 11))


def means(x, width):
    result = np.zeros(len(x))
    for i in range(len(x)):
        result[i] = x[i : i + width].mean()
    return result


def test_extremes_of_bools_are_native():
    def extremes(x):
        result = np.zeros((2, len(x)), bool)
        for i in range(1, len(x)):
            result[0, i], result[1, i] = x[:i].max(), np.min(x[i - 1 : i + 2])
        return result

    x = VECTOR > 0
    compiled = ac.compile(extremes)
    np.testing.assert_array_equal(compiled(x), extremes(x))
    assert "kernels" not in compiled.explain()
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        ac.compile(lambda x, i: x[i:].max())(x, 40)


def centred_sums(x, width):
    result = np.zeros(len(x))
    for i in range(len(x)):
        window = x[max(i - width, 0) : i + width + 1]
        result[i] = np.sum(window) / len(window) - window.mean() + window.size
    return result


def written_between(x, width):
    result = np.zeros(len(x))
    for i in range(len(x) - width):
        window = x[i : i + width]
        before = window.sum()
        x[i + 1] += 0.25
        result[i] = before - window.mean() * len(window)
    return result


def means_of_rows(image):
    height, width = image.shape
    result = np.zeros((height, width))
    for i in range(1, height - 1):
        for j in range(1, width - 1):
            result[i, j] = image[i - 1 : i + 2, j - 1 : j + 2].mean()
    return result


@pytest.mark.parametrize("function", [means, centred_sums, written_between])
@pytest.mark.parametrize("width", [1, 5, 30])
def test_windows_of_a_vector(function, width):
    found, expected = (f(VECTOR.copy(), width) for f in (ac.compile(function), function))
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_windows_of_an_image():
    np.testing.assert_allclose(ac.compile(means_of_rows)(IMAGE), means_of_rows(IMAGE), rtol=1e-13)


def test_the_mean_of_an_empty_window_warns_in_order():
    def program(x):
        total = 0.0
        for i in range(4):
            total += np.nan_to_num(x[i : 2 * i].mean(), nan=-1.0)
        return total

    outcomes = []
    for function in (program, ac.compile(program)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcomes.append((function(np.arange(9.0)), [str(warning.message) for warning in caught]))
    assert outcomes[0] == outcomes[1]
    assert "Mean of empty slice" in outcomes[0][1]
