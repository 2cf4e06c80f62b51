"""Effects of every call: the next element, random numbers, the time."""

from __future__ import annotations

import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_line_080_next_of_an_iterator(capsys):
    @tf.function
    def good(iterator):
        print("trace")
        return next(iterator)

    iterator = iter(Dataset.from_tensor_slices([1, 2, 3]))
    assert [int(good(iterator)) for _ in range(3)] == [1, 2, 3]
    assert capsys.readouterr().out == "trace\n"
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        good(iterator)
    assert good.experimental_get_tracing_count() == 1


def test_line_082_random_numbers_differ_per_call_and_numpys_do_not():
    import random
    import time

    import numpy as np

    @tf.function
    def frozen():
        return tf.constant(np.random.rand()), tf.constant(time.time(), tf.float64), tf.constant(random.random())

    @tf.function
    def drawn():
        return tf.random.uniform([]), tf.timestamp()

    assert [x.numpy() for x in frozen()] == [x.numpy() for x in frozen()]
    (a, before), (b, after) = drawn(), drawn()
    assert float(a) != float(b) and float(after) > float(before)
