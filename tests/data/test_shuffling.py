"""Random order: all elements once, decided by a seed."""

from __future__ import annotations

import subprocess
import sys

import autoconv as tf

Dataset = tf.data.Dataset


def test_every_element_once(elements):
    for size in (1, 3, 100):
        assert sorted(elements(Dataset.range(50).shuffle(size, seed=1))) == list(range(50))
    assert elements(Dataset.range(9).shuffle(1)) == list(range(9))


def test_an_element_comes_from_the_buffer(elements):
    for position, element in enumerate(elements(Dataset.range(200).shuffle(5, seed=3))):
        assert element < position + 5


def test_a_seed_decides(elements):
    def passes(**options):
        dataset = Dataset.range(20).shuffle(20, **options)
        return [elements(dataset) for _ in range(3)]

    assert passes(seed=1) == passes(seed=1) != passes(seed=2)
    first, second, third = passes(seed=1)
    assert first != second != third != first
    same = passes(seed=1, reshuffle_each_iteration=False)
    assert same[0] == same[1] == same[2]


def test_epochs_of_repeat_differ(elements):
    found = elements(Dataset.range(10).shuffle(10, seed=5).repeat(2))
    assert sorted(found[:10]) == sorted(found[10:]) == list(range(10)) and found[:10] != found[10:]


def test_the_global_seed_decides_where_there_is_none(elements):
    def draw_twice():
        tf.random.set_seed(7)
        return elements(Dataset.range(20).shuffle(20)), elements(Dataset.range(20).shuffle(20))

    first, second = draw_twice()
    assert draw_twice() == (first, second) and first != second
    tf.random.set_seed(None)


def test_the_same_in_every_process():
    program = "import autoconv as tf; print(list(map(int, tf.data.Dataset.range(12).shuffle(5, seed=11))))"
    runs = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 1


def test_the_same_eagerly_and_in_a_function(elements):
    def shuffled():
        return Dataset.range(12).shuffle(5, seed=11)

    @tf.function
    def collected(dataset):
        found = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
        for position, x in enumerate(dataset):
            found = found.write(position, x)
        return found.stack()

    assert collected(shuffled()).numpy().tolist() == elements(shuffled())


def test_sampling(elements):
    ones, twos = Dataset.from_tensors(1).repeat(), Dataset.from_tensors(2).repeat()
    drawn = elements(Dataset.sample_from_datasets([ones, twos], [0.25, 0.75], seed=1).take(2000))
    assert 350 < drawn.count(1) < 650
    short = Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(10, 13)], seed=2)
    assert sorted(elements(short)) == [0, 1, 2, 10, 11, 12]
    assert elements(Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(0)], [0.0, 1.0], seed=2)) == []


def test_choosing(elements):
    choice = Dataset.from_tensor_slices(tf.constant([0, 1, 1, 0], tf.int64))
    chosen = Dataset.choose_from_datasets([Dataset.range(5), Dataset.range(10, 15)], choice)
    assert elements(chosen) == [0, 10, 11, 1]


def test_random_numbers(elements):
    drawn = elements(Dataset.random(seed=4).take(100))
    assert drawn == elements(Dataset.random(seed=4).take(100))
    assert all(0 <= x < 2**32 for x in drawn) and len(set(drawn)) == 100
