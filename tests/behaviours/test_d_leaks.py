"""Section D: what a loop or a branch leaves behind."""

import pytest

import autoconv as tf


def test_line_084_a_list_that_grows_in_a_loop_or_a_branch():
    """The list becomes one of the graph, where TensorFlow leaks a tensor of the loop."""

    @tf.function
    def f(n):
        items = []
        for i in tf.range(n):
            items.append(i)
        if n > 2:
            items.append(n + 1)
        return items

    assert [int(x) for x in f(tf.constant(2))] == [0, 1]
    assert [int(x) for x in f(tf.constant(3))] == [0, 1, 2, 4]
    assert f.experimental_get_tracing_count() == 1

    kept = []

    @tf.function
    def leaks(n):
        for i in tf.range(n):
            kept.append(i)
        return n

    with pytest.raises(tf.errors.StagingError, match="a list made in the function") as caught:
        leaks(tf.constant(3))
    assert caught.value.place.line == leaks.python_function.__code__.co_firstlineno + 2
    assert kept == []
