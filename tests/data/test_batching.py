"""batch and padded_batch."""

from __future__ import annotations

import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_batch(elements):
    dataset = Dataset.range(5).batch(2)
    assert elements(dataset) == [[0, 1], [2, 3], [4]]
    assert dataset.element_spec == tf.TensorSpec((None,), tf.int64)
    full_batches = Dataset.range(5).batch(2, drop_remainder=True)
    assert elements(full_batches) == [[0, 1], [2, 3]]
    assert full_batches.element_spec == tf.TensorSpec((2,), tf.int64)


def test_batches_of_structures_and_strings(elements):
    dataset = Dataset.from_tensor_slices({"s": ["a", "b"], "x": [[1, 2], [3, 4]]}).batch(2)
    assert elements(dataset) == [{"s": [b"a", b"b"], "x": [[1, 2], [3, 4]]}]


def test_unequal_elements_are_named():
    ragged = Dataset.range(1, 3).map(tf.range)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"different shapes in component 0. First element had shape \[1\] and element 1 had shape \[2\].*padded_b",
    ):
        list(ragged.batch(2))


def test_padded_batch(elements):
    ragged = Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
    assert elements(ragged.padded_batch(2)) == [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
    assert elements(ragged.padded_batch(2, padded_shapes=5))[0] == [[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]]
    assert elements(ragged.padded_batch(2, padded_shapes=[None], padding_values=-1))[0] == [[1, -1], [2, 2]]
    assert ragged.padded_batch(2, [5], drop_remainder=True).element_spec == tf.TensorSpec((2, 5), tf.int64)


def test_padded_batches_of_structures(elements):
    dataset = Dataset.from_generator(
        lambda: iter([([1], "a"), ([1, 2], "bc")]),
        output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.string)),
    )
    padded = dataset.padded_batch(2, padded_shapes=([3], []), padding_values=(-1, None))
    assert elements(padded) == [([[1, -1, -1], [1, 2, -1]], [b"a", b"bc"])]


def test_shapes_that_do_not_fit():
    ragged = Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
    with pytest.raises(tf.errors.DataLossError, match="smaller size than the input element"):
        list(ragged.padded_batch(4, padded_shapes=[2]))
    with pytest.raises(ValueError, match="not compatible with the corresponding input component shape"):
        ragged.padded_batch(2, padded_shapes=[2, 2])
    with pytest.raises(TypeError, match="padding of int64"):
        ragged.padded_batch(2, padding_values="a")
    with pytest.raises(ValueError, match="batch_size has to be positive, found 0"):
        ragged.batch(0)
    with pytest.raises(TypeError, match="flat_map"):
        ragged.window(2).batch(2)


def test_the_size_of_batches_is_that_of_the_last_batching():
    from autoconv.tensorflow.python.data.experimental.ops.distribute import compute_batch_size

    numbers = tf.data.Dataset.range(10)
    assert int(compute_batch_size(numbers)) == -1
    assert int(compute_batch_size(numbers.batch(4).shuffle(2).prefetch(1))) == 4
    assert int(compute_batch_size(numbers.batch(4).unbatch())) == -1
    assert int(compute_batch_size(numbers.batch(4, drop_remainder=True).map(lambda x: x + 1))) == 4
