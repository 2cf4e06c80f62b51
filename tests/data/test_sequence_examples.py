"""SequenceExamples with steps of any length, as sparse and ragged tensors: values as TensorFlow's."""

from __future__ import annotations

import pytest

import autoconv as tf

pytest.importorskip("google.protobuf")


def feature(values: list[int]) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def record(number: int, tags: list[int], steps: list[list[int]] | None) -> bytes:
    context = tf.train.Features(feature={"n": feature([number]), "tags": feature(tags)})
    lists = {} if steps is None else {"t": tf.train.FeatureList(feature=[feature(values) for values in steps])}
    message = tf.train.SequenceExample(context=context, feature_lists=tf.train.FeatureLists(feature_list=lists))
    return message.SerializeToString()


RECORDS = [record(7, [1, 2], [[1], [2, 3]]), record(8, [], [[4, 5, 6]]), record(9, [3], None)]
NUMBER = {"n": tf.io.FixedLenFeature([], tf.int64)}


def test_one_record() -> None:
    features = {"r": tf.io.RaggedFeature(tf.int64, value_key="t"), "t": tf.io.VarLenFeature(tf.int64)}
    parse = tf.function(lambda text: tf.io.parse_single_sequence_example(text, NUMBER, features))
    context, steps = parse(RECORDS[0])
    assert int(context["n"]) == 7
    assert steps["r"].to_list() == [[1], [2, 3]]
    assert steps["t"].indices.numpy().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert steps["t"].values.numpy().tolist() == [1, 2, 3] and steps["t"].dense_shape.numpy().tolist() == [2, 2]
    context, steps = parse(RECORDS[2])
    assert steps["r"].to_list() == [] and steps["t"].dense_shape.numpy().tolist() == [0, 0]


def test_batches() -> None:
    context_features = {**NUMBER, "tags": tf.io.VarLenFeature(tf.int64)}
    steps_features = {"t": tf.io.VarLenFeature(tf.int64)}
    context, steps, lengths = tf.io.parse_sequence_example(RECORDS, context_features, steps_features)
    assert list(context) == ["tags", "n"] and context["n"].numpy().tolist() == [7, 8, 9]
    assert tf.sparse.to_dense(context["tags"]).numpy().tolist() == [[1, 2], [0, 0], [3, 0]]
    expected = [[[1, 0, 0], [2, 3, 0]], [[4, 5, 6], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]]
    assert tf.sparse.to_dense(steps["t"]).numpy().tolist() == expected
    assert lengths == {}
    _, steps, _ = tf.io.parse_sequence_example(RECORDS, None, {"t": tf.io.RaggedFeature(tf.int64)})
    assert steps["t"].to_list() == [[[1], [2, 3]], [[4, 5, 6]], []]
    assert steps["t"].row_splits.dtype is tf.int32


def test_features_that_steps_do_not_have() -> None:
    with pytest.raises(ValueError, match="Unsupported SparseFeature"):
        tf.io.parse_sequence_example(RECORDS, None, {"s": tf.io.SparseFeature("t", "t", tf.int64, 9)})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Key: t, .*Step: 0.*Data types don't match"):
        tf.io.parse_single_sequence_example(RECORDS[0], None, {"t": tf.io.VarLenFeature(tf.float32)})


def test_a_pipeline() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(RECORDS).map(
        lambda text: tf.io.parse_single_sequence_example(text, NUMBER, {"t": tf.io.RaggedFeature(tf.int64)})
    )
    assert [(int(context["n"]), steps["t"].to_list()) for context, steps in dataset] == [
        (7, [[1], [2, 3]]), (8, [[4, 5, 6]]), (9, []),
    ]  # fmt: skip
