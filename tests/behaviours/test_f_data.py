"""Loops over datasets, builtins on them, TensorArray."""

from __future__ import annotations

import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_line_105_builtins_on_datasets():
    dataset = Dataset.range(4)

    @tf.function
    def f():
        enumerated = zipped = mapped = filtered = tf.constant(0, tf.int64)
        for i, x in enumerate(dataset):
            enumerated += i * x
        for x, y in zip(dataset, dataset):  # noqa: B905
            zipped += x * y
        for x in map(lambda x: x + 1, dataset):  # noqa: C417
            mapped += x
        for x in filter(lambda x: x > 1, dataset):
            filtered += x
        truths = dataset.map(lambda x: x > 1)
        return (
            enumerated, zipped, mapped, filtered, any(truths), all(truths), any(dataset), all(dataset), len(dataset),
            next(iter(dataset)),
        )  # fmt: skip

    assert [x.numpy().item() for x in f()] == [14, 14, 10, 5, True, False, True, False, 4, 0]


def test_line_114_dataset_loops(capsys):
    @tf.function
    def f(dataset):
        total = tf.constant(0, tf.int64)
        for x in dataset:
            print("body")
            if x == 2:
                continue
            if x == 5:
                break
            total += x
        return total

    assert int(f(Dataset.range(10))) == 0 + 1 + 3 + 4
    assert capsys.readouterr().out == "body\n"

    @tf.function
    def part(iterator, count):
        total = tf.constant(0, tf.int64)
        for x in iterator:
            total += x
            count -= 1
            if count == 0:
                break
        return total

    iterator = iter(Dataset.range(10))
    assert int(part(iterator, tf.constant(3))) == 0 + 1 + 2
    assert int(part(iterator, tf.constant(2))) == 3 + 4
    assert int(next(iterator)) == 5
    assert int(part(iterator, tf.constant(-1))) == 6 + 7 + 8 + 9


def test_line_115_tensor_array_methods():
    array = tf.TensorArray(tf.float32, 3)
    assert array.write(0, 1.0).write(1, 2.0).write(2, 3.0).stack().numpy().tolist() == [1, 2, 3]
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False).unstack([[1.0, 2.0], [3.0, 4.0]])
    assert array.read(1).numpy().tolist() == [3, 4] and int(array.size()) == 2
    assert array.gather([1, 0]).numpy().tolist() == [[3, 4], [1, 2]]
    assert array.concat().numpy().tolist() == [1, 2, 3, 4]
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    assert [parts.read(i).numpy().tolist() for i in range(2)] == [[1], [2, 3]]


def test_line_115_dynamic_rnn_in_a_graph():
    @tf.function
    def dynamic_rnn(rnn_step, input_data, initial_state):
        input_data = tf.transpose(input_data, [1, 0, 2])
        max_seq_len = tf.shape(input_data)[0]
        states = tf.TensorArray(tf.float32, size=max_seq_len)
        state = initial_state
        for i in tf.range(max_seq_len):
            state = rnn_step(input_data[i], state)
            states = states.write(i, state)
        return tf.transpose(states.stack(), [1, 0, 2])

    found = dynamic_rnn(lambda inputs, state: inputs + state, tf.ones([1, 3, 1]), tf.zeros([1, 1]))
    assert found.numpy().ravel().tolist() == [1, 2, 3]


def test_line_115_tensor_array_eager_errors():
    array = tf.TensorArray(tf.float32, 3).write(0, 1.0)
    array.read(0)
    for attempt, text in [
        (
            lambda: array.read(0),
            "Could not read index 0 twice because it was cleared after a previous read "
            "(perhaps try setting clear_after_read = false?)",
        ),
        (lambda: array.read(7), "Tried to read from index 7 but array size is: 3 "),
        (lambda: array.write(9, 1.0), "Tried to write to index 9 but array is not resizeable and size is: 3 "),
    ]:
        with pytest.raises(tf.errors.OpError) as raised:
            attempt()
        assert text in str(raised.value)


def test_line_115_tensor_array_in_a_graph():
    @tf.function
    def past(index):
        return tf.TensorArray(tf.int32, 2).write(index, 1).stack()

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Trying to modify element 5 in a list with 2 elements\."):
        past(tf.constant(5))

    @tf.function
    def ignored():
        array = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            array.write(i, 1.0)
        return array.stack()

    assert ignored().numpy().tolist() == [0, 0, 0]
