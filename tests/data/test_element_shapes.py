"""Functions that take the next element of an iterator, whose number of examples differs from element to element."""

import numpy as np
import pytest

import autoconv as tf


def batches(count, size):
    data = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    return data, tf.data.Dataset.from_tensor_slices((data, np.arange(count))).batch(size)


def test_each_batch_gets_its_own_sizes():
    data, dataset = batches(10, 4)
    traces = []

    @tf.function
    def step(iterator):
        traces.append(1)
        x, label = iterator.get_next()
        return tf.reduce_mean(x), tf.reshape(x, [tf.shape(x)[0] * 3]), label + 1

    for _ in range(7):
        iterator = iter(dataset)
        for start in range(0, 10, 4):
            part = data[start : start + 4]
            mean, flat, labels = step(iterator)
            np.testing.assert_allclose(mean, part.mean(), rtol=1e-6)
            np.testing.assert_array_equal(flat, part.ravel())
            np.testing.assert_array_equal(labels, np.arange(start, start + len(part)) + 1)
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            step(iterator)
    assert traces == [1]


def test_many_sizes_in_one_pass():
    sizes = [5, 3, 1, 7, 2, 5, 9, 3, 0, 7, 7, 7, 7, 7, 7, 4]
    elements = [np.arange(size, dtype=np.float32) for size in sizes]
    spec = tf.TensorSpec([None], tf.float32)
    iterator = iter(tf.data.Dataset.from_generator(lambda: iter(elements), output_signature=spec))
    step = tf.function(lambda iterator: tf.cumsum(iterator.get_next() * 2.0))
    for element in elements:
        np.testing.assert_array_equal(step(iterator), np.cumsum(element * 2.0))


def test_effects_follow_the_element():
    total = tf.Variable(0.0)
    _, dataset = batches(5, 2)

    @tf.function
    def step(iterator):
        x, _ = iterator.get_next()
        total.assign_add(tf.reduce_sum(x))

    iterator = iter(dataset)
    for expected in (15.0, 66.0, 105.0):
        step(iterator)
        assert total.numpy() == expected
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)
    assert total.numpy() == 105.0


def test_a_tape_around_the_call():
    _, dataset = batches(5, 2)
    weight = tf.Variable(2.0)
    step = tf.function(lambda iterator: tf.reduce_sum(iterator.get_next()[0] * weight * weight))
    iterator = iter(dataset)
    for total in (15.0, 51.0, 39.0):
        with tf.GradientTape() as tape:
            result = step(iterator)
        assert result.numpy() == total * 4.0
        assert tape.gradient(result, weight).numpy() == total * 4.0
