"""Random orders and numbers of datasets by seed, as TensorFlow 2.21 prints them."""

from __future__ import annotations

import pytest

import autoconv as tf

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def _without_a_global_seed():
    """Reset the global seed: the expected orders are those of programs that set none."""
    tf.random.set_seed(None)


@pytest.mark.parametrize(
    ("make_dataset", "expected"),
    [
        (lambda: Dataset.range(6).shuffle(6, seed=42), [3, 2, 1, 4, 5, 0]),
        (lambda: Dataset.range(10).shuffle(3, seed=42), [0, 3, 4, 2, 1, 5, 8, 6, 7, 9]),
        (lambda: Dataset.range(3).shuffle(3, seed=2).repeat(3), [2, 0, 1, 0, 2, 1, 2, 0, 1]),
        (lambda: Dataset.range(3).repeat(2).shuffle(4, seed=5), [1, 1, 2, 2, 0, 0]),
        (lambda: Dataset.random(seed=3).take(3), [3534849767, 279844183, 888998500]),
        (lambda: Dataset.random(seed=3, rerandomize_each_iteration=True).take(2), [2698304964, 3230936430]),
    ],
)
def test_orders_by_seed(elements, make_dataset, expected):
    assert elements(make_dataset()) == expected


def test_passes_by_seed(elements):
    reshuffled = Dataset.range(5).shuffle(5, seed=2)
    assert [elements(reshuffled) for _ in range(3)] == [[0, 2, 4, 1, 3], [2, 4, 0, 1, 3], [2, 4, 1, 0, 3]]
    same = Dataset.range(5).shuffle(5, seed=2, reshuffle_each_iteration=False)
    assert [elements(same) for _ in range(2)] == [[1, 0, 2, 4, 3]] * 2


def test_orders_by_the_global_seed(elements):
    try:
        tf.random.set_seed(1)
        assert elements(Dataset.range(6).shuffle(3)) == [1, 0, 2, 5, 4, 3]
        assert elements(Dataset.range(6).shuffle(3)) == [0, 2, 4, 3, 1, 5]
        assert elements(Dataset.range(6).shuffle(6, seed=42)) == [5, 0, 1, 3, 2, 4]
        tf.random.set_seed(7)
        shuffled = Dataset.range(6).shuffle(6)
        assert [elements(shuffled) for _ in range(2)] == [[2, 5, 0, 1, 3, 4], [4, 0, 3, 5, 2, 1]]
        assert tf.random.uniform([1]).numpy()[0] == pytest.approx(0.01905346)
        sources = [Dataset.range(0, 3), Dataset.range(10, 13), Dataset.range(20, 22)]
        sampled = Dataset.sample_from_datasets(sources[:2], [0.5, 0.5], seed=7)
        assert elements(sampled) == [0, 10, 11, 12, 1, 2]
        assert elements(Dataset.sample_from_datasets(sources, seed=3)) == [20, 0, 10, 21, 11, 12, 1, 2]
    finally:
        tf.random.set_seed(None)


def test_draws_of_functions_begin_anew_in_each_iteration(elements):
    try:
        tf.random.set_seed(7)
        shuffled = Dataset.range(1).map(lambda _: tf.random.shuffle(tf.range(8)))
        assert [elements(shuffled) for _ in range(2)] == [[[5, 6, 2, 3, 7, 0, 4, 1]]] * 2
        repeated = [[5, 6, 2, 3, 7, 0, 4, 1], [0, 2, 1, 6, 3, 7, 5, 4], [2, 1, 5, 3, 4, 0, 7, 6]]
        assert elements(shuffled.repeat(3)) == repeated
        assert elements(shuffled.prefetch(1).repeat(3)) == repeated
        drawn = Dataset.range(2).map(lambda _: tf.random.uniform(()))
        assert [elements(drawn) for _ in range(2)] == [pytest.approx([0.7537285, 0.5875809], abs=5e-5)] * 2
    finally:
        tf.random.set_seed(None)


def test_samples_that_are_drawn_anew_for_each_pass(elements):
    sources = [Dataset.range(6), Dataset.range(100, 106)]
    sampled = Dataset.sample_from_datasets(sources, seed=3, rerandomize_each_iteration=True)
    assert [elements(sampled) for _ in range(2)] == [
        [0, 1, 2, 3, 100, 4, 101, 5, 102, 103, 104, 105], [100, 101, 0, 1, 102, 103, 104, 105, 2, 3, 4, 5],
    ]  # fmt: skip
