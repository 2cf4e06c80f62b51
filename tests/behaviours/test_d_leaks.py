"""Section D: values that loops and branches leave in Python."""

import pytest

import autoconv as tf


def test_line_084_a_list_that_grows_in_a_loop_or_a_branch():
    """The list becomes a list of the graph; TensorFlow leaks a tensor of the loop."""

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

    leaked = []

    @tf.function
    def leaks(n):
        for i in tf.range(n):
            leaked.append(i)
        return n

    with pytest.raises(tf.errors.StagingError, match="a list made in the function") as caught:
        leaks(tf.constant(3))
    assert caught.value.place.line == leaks.python_function.__code__.co_firstlineno + 2
    assert leaked == []


class Mode:
    name = "first"


def test_values_that_a_tensor_decides_are_not_left_outside():
    """In TensorFlow the value is that of the arm that was traced last, whichever arm runs."""
    log, named, mode = ["start"], {"k": 0}, Mode()

    def written(x):
        if x > 0:
            log.append("positive")
        else:
            log.append("negative")
        return x

    def keyed(x):
        if x > 0:
            named["k"] = "positive"
        return x

    def set_attribute(x):
        if x > 0:
            mode.name = "positive"
        return x

    for function in (written, keyed, set_attribute):
        with pytest.raises(tf.errors.StagingError, match="a tensor decides which value is left in it"):
            tf.function(function)(tf.constant(1))
    assert (log, named, mode.name) == (["start"], {"k": 0}, "first")


def test_a_tensor_left_outside_by_one_arm_is_named_where_it_is_used():
    mode = Mode()

    @tf.function
    def leaves(x):
        if x > 0:
            mode.name = x * 2
        return x

    leaves(tf.constant(1))
    with pytest.raises(tf.errors.InaccessibleTensorError):
        tf.function(lambda y: mode.name + y)(tf.constant(1))
