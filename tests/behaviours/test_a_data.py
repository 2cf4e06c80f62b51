"""Arguments that are variables, datasets and iterators."""

from __future__ import annotations

import autoconv as tf

Dataset = tf.data.Dataset


def test_line_024_variables_as_arguments_are_keyed_by_spec_and_aliasing():
    @tf.function
    def addv(v):
        return v.assign_add(1.0)

    @tf.function
    def two(a, b):
        a.assign_add(1.0)
        return b.read_value()

    v1, v2 = tf.Variable(1.0), tf.Variable(10.0)
    assert (float(addv(v1)), float(addv(v2))) == (2.0, 11.0)
    assert addv.experimental_get_tracing_count() == 1
    expected = "VariableSpec(shape=(), dtype=autoconv.float32, trainable=True, alias_id=0)"
    assert expected in addv.pretty_printed_concrete_signatures()
    assert float(two(v1, v2)) == 11.0 and float(two(v1, v1)) == 4.0
    assert two.experimental_get_tracing_count() == 2
    reads = tf.function(lambda x: x + 1.0)
    reads(v1)
    reads(tf.constant(1.0))
    assert reads.experimental_get_tracing_count() == 2


def test_line_025_datasets_and_iterators_are_keyed_by_element_spec():
    @tf.function
    def first(iterator):
        return next(iterator)

    @tf.function
    def total(dataset):
        found = 0
        for x in dataset:
            found += x
        return found

    for stop in (3, 4):
        first(iter(Dataset.range(stop, output_type=tf.int32)))
        total(Dataset.range(stop, output_type=tf.int32))
    assert first.experimental_get_tracing_count() == total.experimental_get_tracing_count() == 1
    expected = "IteratorSpec(TensorSpec(shape=(), dtype=autoconv.int32, name=None),)"
    assert expected in first.pretty_printed_concrete_signatures()


def test_line_032_functions_of_map_may_mutate_their_dict():
    def dict_op(d):
        d["sum"] = d.pop("a") + d["b"]
        return d

    dataset = Dataset.from_tensor_slices({"a": [1, 2], "b": [10, 20]}).map(dict_op)
    assert [{k: int(v) for k, v in d.items()} for d in dataset] == [{"b": 10, "sum": 11}, {"b": 20, "sum": 22}]
