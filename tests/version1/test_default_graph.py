"""The default graph: ops of a whole program, once eager execution is disabled."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf


@pytest.fixture
def version1():
    tf.disable_v2_behavior()
    yield
    tf.enable_v2_behavior()
    tf.reset_default_graph()


def test_unknown_sizes(version1):
    image = tf.placeholder(tf.float32, [None, 8, None, 3])
    assert str(image.shape) == "(?, 8, ?, 3)" and image.shape[0].value is None
    resized = tf.image.central_crop(image, 0.5)
    sparse = tf.sparse_placeholder(tf.float32, [None, 3])
    with tf.Session() as session:
        assert session.run(resized, {image: np.ones([2, 8, 4, 3])}).shape == (2, 4, 2, 3)
        fed = {sparse: ([[0, 1]], [5.0], [1, 3])}
        assert session.run(tf.sparse.to_dense(sparse), fed).tolist() == [[0.0, 5.0, 0.0]]


def test_ops_go_to_the_default_graph(version1):
    x = tf.constant(2)
    assert not tf.executing_eagerly() and x.graph is tf.get_default_graph()
    with tf.Session() as session:
        assert session.run(x * 3) == 6
    with tf.Graph().as_default() as other:
        assert tf.get_default_graph() is other and tf.constant(1).graph is other
    tf.reset_default_graph()
    assert tf.get_default_graph() is not x.graph
    with tf.Session() as session, pytest.raises(ValueError, match="not an element"):
        session.run(x)


def test_functions_are_part_of_the_graph(version1):
    @ac.function
    def total(n):
        s = 0
        for i in ac.range(n):
            s += i
        return s

    n = tf.placeholder(tf.int32, [])
    found = total(n)
    with tf.Session() as session:
        assert session.run(found, {n: 5}) == 10


def test_sizes_of_shapes_have_values(version1):
    x = tf.placeholder(tf.float32, [None, 3])
    assert x.shape[1].value == 3 and x.get_shape()[0].value is None and x.shape.as_list() == [None, 3]
    assert [size.value for size in x.shape] == [None, 3]
    assert tf.zeros([x.shape[1], x.shape[1] + 1]).shape == (3, 4)
    assert tf.reshape(x, [-1, int(x.shape[1]), 1]).shape.as_list() == [None, 3, 1]


def test_errors_of_eager_programs_have_a_remedy():
    with pytest.raises(RuntimeError, match="disable_eager_execution"):
        tf.placeholder(tf.float32)
    assert ac.executing_eagerly() and ac.TensorShape([2])[0] == 2


def test_eager_variables():
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    assert isinstance(v, tf.Variable) and v.numpy().tolist() == [0.0, 0.0]


def test_tensors_compare_by_identity():
    v, x = ac.Variable(1.0), ac.constant(1.0)
    tf.disable_tensor_equality()
    try:
        assert (v == x) is False and (x != ac.constant(1.0)) is True and {v: 1, x: 2}[x] == 2
    finally:
        tf.enable_tensor_equality()
    assert bool(v == x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(v)


def test_removed_names_have_a_remedy():
    with pytest.raises(AttributeError, match=r"autoconv\.keras"):
        tf.contrib  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_this_name'"):
        tf.nothing_of_this_name  # noqa: B018


def test_sizes_as_objects():
    known, unknown = ac.TensorShape([2, None]).dims
    assert (known.value, unknown.value) == (2, None) and known == 2 and ac.TensorShape(None).dims is None
    assert known.merge_with(unknown).value == 2 == unknown.merge_with(2).value
    assert known.is_compatible_with(None) and not known.is_compatible_with(3)
    assert ac.TensorShape([unknown, known]).as_list() == [None, 2]
    with pytest.raises(ValueError, match="not compatible"):
        known.merge_with(tf.Dimension(3))


def test_whether_ops_outside_of_functions_run_eagerly():
    found = []
    ac.function(lambda: found.append(tf.executing_eagerly_outside_functions()))()
    with tf.Graph().as_default():
        found.append(tf.executing_eagerly_outside_functions())
    assert found == [True, False] and tf.executing_eagerly_outside_functions()
