"""Optimizers against TensorFlow's losses, schedules against their formulas, savers, summaries."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import autoconv as ac
import autoconv.compat.v1 as tf
from autoconv.errors import InvalidArgumentError, NotFoundError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "version1"

# Losses of TensorFlow 2.21 after 0, 4, 8, 12 and 16 steps of each optimizer on the problem below.
OPTIMIZERS = {
    "SGD": (lambda: tf.train.GradientDescentOptimizer(_decayed()), [9.17311, 1.67550, 0.37694, 0.10353, 0.03419]),
    "momentum": (lambda: tf.train.MomentumOptimizer(0.05, 0.9), [9.17311, 0.53086, 2.76812, 1.40993, 0.42963]),
    "Nesterov": (
        lambda: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
        [9.17311, 0.14018, 1.37307, 0.35544, 0.10801],
    ),
    "Adam": (lambda: tf.train.AdamOptimizer(0.1), [9.17311, 6.58211, 4.66236, 3.24957, 2.13140]),
    "Adagrad": (lambda: tf.train.AdagradOptimizer(0.5), [9.17311, 2.99084, 1.37460, 0.69208, 0.35823]),
    "RMSProp": (
        lambda: tf.train.RMSPropOptimizer(0.02, momentum=0.5), [9.17311, 7.48793, 6.17808, 5.22905, 4.47358],
    ),
    "centered": (
        lambda: tf.train.RMSPropOptimizer(0.02, centered=True), [9.17311, 7.97532, 7.06565, 6.19181, 5.31077],
    ),
    "Adadelta": (lambda: tf.train.AdadeltaOptimizer(1.0), [9.17311, 9.15946, 9.14553, 9.13147, 9.11732]),
    "FTRL": (
        lambda: tf.train.FtrlOptimizer(0.3, l1_regularization_strength=0.01, l2_regularization_strength=0.01),
        [9.17311, 4.57169, 3.00953, 2.13649, 1.56345],
    ),
}  # fmt: skip
SLOTS = {"Adam": 2, "RMSProp": 2, "centered": 3, "Adadelta": 2, "FTRL": 2, "SGD": 0}


@pytest.fixture(autouse=True)
def graph():
    with ac.Graph().as_default() as new_graph:
        yield new_graph


def _decayed():
    return tf.train.exponential_decay(0.1, tf.train.get_or_create_global_step(), 5, 0.9)


def regression():
    x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable("w", initializer=np.ones((3, 1), "f"))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    argument = np.random.RandomState(0).randn(64, 3).astype("f")
    targets = (argument @ np.array([[1.0], [-2.0], [0.5]]) + 0.3).astype("f")
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y)), {x: argument, y: targets}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    make, expected = OPTIMIZERS[name]
    loss, feeds = regression()
    optimizer, step = make(), tf.train.get_or_create_global_step()
    train = optimizer.minimize(loss, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [session.run([loss, train], feeds)[0] for _ in range(20)]
        assert session.run(step) == 20
    np.testing.assert_allclose(found[::4], expected, atol=1.5e-5)
    assert len(optimizer.get_slot_names()) == SLOTS.get(name, 1)


def test_names_of_slots_are_those_of_checkpoints_of_tensorflow():
    variable = tf.get_variable("w", initializer=1.0)
    optimizer = tf.train.RMSPropOptimizer(0.5, momentum=0.5, centered=True)
    optimizer.minimize(variable * variable)
    names = {slot: optimizer.get_slot(variable, slot).op.name for slot in optimizer.get_slot_names()}
    assert names == {"rms": "w/RMSProp", "mg": "w/RMSProp_1", "momentum": "w/RMSProp_2"}


def test_gradients_can_be_changed_before_they_are_applied():
    v = tf.Variable([1.0, 2.0])
    unused = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(tf.reduce_sum(v * v), [v, unused])
    assert pairs[1][0] is None
    train = optimizer.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs if g is not None])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(v), [1 - 1 / 5**0.5, 2 - 2 / 5**0.5], rtol=1e-6)
    message = "No gradients provided .* ops that do not support gradients, between variables .* and loss"
    with pytest.raises(ValueError, match=message):
        optimizer.minimize(tf.constant(1.0), var_list=[unused])


def test_rows_of_an_embedding_are_trained():
    table = tf.get_variable("table", initializer=np.ones((4, 2), "f"))
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]))
    train = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(table)[:, 0].tolist() == [1.0, 0.5, 1.0, 0.75]


@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        (lambda s: tf.train.exponential_decay(0.5, s, 4, 0.8, staircase=True), lambda s: 0.5 * 0.8 ** (s // 4)),
        (lambda s: tf.train.natural_exp_decay(0.5, s, 4, 0.8), lambda s: 0.5 * math.exp(-0.8 * s / 4)),
        (lambda s: tf.train.inverse_time_decay(0.5, s, 4, 0.8), lambda s: 0.5 / (1 + 0.8 * s / 4)),
        (
            lambda s: tf.train.polynomial_decay(0.5, s, 10, 0.1, 2.0),
            lambda s: 0.4 * (1 - min(s, 10) / 10) ** 2 + 0.1,
        ),
        (lambda s: tf.train.cosine_decay(0.5, s, 10), lambda s: 0.25 * (1 + math.cos(math.pi * min(s, 10) / 10))),
        (
            lambda s: tf.train.piecewise_constant(s, [3, 8], [0.5, 0.2, 0.1]),
            lambda s: 0.5 if s <= 3 else 0.2 if s <= 8 else 0.1,
        ),
    ],
)
def test_schedules(schedule, formula):
    step = tf.placeholder(tf.int64, [])
    rate = schedule(step)
    with tf.Session() as session:
        found = [session.run(rate, {step: s}) for s in range(14)]
    np.testing.assert_allclose(found, [formula(s) for s in range(14)], rtol=1e-5)


def test_schedules_that_restart_or_end_in_waves():
    """The rates are those that TensorFlow 2.21 prints."""
    step = tf.placeholder(tf.int64, [])
    rates = [
        tf.train.cosine_decay_restarts(0.5, step, 10, m_mul=0.8, alpha=0.1),
        tf.train.cosine_decay_restarts(0.5, step, 10, t_mul=1.0),
        tf.train.linear_cosine_decay(0.5, step, 10, num_periods=1.5, alpha=0.1, beta=0.01),
    ]
    expected = {
        0: [0.5, 0.5, 0.555], 3: [0.40725, 0.39695, 0.01479], 10: [0.41, 0.5, 0.005], 35: [0.32704, 0.25, 0.005],
    }  # fmt: skip
    with tf.Session() as session:
        for number, rate in expected.items():
            np.testing.assert_allclose(session.run(rates, {step: number}), rate, atol=1e-5)


def test_savers(tmp_path):
    v, n = tf.get_variable("layer/w", [2, 3]), tf.get_variable("steps", initializer=np.int64(7))
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(v)
        paths = []
        for _ in range(3):
            paths.append(saver.save(session, f"{tmp_path}/model", global_step=n))
            session.run([n.assign_add(1), v.assign(v * 0.0)])
        assert [os.path.basename(path) for path in paths] == ["model-7", "model-8", "model-9"]
        assert saver.last_checkpoints == paths[1:] and tf.train.latest_checkpoint(tmp_path) == paths[2]
        saver.recover_last_checkpoints(paths)  # the first has been deleted
        assert saver.last_checkpoints == paths[1:]
        assert not tf.train.checkpoint_exists(paths[0])
        saver.restore(session, paths[1])
        assert session.run(n) == 8 and not session.run(v).any()
    assert tf.train.list_variables(paths[2]) == [("layer/w", [2, 3]), ("steps", [])]
    assert before.any()
    with tf.Session() as session:
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(session, paths[0])
        with pytest.raises(NotFoundError, match="Key other not found"):
            tf.train.Saver({"other": v}).restore(session, paths[2])
        with pytest.raises(InvalidArgumentError, match="shapes"):
            tf.train.Saver({"layer/w": n}).restore(session, paths[2])


def test_files_of_tensorflow_are_restored():
    """Written by tf.compat.v1.train.Saver of TensorFlow 2.21: arange(6) as `layer/w`, 7 as `steps`."""
    w, n = tf.get_variable("layer/w", [2, 3]), tf.get_variable("steps", [], tf.int64)
    with tf.Session() as session:
        tf.train.Saver().restore(session, str(FIXTURES / "model-7"))
        assert session.run(w).tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and session.run(n) == 7


def test_a_new_process_continues_training(tmp_path):
    def steps(count, restored):
        with ac.Graph().as_default():
            loss, feeds = regression()
            train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
            saver = tf.train.Saver()
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                if restored:
                    saver.restore(session, tf.train.latest_checkpoint(tmp_path))
                losses = [session.run([train, loss], feeds)[1] for _ in range(count)]
                saver.save(session, f"{tmp_path}/model", tf.train.get_global_step())
        return losses

    undisturbed = steps(10, False)
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()
    assert steps(4, False) + steps(6, True) == undisturbed


def test_summaries(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    x = tf.placeholder(tf.float32, [None])
    with tf.name_scope("layer"):
        tf.summary.scalar("mean", tf.reduce_mean(x))  # beside the op "Mean"
    tf.summary.histogram("x", x)
    tf.summary.text("note", "hello")
    tf.summary.image("picture", tf.reshape(x, [1, 2, 2, 1]))
    merged = tf.summary.merge_all()
    with tf.Session() as session, tf.summary.FileWriter(str(tmp_path), session.graph) as writer:
        for step in range(3):
            writer.add_summary(session.run(merged, {x: [step, 1.0, 2.0, 3.0]}), step)
    found = EventAccumulator(str(tmp_path), {"histograms": 0}).Reload()
    assert [(event.step, event.value) for event in found.Scalars("layer/mean_1")] == [(0, 1.5), (1, 1.75), (2, 2.0)]
    (path,) = tmp_path.iterdir()
    assert {event.step for event in tf.train.summary_iterator(str(path)) if event.summary.value} == {0, 1, 2}
    assert found.Histograms("x")[2].histogram_value.num == 4 and found.Histograms("x")[2].histogram_value.max == 3.0
    assert found.Images("picture/image/0")[0].width == 2
    assert found.Tensors("note")[0].tensor_proto.string_val[0] == b"hello"
    assert {node.name for node in found.Graph().node} >= {"layer/mean_1", "x"}


def test_tags_of_summaries_are_names_of_ops() -> None:
    """The tags are what TensorFlow 2.21 gives: unique among the names of the graph, without other characters."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(1.0)
        with tf.name_scope("o"):
            tf.square(x, name="c")
            summaries = [tf.summary.scalar("a b", x, family="f"), tf.summary.scalar("c", x),
                         tf.summary.scalar("c", x), tf.summary.histogram("h", [1.0], family="g")]  # fmt: skip
        tags = [tf.Summary.FromString(text).value[0].tag for text in session.run(summaries)]
    assert tags == ["f/o/f/a_b", "o/c_1", "o/c_2", "g/o/g/h"]


def test_a_reopened_writer_writes_a_new_file(tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))
    for step in range(2):
        writer.reopen()
        writer.add_summary(tf.Summary(value=[{"tag": "loss", "simple_value": 0.5}]), step)
        writer.close()
    events = [event for path in tmp_path.iterdir() for event in tf.train.summary_iterator(str(path))]
    assert sorted(event.step for event in events if event.summary.value) == [0, 1]


def test_a_graph_as_a_message_is_written(tmp_path):
    message = tf.constant(1.0, name="one").graph.as_graph_def()
    tf.summary.FileWriter(str(tmp_path), graph_def=message).close()
    (path,) = tmp_path.iterdir()
    assert [event.graph_def for event in tf.train.summary_iterator(str(path))][-1] == message.SerializeToString()
