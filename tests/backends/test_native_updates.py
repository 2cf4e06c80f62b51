"""Updates of long parts of arrays: the values of NumPy, from functions that do not change what others read."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import autoconv as ac

RANDOM = np.random.default_rng(4)
CUBE = RANDOM.normal(size=(5, 60, 20))


def set_row(a, b, k):
    a[k] = b
    return a


def set_every_second_column_backwards(a, b, k):
    a[1:3, ::-2] = k
    return a


def add_to_a_column(a, b, k):
    a[:, k] += b[k]
    return a


def shift_within_the_array(a, b, k):
    a[1:] = a[:-1] * 2 + b
    return a


def set_overlapping_part(a, b, k):
    a[:, 1:] = a[:, :-1]
    return a


def set_each_row(a, b, k):
    for i in range(len(a)):
        a[i] = b * i + k
    return a


def keep_the_array_before(a, b, k):
    c = a.copy()
    c[k, 1:] = b[1:]
    return a.sum(), c


FUNCTIONS = (
    set_row, set_every_second_column_backwards, add_to_a_column, shift_within_the_array, set_overlapping_part,
    set_each_row, keep_the_array_before,
)  # fmt: skip


@pytest.mark.optimised
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_values_are_those_of_numpy(function, dtype):
    array, rows = (100 * CUBE).astype(dtype), (100 * CUBE[0]).astype(dtype)
    expected_array, result_array = array.copy(), array.copy()
    expected = function(expected_array, rows, 2)
    result = ac.compile(function)(result_array, rows, 2)
    np.testing.assert_allclose(result_array, expected_array, rtol=1e-6)
    np.testing.assert_allclose(result[-1], expected[-1], rtol=1e-5)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_parts_of_one_column_overlap(is_reversed):
    """In an array of reversed rows, the column of the array's first row begins before the array's first element."""

    def shift_column(a, k):
        a[k:, 5] = a[:-k, 5] * 2 + a[k:, 7]

    def matrix():
        elements = np.arange(1000.0).reshape(50, 20)
        return elements[:, ::-1] if is_reversed else elements

    expected, result = matrix(), matrix()
    shift_column(expected, 1)
    ac.compile(shift_column)(result, 1)
    np.testing.assert_array_equal(result, expected)


def test_a_position_out_of_range_changes_nothing():
    array = CUBE.copy()
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        ac.compile(set_row)(array, CUBE[0], 5)
    np.testing.assert_array_equal(array, CUBE)


@pytest.mark.parametrize("count", [1, 700])
def test_gradients_of_parts_are_added(count):
    @ac.function
    def gradient(x, weights, row):
        with ac.GradientTape() as tape:
            tape.watch(x)
            total = ac.reduce_sum(x[row, 1:, ::2] * weights) + ac.reduce_sum(x[:, :, 3] ** 2)
        return tape.gradient(total, x)

    x, weights = RANDOM.normal(size=(4, 3 * count, 33)), RANDOM.normal(size=(3 * count - 1, 17))
    expected = np.zeros_like(x)
    expected[2, 1:, ::2] += weights
    expected[:, :, 3] += 2 * x[:, :, 3]
    result = gradient(ac.constant(x), ac.constant(weights), ac.constant(2))
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_a_repeated_number_is_not_an_array_in_loops():
    """Zeros and ones of gradients are numbers in loops, and arrays where a result or a kernel needs one."""

    @ac.function
    def parts(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            total = ac.reduce_sum(x[1:] * 2) + ac.reduce_sum(ac.nn.relu6(x))
        return tape.gradient(total, x), ac.zeros_like(x), ac.broadcast_to(ac.constant(3.0), [40, 50])

    x = RANDOM.normal(size=(60, 50)).astype(np.float32) * 5
    expected = ((x > 0) & (x < 6)).astype(np.float32)
    expected[1:] += 2
    gradient, zeros, threes = parts(ac.constant(x))
    np.testing.assert_array_equal(gradient, expected)
    np.testing.assert_array_equal(zeros, np.zeros((60, 50)))
    np.testing.assert_array_equal(threes, np.full((40, 50), 3.0))
    zeros.numpy()[:] = 1
    np.testing.assert_array_equal(parts(ac.constant(x))[1], np.zeros((60, 50)))
