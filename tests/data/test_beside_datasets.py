"""`enumerate`, `zip` and other builtins over datasets in functions, and their refusals."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_enumerate_counts_in_pythons_numbers():
    @tf.function
    def weighted(dataset):
        total = 0.0
        for i, x in enumerate(dataset, 1):
            total += i * x
        return total

    assert float(weighted(Dataset.from_tensor_slices([1.0, 2.0, 3.0]))) == 14.0


def test_zip_with_tensors_and_ranges():
    @tf.function
    def dot(dataset, weights):
        total = 0
        for x, weight in zip(dataset, weights):  # noqa: B905
            total += x * weight
        return total

    assert int(dot(Dataset.range(9), tf.constant([1, 2, 3], tf.int64))) == 8


def test_numbers_beside_a_dataset_stay_pythons():
    @tf.function
    def weighted(dataset):
        total = 0.0
        for i, (x, weight, k) in enumerate(zip(dataset, [1, 2, 3], range(5, 100))):  # noqa: B905
            total += x * weight + k * i
        return total

    floats = Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0])
    assert float(weighted(floats)) == (1 + 4 + 9) + (0 + 6 + 14)
    assert float(weighted(floats.take(2))) == (1 + 4) + 6


def test_zip_ends_with_a_range_of_tensors():
    @tf.function
    def total(dataset, n):
        found = 0
        for k, x in zip(range(n, 100), dataset):  # noqa: B905
            found += k * x
        return found

    numbers = Dataset.range(4, output_type=tf.int32)
    for n in (5, 98, 99, 100, 200):
        expected = sum(k * x for k, x in zip(range(n, 100), range(4)))  # noqa: B905
        assert int(total(numbers, tf.constant(n))) == expected
    assert total.experimental_get_tracing_count() == 1


def test_pairs_of_pairs():
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for (i, x), (a, b) in zip(enumerate(dataset, 1), zip(dataset, dataset.skip(1))):  # noqa: B905
            found += i * x * (a + b)
        return found, sum(i * x for i, x in enumerate(dataset))

    expected = sum(i * x * (x + x + 1) for i, x in enumerate(range(3), 1))
    assert [int(x) for x in total(Dataset.range(4))] == [expected, 14]


def test_objects_that_cannot_be_zipped_with_a_dataset():
    @tf.function
    def words(dataset):
        for x, word in zip(dataset, {"a": 1}):  # noqa: B905
            tf.print(x, word)

    with pytest.raises(tf.errors.StagingError, match="a dict cannot be zipped with a dataset"):
        words(Dataset.range(2))


def test_strict_zip():
    @tf.function
    def dot(a, b):
        total = 0
        for x, y in zip(a, b, strict=True):
            total += x * y
        return total

    assert int(dot(Dataset.range(3), Dataset.range(3))) == 5
    with pytest.raises(ValueError, match="argument 2 is shorter than argument 1"):
        dot(Dataset.range(3), Dataset.range(2))


def test_builtins_and_generator_expressions():
    @tf.function
    def found(dataset):
        return (
            sum(dataset),
            sum(x * x for x in dataset if x > 1),
            any(x > 2 for x in dataset),
            all(x > 2 for x in dataset),
            sum(map(lambda x: x + 1, dataset)),  # noqa: C417
            sum(filter(lambda x: x > 1, dataset)),
        )

    values = [np.asarray(value).item() for value in found(Dataset.range(4))]
    assert values == [6, 13, True, False, 10, 5]


def test_what_cannot_be_part_of_the_graph():
    dataset = Dataset.range(3)

    @tf.function
    def listed():
        return [x * 2 for x in dataset]

    assert [int(x) for x in listed()] == [0, 2, 4]

    @tf.function
    def as_tuple():
        return tuple(dataset)

    with pytest.raises(tf.errors.StagingError, match=r"a loop over the list, or autoconv.stack"):
        as_tuple()

    @tf.function(autograph=False)
    def unconverted():
        for x in dataset:
            return x
        return None

    with pytest.raises(TypeError, match="where the code is not converted"):
        unconverted()

    @tf.function
    def infinite(n):
        return len(Dataset.range(n).repeat())

    with pytest.raises(TypeError, match="infinite"):
        infinite(tf.constant(3))
