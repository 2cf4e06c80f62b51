"""Results of one call that are one array, or share memory with each other."""

import numpy as np
import pytest

import autoconv


def test_an_array_of_constants_that_is_returned_twice_is_one():
    def f(b):
        ones = np.ones(len(b))
        return ones, [ones]

    compiled = autoconv.compile(f)
    for _ in range(3):
        first, (second,) = compiled(np.zeros(4))
        assert first is second
        np.testing.assert_array_equal(first, np.ones(4))
        first[0] = 7.0  # which the next call does not see


@pytest.mark.parametrize("of", [lambda b: b + 1.0, lambda b: np.ones(len(b))])
def test_a_result_that_is_a_view_of_another_stays_one(of):
    def f(b):
        made = of(b)
        return made, made[1:], made[::-1]

    whole, rest, turned = autoconv.compile(f)(np.zeros(4))
    whole[3] = 5.0
    np.testing.assert_array_equal(rest, [1.0, 1.0, 5.0])
    np.testing.assert_array_equal(turned, [5.0, 1.0, 1.0, 1.0])
