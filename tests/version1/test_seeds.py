"""Seeds of graphs and of functions, and the random numbers of sessions. The numbers are those of TensorFlow 2.21."""

from __future__ import annotations

import pytest

import autoconv as tf

v1 = tf.compat.v1


def test_each_graph_has_a_seed_and_each_session_starts_its_streams():
    with tf.Graph().as_default() as graph:
        assert graph.seed is None
        v1.set_random_seed(5)
        first, with_seed = tf.random.normal([]), tf.random.uniform([], seed=3)
        for _ in range(2):
            with v1.Session() as session:
                assert session.run([first, with_seed]) == pytest.approx([-1.7138785, 0.2886784])
                assert session.run(first) == pytest.approx(0.23606823)
        graph.seed = 6
        second = tf.random.normal([])
        in_function = tf.function(lambda: tf.random.normal([]))()
        with v1.Session() as session:
            assert session.run([second, in_function]) == pytest.approx([0.4873698, -1.1789628])


def test_the_seed_of_a_graph_leaves_eager_numbers_alone():
    tf.random.set_seed(8)
    assert float(tf.random.normal([])) == pytest.approx(1.2074401)
    with tf.Graph().as_default() as graph:
        assert graph.seed is None
        tf.random.set_seed(8)
        with v1.Session() as session:
            assert session.run(tf.random.normal([])) == pytest.approx(-0.01298799)
    assert float(tf.random.normal([])) == pytest.approx(1.6407531)


def test_a_seed_that_a_function_sets_is_that_of_its_later_draws():
    @tf.function
    def draw():
        before = tf.random.normal([])
        tf.random.set_seed(9)
        return before, tf.random.normal([])

    for _ in range(2):
        tf.random.set_seed(8)
        assert list(map(float, draw())) == pytest.approx([-0.01298799, -0.04967896])
        assert float(tf.random.normal([])) == pytest.approx(1.2074401)
