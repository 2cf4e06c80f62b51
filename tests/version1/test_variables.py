"""Variable scopes: names, sharing, initializers and collections."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with ac.Graph().as_default() as new_graph:
        yield new_graph


def test_names():
    with tf.variable_scope("a") as a:
        first = tf.get_variable("v", [1])
        with tf.variable_scope("b"):
            second = tf.get_variable("v", [1])
            op = tf.identity(second, name="op")
        with tf.name_scope("names"):
            third = tf.get_variable("w", [1])
            fourth = tf.Variable(0.0, name="x")
    with tf.variable_scope(a, reuse=True):
        assert tf.get_variable("v") is first
    with tf.variable_scope("b"), tf.variable_scope(a):
        assert tf.get_variable("again", [1]).name == "a/again:0"
    names = [v.name for v in (first, second, third, fourth)]
    assert names == ["a/v:0", "a/b/v:0", "a/w:0", "a/names/x:0"] and op.name == "a/b/op:0"


def test_default_names_are_unique():
    names = []
    for _ in range(3):
        with tf.variable_scope(None, default_name="layer"):
            names.append(tf.get_variable("w", [1]).name)
    assert names == ["layer/w:0", "layer_1/w:0", "layer_2/w:0"]
    with pytest.raises(ValueError, match="name_or_scope is required"), tf.variable_scope(None):
        pass


def test_sharing():
    v = tf.get_variable("v", [2])
    with pytest.raises(ValueError, match="already exists, disallowed"):
        tf.get_variable("v", [2])
    tf.get_variable_scope().reuse_variables()
    assert tf.get_variable("v", [2]) is v
    with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
        tf.get_variable("v", [3])
    with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"):
        tf.get_variable("v", [2], tf.int32)
    with pytest.raises(ValueError, match="does not exist"):
        tf.get_variable("other", [2])


def test_templates_share_after_the_first_call():
    def scaled(x):
        return x * tf.get_variable("w", initializer=3.0)

    template = tf.make_template("scale", scaled)
    values = [template(1.0), template(2.0)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(values) == [3.0, 6.0]
    assert [v.name for v in tf.global_variables()] == ["scale/w:0"]


def test_defaults_of_scopes(graph):
    initializer = tf.constant_initializer(2.0)
    with tf.variable_scope("s", initializer=initializer, regularizer=lambda w: 0.5 * tf.reduce_sum(w * w)):
        v = tf.get_variable("v", [3])
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(v).tolist() == [2.0, 2.0, 2.0] and session.run(loss) == 6.0


@pytest.mark.parametrize(
    ("initializer", "low", "high", "deviation"),
    [
        (tf.random_normal_initializer(1.0, 2.0), None, None, 2.0),
        (tf.truncated_normal_initializer(0.0, 1.0), -2.0, 2.0, 0.8796),
        (tf.random_uniform_initializer(-1.0, 3.0), -1.0, 3.0, 4 / 12**0.5),
        (tf.glorot_uniform_initializer(), -((6 / 700) ** 0.5), (6 / 700) ** 0.5, (2 / 700) ** 0.5),
        (tf.glorot_normal_initializer(), None, None, (2 / 700) ** 0.5),
        (tf.initializers.he_normal(), None, None, (2 / 300) ** 0.5),
        (tf.variance_scaling_initializer(3.0, "fan_out", "uniform"), None, None, (3 / 400) ** 0.5),
    ],
)
def test_distributions_of_initializers(initializer, low, high, deviation):
    v = tf.get_variable("v", [300, 400], initializer=initializer)
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(v)
    assert abs(found.std() / deviation - 1) < 0.02
    assert low is None or (found.min() >= low and found.max() <= high)


def test_orthogonal_matrices():
    initializer = tf.orthogonal_initializer(2.0)
    wide, tall = (tf.get_variable(n, s, initializer=initializer) for n, s in (("a", [3, 5]), ("b", [2, 3, 4])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        w, t = session.run([wide, tall])
    np.testing.assert_allclose(w @ w.T, 4 * np.eye(3), atol=1e-5)
    flat = t.reshape(6, 4)
    np.testing.assert_allclose(flat.T @ flat, 4 * np.eye(4), atol=1e-5)


def test_collections_of_variables():
    tf.Variable(1.0, name="a")
    tf.Variable(1.0, trainable=False, name="b")
    tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False, name="c")
    with tf.variable_scope("scope"):
        tf.get_variable("d", [1])
    assert [v.name for v in tf.global_variables()] == ["a:0", "b:0", "scope/d:0"]
    assert [v.name for v in tf.trainable_variables()] == ["a:0", "scope/d:0"]
    assert [v.name for v in tf.local_variables()] == ["c:0"]
    assert [v.name for v in tf.trainable_variables("scope")] == ["scope/d:0"]


def test_initial_values_from_other_variables():
    a = tf.Variable(tf.random_normal([2]), name="a")
    b = tf.Variable(a.initialized_value() * 2.0, name="b")
    with tf.Session() as session:
        session.run([a.initializer, b.initializer])
        first, second = session.run([a, b])
    np.testing.assert_allclose(second, 2 * first)


def test_shapes_that_are_open():
    v = tf.Variable([1.0], validate_shape=False)
    grown = tf.assign(v, tf.concat([v, [2.0]], 0))
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(grown)
        assert session.run(grown).tolist() == [1.0, 2.0, 2.0]


def test_scopes_that_are_entered_again_keep_their_scope_of_names(graph):
    with tf.variable_scope("m") as scope:
        pass
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE) as again:
        assert (again.name, again.original_name_scope, str(again.reuse)) == ("m", "m/", "_ReuseMode.AUTO_REUSE")


def test_names_of_layers_of_ops(graph):
    with tf.name_scope("layer"):
        x = tf.ones([1, 2, 2, 1])
        pooled = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        product = tf.nn.xw_plus_b(tf.ones([1, 2]), tf.ones([2, 3]), tf.ones([3]))
    assert (pooled.name, product.name) == ("layer/MaxPool:0", "layer/xw_plus_b:0")


def test_specs_of_elements_as_structures(graph):
    dataset = ac.data.Dataset.from_tensor_slices(([1, 2], {"k": [[1.0], [2.0]]}))
    assert tf.data.get_output_types(dataset) == (ac.int32, {"k": ac.float32})
    assert tf.data.get_output_shapes(dataset) == ([], {"k": [1]})
    assert tf.data.get_output_classes(dataset) == (ac.Tensor, {"k": ac.Tensor})


def test_layers_of_a_scope_that_is_entered_again_share_their_variables():
    def network(reuse):
        with tf.variable_scope("network", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(tf.constant([[1.0, 2.0]]), 3), 1)

    with ac.Graph().as_default(), tf.Session() as session:
        results = [network(False), network(True), network(tf.AUTO_REUSE)]
        names = [variable.op.name for variable in tf.global_variables()]
        assert names == [f"network/{layer}/{part}" for layer in ("dense", "dense_1") for part in ("kernel", "bias")]
        with tf.variable_scope("network"), pytest.raises(ValueError, match="already exists"):
            tf.layers.dense(tf.constant([[1.0, 2.0]]), 3)
        session.run(tf.global_variables_initializer())
        assert len({value.item() for value in session.run(results)}) == 1
