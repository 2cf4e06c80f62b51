"""Other batches of the same rows, other distributions of classes, and elements without errors."""

from __future__ import annotations

import collections

import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_rows_in_batches_of_other_sizes():
    batches = Dataset.range(8).batch(3)
    assert [x.numpy().tolist() for x in batches.rebatch(2)] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [x.numpy().tolist() for x in batches.rebatch([1, 4])] == [[0], [1, 2, 3, 4], [5], [6, 7]]
    dropped = batches.map(lambda x: (x, {"twice": 2 * x})).rebatch(5, drop_remainder=True)
    assert [(x.numpy().tolist(), y["twice"].shape) for x, y in dropped] == [([0, 1, 2, 3, 4], (5,))]
    assert dropped.element_spec[0].shape.as_list() == [5]
    with pytest.raises(ValueError, match="batch them first"):
        Dataset.range(3).rebatch(2)


@pytest.mark.parametrize("initial", [[0.9, 0.1], None])
def test_classes_drawn_by_a_distribution(initial):
    labels = Dataset.range(4000).map(lambda x: tf.cast(x % 10 == 0, tf.int32))
    drawn = labels.rejection_resample(lambda label: label, [0.5, 0.5], initial, seed=3)
    pairs = [(int(label), int(element)) for label, element in drawn]
    assert all(label == element for label, element in pairs)
    counts = collections.Counter(label for label, _ in pairs)
    assert counts[1] == 400 and 330 < counts[0] < 480


@pytest.mark.parametrize("workers", [None, 2])
def test_elements_with_errors_are_left_out(workers):
    def checked(x):
        return tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), "zero")

    mapped = Dataset.from_tensor_slices([2, 0, 4]).map(checked, num_parallel_calls=workers)
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(mapped)
    assert [float(x) for x in mapped.ignore_errors()] == [0.5, 0.25]
    filtered = Dataset.from_tensor_slices([2, 0, 4]).filter(lambda x: checked(x) < 0.5)
    assert [int(x) for x in filtered.apply(tf.data.experimental.ignore_errors(log_warning=True))] == [4]


def test_numbers_without_end():
    assert list(Dataset.counter(2, 3).take(3).as_numpy_iterator()) == [2, 5, 8]
    iterator = Dataset.range(2).as_numpy_iterator()
    assert iterator.next() == 0 and next(iterator) == 1
