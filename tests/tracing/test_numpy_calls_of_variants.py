"""Arguments of NumPy's functions that are an int on one path and a NumPy scalar on another."""

import numpy as np
import pytest

import autoconv


@pytest.mark.parametrize("total", (6, 2))
def test_fill_values_of_two_classes(total):
    def f(x, k):
        if x.sum() > 4:
            k = x.sum() + 2.5
        return np.full(3, k), np.full(2, fill_value=k), np.maximum(k, 1)

    x = np.ones(total, np.float32)
    expected, found = f(x, 2), autoconv.compile(f)(x, 2)
    for actual_part, expected_part in zip(found, expected, strict=True):
        assert type(actual_part) is type(expected_part)
        assert actual_part.dtype == expected_part.dtype
        np.testing.assert_array_equal(actual_part, expected_part)


@pytest.mark.parametrize("total", (6, 2))
def test_attributes_of_arrays_of_two_dtypes(total):
    def f(x, k):
        if x.sum() > 4:
            k = x.sum() + 2.5
        filled = np.full(3, k)
        return filled.dtype, filled.shape, filled.ndim, filled.size

    x = np.ones(total)
    assert autoconv.compile(f)(x, 2) == f(x, 2)
