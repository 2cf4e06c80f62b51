"""Arrays of the arguments beside tensors and variables from outside: results have the classes of plain Python's."""

import numpy as np
import pytest

import autoconv as tf

VARIABLE = tf.Variable(2.0, dtype=tf.float64)
TENSOR = tf.constant(2.0, dtype=tf.float64)


def scaled_sum(x):
    return (x * x).sum() * VARIABLE


def both_kinds(x):
    return x * 2, x * TENSOR


def separate(x):
    return x * 2, VARIABLE * 2


def written(x):
    x[0] = 3.0
    return x.sum() * VARIABLE


@pytest.mark.parametrize("function", [scaled_sum, both_kinds, separate, written])
def test_results_have_the_classes_of_plain_python(function):
    compiled = tf.compile(function)
    for _ in range(3):
        arrays = np.array([1.0, 2.0]), np.array([1.0, 2.0])
        expected, found = (f(array) for f, array in zip((function, compiled), arrays, strict=True))
        tuples = (value if isinstance(value, tuple) else (value,) for value in (expected, found))
        pairs = list(zip(*tuples, strict=True))
        assert [type(result) for _, result in pairs] == [type(plain) for plain, _ in pairs]
        assert all(np.array_equal(plain, result) for plain, result in pairs)
        np.testing.assert_array_equal(*arrays)


def test_numbers_beside_a_variable_stay_a_graph():
    compiled = tf.compile(lambda n: n * VARIABLE)
    assert float(compiled(3.0)) == 6.0
    assert compiled.concrete_functions
