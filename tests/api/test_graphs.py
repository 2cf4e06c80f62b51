"""Graphs that are recorded in a block."""

import numpy as np
import pytest

import autoconv as tf


def test_ops_of_the_block_are_recorded():
    outside = tf.constant([1.0, 2.0])
    graph = tf.Graph()
    with graph.as_default() as entered:
        assert entered is graph
        x = tf.constant(3.0, name="x")
        y = tf.multiply(x, outside, name="y")
        assert not tf.executing_eagerly()
        with tf.Graph().as_default() as inner:
            tf.constant(1)
    assert tf.executing_eagerly()
    assert repr(y) == "<autoconv.Tensor 'y:0' shape=(2,) dtype=float32>"
    assert [op.name for op in inner.get_operations()] == ["Const"]
    assert graph.get_operation_by_name("y").type == "Mul"
    names = [node.name for node in graph.as_graph_def().node]
    assert {"x", "y"} <= set(names)
    assert [captured for captured, _ in graph.captures] == [outside]
    with pytest.raises(Exception, match="out of scope"):
        y + 1


def test_converted_functions_in_a_graph():
    def f(x):
        if x < 0:
            x = -x
        return x

    with tf.Graph().as_default() as graph:
        found = tf.autograph.to_graph(f)(tf.constant(-2))
        assert found.shape == () and found.dtype == tf.int32
    assert "cond" in [op.name for op in graph.get_operations()]


def test_set_shape_of_a_tensor_checks():
    x = tf.constant(np.zeros((2, 3)))
    x.set_shape([None, 3])
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(4, None\)"):
        x.set_shape([4, None])
