"""Checkpoints of version 1 and 2, each written and read in sessions and where ops run eagerly."""

import pytest

import autoconv as ac

tf = ac.compat.v1


def variables(*values):
    """Return variables a and scoped/b of the default graph with these initial values."""
    a = tf.get_variable("a", initializer=values[0])
    with tf.variable_scope("scoped"):
        return a, tf.get_variable("b", initializer=values[1])


@pytest.fixture
def saved(tmp_path):
    """Return the path of a checkpoint that a saver of version 1 wrote."""
    with ac.Graph().as_default(), tf.Session() as session:
        variables(1.0, 2.0)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "one"))


def test_names_of_version_1_restore_variables(saved):
    a, b = ac.Variable(0.0, name="a"), ac.Variable(0.0, name="scoped/b")
    ac.train.Checkpoint(variables=[a, b]).restore(saved).assert_consumed()
    assert (a.numpy(), b.numpy()) == (1.0, 2.0)


def test_checkpoints_in_sessions(tmp_path):
    with ac.Graph().as_default(), tf.Session() as session:
        pair = variables(3.0, 4.0)
        session.run(tf.global_variables_initializer())
        checkpoint = ac.train.Checkpoint(pair=list(pair))
        assert [checkpoint.save(str(tmp_path / "two"))[-2:] for _ in range(2)] == ["-1", "-2"]
        session.run([pair[0].assign(0.0), pair[1].assign(0.0)])
        checkpoint.restore(str(tmp_path / "two-1")).run_restore_ops()
        assert session.run(list(pair)) == [3.0, 4.0]


@pytest.mark.parametrize("assignments", [{"/": "new/"}, [("/", "new/")], {"scoped/": "new/scoped/", "a": "new/a"}])
def test_initial_values_from_a_checkpoint(saved, assignments):
    with ac.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("new"):
            pair = variables(0.0, 0.0)
        tf.train.init_from_checkpoint(saved, assignments)
        session.run(tf.global_variables_initializer())
        assert session.run(list(pair)) == [1.0, 2.0]


@pytest.mark.parametrize("assignments", [{"a": "nowhere"}, {"nothing": "a"}, {"a": "long"}])
def test_initial_values_that_do_not_fit(saved, assignments):
    with ac.Graph().as_default():
        variables(0.0, 0.0)
        tf.get_variable("long", [2])
        with pytest.raises(ValueError):
            tf.train.init_from_checkpoint(saved, assignments)
