"""Datasets in functions: one traced body, not an unrolled loop; iterators that keep their position."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def nodes(function, *args):
    return [node.op.name for node in function.get_concrete_function(*args).optimised.walk()]


def test_a_loop_is_one_traced_body(capsys):
    @tf.function
    def total(dataset):
        found = tf.constant(0, tf.int64)
        for x in dataset:
            print("tracing the body")
            found += x
        return found

    assert int(total(Dataset.range(5))) == 10
    assert capsys.readouterr().out == "tracing the body\n"
    assert int(total(Dataset.range(100))) == 4950
    assert capsys.readouterr().out == ""
    assert total.experimental_get_tracing_count() == 1
    assert nodes(total, Dataset.range(3)).count("while") == 1 and len(nodes(total, Dataset.range(3))) < 12


def plain(items, stop, skip):
    found = []
    for x in items:
        if x == skip:
            continue
        if x == stop:
            break
        found.append(x)
    else:
        found.append(-1)
    return found


@pytest.mark.parametrize(("length", "stop", "skip"), [(5, 3, 1), (5, 9, 1), (5, 0, 9), (0, 0, 0), (3, 2, 2)])
def test_break_continue_else(length, stop, skip):
    @tf.function
    def staged(dataset, stop, skip):
        found = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
        count = 0
        for x in dataset:
            if x == skip:
                continue
            if x == stop:
                break
            found = found.write(count, x)
            count += 1
        else:
            found = found.write(count, tf.constant(-1, tf.int64))
        return found.stack()

    numbers = [tf.constant(n, tf.int64) for n in (stop, skip)]
    assert staged(Dataset.range(length), *numbers).numpy().tolist() == plain(range(length), stop, skip)


def test_return_from_a_loop():
    @tf.function
    def first_above(dataset, limit):
        for x in dataset:
            if x > limit:
                return x
        return tf.constant(-1, tf.int64)

    assert int(first_above(Dataset.range(9), tf.constant(4, tf.int64))) == 5
    assert int(first_above(Dataset.range(3), tf.constant(4, tf.int64))) == -1


def test_a_dataset_from_outside_is_noticed_when_it_changes():
    box = {"d": Dataset.range(3)}
    dataset = Dataset.range(3)

    @tf.function
    def total():
        found = 0
        for x in dataset:
            found += x
        return found

    assert int(total()) == 3
    dataset = Dataset.range(5)
    assert int(total()) == 10
    assert box


def test_iterators_keep_their_position():
    @tf.function
    def up_to(iterator, stop):
        total = tf.constant(0, tf.int64)
        for x in iterator:
            total += x
            if x == stop:
                break
        return total

    iterator = iter(Dataset.range(6))
    assert int(next(iterator)) == 0
    assert int(up_to(iterator, tf.constant(2, tf.int64))) == 3
    assert int(next(iterator)) == 3
    assert int(up_to(iterator, tf.constant(-1, tf.int64))) == 9
    assert int(up_to(iterator, tf.constant(-1, tf.int64))) == 0
    with pytest.raises(StopIteration):
        next(iterator)


def test_an_iterator_of_the_closure():
    iterator = iter(Dataset.range(3))

    @tf.function
    def following():
        return next(iterator)

    assert [int(following()) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        following()


def test_the_end_of_an_iterator_can_be_caught():
    @tf.function
    def counted(iterator):
        count = 0
        while True:
            try:
                next(iterator)
            except StopIteration:
                break
            count += 1
        return count, next(iterator, tf.constant(-1, tf.int64))

    count, default = counted(iter(Dataset.range(4)))
    assert (int(count), int(default)) == (4, -1)
    with pytest.raises(tf.errors.OutOfRangeError):
        iter(Dataset.range(0)).get_next()


def test_two_passes_and_nested_loops():
    @tf.function
    def pairs(dataset):
        count = total = 0
        for x in dataset:
            for y in dataset:
                count += 1
                total += x * y
        return count, total

    count, total = pairs(Dataset.range(4))
    assert (int(count), int(total)) == (16, 36)


def test_structures_and_variables():
    seen = tf.Variable(0)

    @tf.function
    def run(dataset):
        longest = tf.constant("")
        for row in dataset:
            seen.assign_add(row["n"])
            if tf.strings.length(row["s"]) > tf.strings.length(longest):
                longest = row["s"]
        return longest

    assert run(Dataset.from_tensor_slices({"n": [1, 2, 3], "s": ["a", "ccc", "bb"]})).numpy() == b"ccc"
    assert int(seen) == 6


def test_datasets_made_of_tensors_in_a_function():
    @tf.function
    def build(n, rows):
        offset = n * 10
        dataset = Dataset.range(n).map(lambda x: x + offset).filter(lambda x: x != offset + 1).batch(n)
        total = 0
        for batch in dataset:
            total += tf.reduce_sum(batch)
        for row in Dataset.from_tensor_slices(rows).skip(1):
            total += tf.cast(row, tf.int64)
        return total, Dataset.range(n).cardinality(), len(Dataset.range(n).repeat(2))

    total, count, twice = build(tf.constant(3, tf.int64), tf.constant([100, 1, 2]))
    assert (int(total), int(count), int(twice)) == (30 + 32 + 3, 3, 6)
    assert int(build(tf.constant(2, tf.int64), tf.constant([0, 5]))[0]) == 20 + 5
    assert build.experimental_get_tracing_count() == 2


def test_reduce_in_a_function():
    @tf.function
    def total(dataset, start):
        return dataset.reduce(start, lambda found, x: found + x)

    assert int(total(Dataset.range(5), tf.constant(7, tf.int64))) == 17


def test_a_dataset_chosen_by_a_tensor_and_returned():
    @tf.function
    def chosen(flag, a, b):
        dataset = a if flag else b.map(lambda x: x * 2)
        total = tf.constant(0, tf.int64)
        for x in dataset:
            total += x
        return total, dataset

    a, b = Dataset.range(3), Dataset.range(4)
    total, dataset = chosen(tf.constant(False), a, b)
    assert int(total) == 12 and [int(x) for x in dataset] == [0, 2, 4, 6]
    total, dataset = chosen(tf.constant(True), a, b)
    assert int(total) == 3 and [int(x) for x in dataset] == [0, 1, 2]


def test_functions_that_call_functions_with_datasets():
    @tf.function
    def inner(dataset):
        total = tf.constant(0, tf.int64)
        for x in dataset:
            total += x
        return total

    @tf.function
    def outer(dataset):
        return inner(dataset) + inner(dataset.skip(2))

    assert int(outer(Dataset.range(4))) == 6 + 5
    assert inner.experimental_get_tracing_count() == 1


def test_the_key_is_the_element_spec():
    @tf.function
    def first(dataset):
        return next(iter(dataset))

    for dataset in (Dataset.range(3), Dataset.range(4), Dataset.range(9).map(lambda x: x)):
        first(dataset)
    assert first.experimental_get_tracing_count() == 1
    first(Dataset.from_tensors(1.0))
    assert first.experimental_get_tracing_count() == 2
    spec = "DatasetSpec(TensorSpec(shape=(), dtype=autoconv.int64, name=None),)"
    assert spec in first.pretty_printed_concrete_signatures()


def test_get_next_needs_no_conversion():
    @tf.function(autograph=False)
    def following(iterator):
        return iterator.get_next()

    iterator = iter(Dataset.range(2))
    assert [int(following(iterator)) for _ in range(2)] == [0, 1]


def test_datasets_run_plain_under_compile():
    @tf.compile
    def total(dataset, factor):
        found = 0
        for x in dataset:
            found += int(x) * factor
        return found

    assert total(Dataset.range(4), 2) == 12
    assert "a dataset is iterated, which `compile` leaves to Python" in total.explain()


def test_run_functions_eagerly():
    @tf.function
    def total(dataset):
        found = 0
        for x in dataset:
            found += x
        return found

    tf.config.run_functions_eagerly(True)
    try:
        assert int(total(Dataset.range(4))) == 6
    finally:
        tf.config.run_functions_eagerly(False)


def test_gradients_stop_at_datasets_or_flow_past_them():
    variable = tf.Variable(2.0)

    @tf.function
    def trained(dataset):
        for x in dataset:
            variable.assign_sub(0.1 * x * variable)
        return variable.read_value()

    expected = np.float32(2.0)
    for x in (1.0, 2.0):
        expected -= np.float32(0.1) * np.float32(x) * expected
    np.testing.assert_allclose(trained(Dataset.from_tensor_slices([1.0, 2.0])), expected, rtol=1e-6)


def test_gradients_through_loops_over_datasets():
    weight, x = tf.Variable(2.0), tf.constant(3.0)
    dataset = Dataset.from_tensor_slices([1.0, 2.0, 3.0])

    def looped(x):
        total = x * 0.0
        for element in dataset:
            total += x * x * element * weight
        return total

    def reduced(x):
        return dataset.reduce(tf.constant(0.0), lambda total, element: total + x * x * element * weight)

    def left_early(x):
        total = x * weight
        for i, element in dataset.enumerate():
            if i == 2:
                break
            total = total * x * element
        return total

    for f, by_x, by_weight in ((looped, 72.0, 54.0), (reduced, 72.0, 54.0), (left_early, 108.0, 54.0)):
        for run in (f, tf.function(f), tf.compile(f)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x)
            assert [g.numpy() for g in tape.gradient(y, [x, weight])] == [by_x, by_weight]
            assert tf.grad(run)(x).numpy() == by_x

        @tf.function
        def inside(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)  # noqa: B023
            return tape.gradient(y, [x, weight])

        assert [g.numpy() for g in inside(x)] == [by_x, by_weight]
