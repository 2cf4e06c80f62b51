"""NumPy warns of means of no elements, also where a size is open and 0 in one call alone."""

import warnings

import numpy as np
import pytest

import autoconv


def result_and_warnings(function, x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = repr(function(x))
    return result, [(str(item.message), item.filename, item.lineno) for item in found]


def mean_and_deviation(x):
    return x.mean(), np.mean(x, axis=-1), np.std(x, ddof=1)


def means_of_rows(x):
    return x.mean(axis=0), x.reshape(-1, 2).mean(axis=1), np.var(x, axis=0)


@pytest.mark.parametrize("function", [mean_and_deviation, means_of_rows])
def test_means_of_open_sizes_that_are_0_in_one_call(function):
    compiled = autoconv.compile(function)
    for kind in (float, np.float32, int):
        for size in (4, 6, 8, 0, 2, 0, 1 if function is mean_and_deviation else 4):
            x = np.ones(size, kind)
            assert result_and_warnings(compiled, x) == result_and_warnings(function, x)
