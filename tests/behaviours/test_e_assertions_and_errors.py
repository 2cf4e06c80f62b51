"""Assertions, raised errors and effects in branches that a tensor decides."""


import pytest

import autoconv as tf
from tests.behaviours.facts import values


def test_line_100_assert():
    @tf.function
    def f(x):
        assert x > 1, "too small"
        return x

    assert f(tf.constant(2)).numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[too small\]") as caught:
        f(tf.constant(1))
    assert isinstance(caught.value, AssertionError)

    @tf.function(experimental_autograph_options=tf.autograph.experimental.Feature.ALL)
    def with_all(x):
        assert x > 1, "too small"
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[too small\]"):
        with_all(tf.constant(1))


def test_line_101_raise():
    @tf.function
    def f(x):
        if x < 0:
            raise ValueError(f"negative: {x}")
        return x

    assert f(tf.constant(1)).numpy() == 1
    with pytest.raises(ValueError, match=r"^negative: -2"):
        f(tf.constant(-2))
    assert f.experimental_get_tracing_count() == 1

    table = {"known": 1}

    @tf.function
    def by_helper(x):
        if x < 0:
            return table["missing"]
        return x

    assert by_helper(tf.constant(1)).numpy() == 1
    with pytest.raises(KeyError, match="missing"):
        by_helper(tf.constant(-1))


def test_line_102_stateful_ops_of_the_branch_taken():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0:
            v.assign_add(1)
        else:
            v.assign_sub(10)
        return v.read_value()

    assert values(*(f(tf.constant(x)) for x in (1, -1, 1))) == [1, -9, -8]
