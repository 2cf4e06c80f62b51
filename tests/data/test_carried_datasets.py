"""Datasets in functions: as loop state, from generators, after errors, and in closures."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_functions_of_a_dataset_read_the_state_of_the_enclosing_loop():
    dataset = Dataset.range(4)

    @tf.function
    def total(n):
        found = tf.constant(0, tf.int64)
        for k in tf.range(n):
            offset = tf.cast(k, tf.int64)
            for x in dataset.map(lambda x: x + offset):  # noqa: B023
                found += x
        return found

    assert int(total(tf.constant(3))) == sum(x + k for k in range(3) for x in range(4))


def test_a_dataset_is_carried_by_a_loop():
    @tf.function
    def total(dataset, n):
        for _ in tf.range(n):
            dataset = dataset.map(lambda x: x * 2)
        return dataset.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    assert [int(total(Dataset.range(4), tf.constant(n))) for n in (0, 1, 3)] == [6, 12, 48]


def test_an_iterator_is_advanced_in_a_branch_on_a_tensor():
    @tf.function
    def maybe(flag, iterator):
        return next(iterator) if flag else tf.constant(-1, tf.int64)

    iterator = iter(Dataset.range(4))
    assert [int(maybe(tf.constant(f), iterator)) for f in (True, False, True, True)] == [0, -1, 1, 2]


def test_errors_raised_in_the_body_are_caught(capfd):
    @tf.function
    def counted(dataset, limit):
        count = 0
        try:
            for x in dataset:
                if x > limit:
                    raise ValueError("too large")
                count += 1
        except ValueError:
            count = -count
        finally:
            tf.print("done")
        return count

    assert int(counted(Dataset.range(4), tf.constant(1, tf.int64))) == -2
    assert int(counted(Dataset.range(4), tf.constant(9, tf.int64))) == 4
    assert capfd.readouterr().err == "done\ndone\n"


def test_functions_of_datasets_may_be_functions():
    @tf.function
    def squared(x):
        return x * x

    @tf.function
    def total(n):
        dataset = Dataset.from_tensor_slices(tf.range(n)).map(squared)
        return dataset.reduce(0, lambda a, b: a + b)

    assert int(total(tf.constant(4))) == 14
    assert [int(x) for x in Dataset.range(3).map(squared)] == [0, 1, 4]


def test_generators_run_anew_on_every_call():
    runs = []

    def generate():
        runs.append(True)
        yield from [1, 2, 3]

    @tf.function
    def total():
        found = 0
        for x in Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)):
            found += x
        return found

    assert [int(total()) for _ in range(3)] == [6, 6, 6] and len(runs) == 3


def test_a_dropped_function_frees_its_dataset():
    dataset = Dataset.from_tensor_slices(np.zeros(4, np.float32))
    references = weakref.ref(dataset), weakref.ref(dataset._bound)
    function = tf.function(lambda: dataset.reduce(0.0, lambda a, b: a + b))
    assert float(function()) == 0.0
    function = dataset = None
    gc.collect()
    assert [ref() for ref in references] == [None, None]


def test_specs_stand_for_datasets():
    spec = tf.data.DatasetSpec(tf.TensorSpec((), tf.int64))

    def total(dataset):
        return dataset.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    signed = tf.function(total, input_signature=[spec])
    assert int(signed(Dataset.range(4))) == 6
    with pytest.raises(TypeError, match=r"Can not cast .*float32.* to DatasetSpec"):
        signed(Dataset.from_tensors(1.0))
    concrete = tf.function(total).get_concrete_function(spec)
    assert int(concrete(Dataset.range(5))) == 10
    spec = tf.data.IteratorSpec(tf.TensorSpec((), tf.int64))
    following = tf.function(lambda it: next(it)).get_concrete_function(spec)
    assert int(following(iter(Dataset.range(3)))) == 0


def test_captured_datasets_are_no_variables():
    dataset, variable = Dataset.range(3), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def total():
        for x in dataset:
            variable.assign_add(x)
        return variable.read_value()

    concrete = total.get_concrete_function()
    assert len(concrete.variables) == 1 and len(concrete.captured_inputs) == 2
    assert "iterable<tuple<int64[]>>" in str(concrete)
    assert int(concrete()) == 3
