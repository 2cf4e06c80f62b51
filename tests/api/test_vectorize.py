"""vectorized_map has the results of map_fn, by ops on whole tensors."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import autoconv as tf

X = np.arange(24, dtype=np.float32).reshape(4, 2, 3) / 7
W = np.arange(6, dtype=np.float32).reshape(3, 2)
V = np.arange(3, dtype=np.float32)

BY_RULE = [
    lambda x: x * 2 + 1,
    lambda x: x + V,
    lambda x: x[0] * x,  # rows of several ranks
    lambda x: tf.where(x > 1, x, -x),
    lambda x: tf.reduce_sum(x),
    lambda x: tf.reduce_max(x, axis=1, keepdims=True) - tf.reduce_mean(x, axis=[-2, -1]),
    lambda x: tf.reduce_any(x > 2, 0),
    lambda x: x @ W,
    lambda x: tf.matmul(x, x, transpose_b=True),
    lambda x: tf.constant(W) @ x,
    lambda x: tf.transpose(x),
    lambda x: tf.transpose(tf.expand_dims(x, -1), [2, 0, 1]),
    lambda x: tf.squeeze(tf.expand_dims(x, 0), 0),
    lambda x: tf.reshape(x, [3, 2]),
    lambda x: tf.reshape(x, [-1]),
    lambda x: tf.concat([x, tf.constant(W.T)], 0),
    lambda x: tf.stack([x, x * x], axis=-1),
    lambda x: tf.nn.softmax(x),
    lambda x: tf.cumsum(x, 1),
    lambda x: tf.argmax(x, 0),
    lambda x: x[..., 1:],
    lambda x: x[0, -1],
    lambda x: tf.gather(x, [2, 0], axis=1),
    lambda x: tf.gather(V, tf.cast(x, tf.int32) % 3),
    lambda x: tf.cast(x, tf.int32),
    lambda x: tf.sigmoid(tf.sqrt(tf.abs(x))),
    lambda x: {"a": x, "b": (tf.reduce_sum(x), tf.constant(1.0), 3)},
]


def one_by_one(function: Any, elems: Any) -> Any:
    count = len(tf.nest.flatten(elems)[0])
    results = [function(tf.nest.map_structure(lambda x, i=i: tf.constant(x)[i], elems)) for i in range(count)]
    return tf.nest.map_structure(lambda *rows: tf.stack(rows), *results)


def check(function: Any, elems: Any) -> None:
    fast, slow = tf.vectorized_map(function, elems, warn=False), one_by_one(function, elems)
    fast_leaves, slow_leaves = tf.nest.flatten(fast), tf.nest.flatten(slow)
    assert len(fast_leaves) == len(slow_leaves)
    for a, b in zip(fast_leaves, slow_leaves, strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("function", BY_RULE)
def test_rules(function: Any) -> None:
    check(function, tf.constant(X))
    tf.vectorized_map(function, tf.constant(X), fallback_to_while_loop=False)  # no loop is needed


@pytest.mark.parametrize("function", BY_RULE)
def test_rules_in_a_function_of_any_length(function: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec((None, 2, 3), tf.float32)])
    def staged(x: tf.Tensor) -> Any:
        return tf.vectorized_map(function, x, warn=False)

    for a, b in zip(tf.nest.flatten(staged(X)), tf.nest.flatten(one_by_one(function, X)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_several_inputs_and_outer_values() -> None:
    scale = tf.constant(3.0)
    check(lambda t: t[0] * scale + t[1]["k"], (tf.constant(X), {"k": tf.constant([1.0, 2.0, 3.0, 4.0])}))

    @tf.function
    def staged(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        inside = y * 2
        return tf.vectorized_map(lambda row: tf.reduce_sum(row * inside), x)

    np.testing.assert_allclose(staged(X, V), (X * V * 2).sum((1, 2)), rtol=1e-6)


def test_ops_without_a_rule_run_row_by_row(caplog: pytest.LogCaptureFixture) -> None:
    square = np.arange(16, dtype=np.float32).reshape(4, 2, 2) + np.eye(2, dtype=np.float32)

    def function(x: tf.Tensor) -> tf.Tensor:
        return tf.roll(x, 1, 0) + 1

    with caplog.at_level(logging.WARNING, "autoconv"):
        check(function, square)
        assert not caplog.records  # `check` allows no warning
        tf.vectorized_map(function, square)
    assert "runs a loop over the rows for the op Roll" in caplog.text
    with pytest.raises(ValueError, match="no batching rule for the op Roll"):
        tf.vectorized_map(function, square, fallback_to_while_loop=False)


def test_results_with_shapes_that_depend_on_the_rows() -> None:
    x = tf.constant([[1, 1, 2], [3, 3, 3], [4, 5, 6], [7, 8, 7]])
    expected = [[0, 0, 1], [0, 0, 0], [0, 1, 2], [0, 1, 0]]
    for function, found in (
        (lambda v: tf.unique(v)[1], expected),  # the other results are unused
        (lambda v: tf.where(v > 1)[:1], [[[2]], [[0]], [[0]], [[0]]]),
    ):
        dtype = function(x[0]).dtype
        for run in (tf.vectorized_map, lambda of, x, dtype=dtype: tf.map_fn(of, x, dtype)):
            np.testing.assert_array_equal(run(function, x), found)
            np.testing.assert_array_equal(tf.function(lambda x, run=run, of=function: run(of, x))(x), found)
    for run in (tf.vectorized_map, tf.map_fn):
        with pytest.raises(ValueError, match="Incompatible shape for value"):
            run(lambda v: tf.unique(v)[0], x)


def test_control_flow_and_effects_run_row_by_row() -> None:
    def halved(x: tf.Tensor) -> tf.Tensor:
        while x > 1:
            x = x / 2
        return x

    check(halved, tf.constant([3.0, 8.0, 0.5]))
    counter = tf.Variable(0.0)

    def counted(x: tf.Tensor) -> tf.Tensor:
        return counter.assign_add(x)

    np.testing.assert_allclose(tf.vectorized_map(counted, tf.constant([1.0, 2.0, 3.0]), warn=False), [1, 3, 6])
    drawn = tf.vectorized_map(lambda x: tf.random.uniform([]) + x, tf.zeros([50]), warn=False)
    assert len(set(drawn.numpy().tolist())) == 50  # another number for every row


def test_no_rows() -> None:
    assert tf.vectorized_map(lambda x: x * 2, tf.zeros([0, 3])).shape.as_list() == [0, 3]


def test_scalars_are_refused() -> None:
    with pytest.raises(ValueError, match="Elements in elems must be"):
        tf.vectorized_map(lambda x: x, 3.0)


def test_tensors_of_different_lengths() -> None:
    assert tf.vectorized_map(lambda x: x[0] - x[1], (tf.ones([1]), tf.range(3.0))).numpy().tolist() == [1.0, 0.0, -1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="one length"):
        tf.vectorized_map(lambda x: x[0] + x[1], (tf.zeros([2]), tf.zeros([3])))
