"""Monitored sessions and their hooks: order of calls, and written files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv as tf

v1: Any = tf.compat.v1
train: Any = v1.train


def _train_until(last_step: int, folder: Path) -> list[str]:
    """Train one number with hooks, in a graph of its own; return what happened."""
    seen: list[str] = []

    class Recording(train.SessionRunHook):
        def begin(self) -> None:
            seen.append("begin")

        def after_create_session(self, session: Any, coord: Any) -> None:
            seen.append(f"created at {session.run(step)}")

        def before_run(self, run_context: Any) -> Any:
            return train.SessionRunArgs({"loss": loss})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(f"{run_values.results['loss']:.3f}")

        def end(self, session: Any) -> None:
            seen.append(f"end at {session.run(step)}")

    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None])
        w = v1.get_variable("w", initializer=3.0)
        loss = tf.reduce_mean(tf.square(w * x))
        step = train.get_or_create_global_step()
        update = train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
        v1.summary.scalar("loss", loss)
        hooks = [train.StopAtStepHook(last_step=last_step), Recording(), train.NanTensorHook(loss)]
        with train.MonitoredTrainingSession(
            checkpoint_dir=str(folder), hooks=hooks, save_checkpoint_steps=2, save_summaries_steps=1
        ) as session:
            while not session.should_stop():
                session.run(update, {x: [1.0, 2.0]})
            with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
                session.run(loss, {x: [1.0]})
    return seen


def test_training_stops_saves_and_continues(tmp_path: Path) -> None:
    """The order and the losses are those of TensorFlow 2.21."""
    assert _train_until(3, tmp_path) == ["begin", "created at 0", "22.500", "5.625", "1.406", "end at 3"]
    assert _train_until(5, tmp_path) == ["begin", "created at 3", "0.352", "0.088", "end at 5"]
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state is not None
    steps = [int(path.rpartition("-")[2]) for path in state.all_model_checkpoint_paths]
    assert steps[-1] == 5
    assert {path.name.split(".")[1] for path in tmp_path.glob("model.ckpt-*")} >= {f"ckpt-{n}" for n in (0, 2, 3, 5)}
    assert list(tmp_path.glob("events.out.*"))


def test_the_end_of_the_input_ends_the_block() -> None:
    with tf.Graph().as_default():
        element = v1.data.make_one_shot_iterator(v1.data.Dataset.range(3)).get_next()
        elements = []
        with train.MonitoredSession() as session:
            while not session.should_stop():
                elements.append(int(session.run(element)))
    assert elements == [0, 1, 2]


def test_queues_are_filled_while_the_session_is_open() -> None:
    with tf.Graph().as_default():
        numbers = train.batch(train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue(), 2)
        batches = []
        with train.MonitoredSession() as session:
            while not session.should_stop():
                batches.append(session.run(numbers).tolist())
    assert batches == [[0, 1], [2, 3]]


def test_an_error_of_a_queue_runner_ends_the_block() -> None:
    with tf.Graph().as_default():
        batch = train.batch([v1.placeholder(tf.float32, [])], 2)
        error = pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value")
        with error, train.MonitoredSession() as session:
            session.run(batch)


def test_hooks_feed_and_compute(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default() as graph:
        a = v1.placeholder(tf.float32, (), name="a")
        b = tf.multiply(a, 2.0, name="b")
        final = train.FinalOpsHook(tf.constant(7))
        log = train.LoggingTensorHook({"doubled": "b:0"}, every_n_iter=2)
        with (
            caplog.at_level(logging.INFO, "autoconv.program"),
            train.SingularMonitoredSession([final, train.FeedFnHook(lambda: {a: 4.0}), log]) as session,
        ):
            assert [float(session.run(b)) for _ in range(3)] == [8.0, 8.0, 8.0]
            with pytest.raises(RuntimeError, match="fed"):
                session.run(b, {a: 1.0})
            with_hooks, without = session.run_step_fn(
                lambda step_context: (step_context.run_with_hooks(b), step_context.session.run(b, {a: 1.0}))
            )
            assert (float(with_hooks), float(without)) == (8.0, 2.0)
        assert final.final_ops_values == 7
        assert graph.finalized
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == ["doubled = 8.0"] * 2


def test_losses_that_are_not_a_number() -> None:
    with tf.Graph().as_default():
        loss = tf.constant(np.nan)
        with pytest.raises(train.NanLossDuringTrainingError, match=r"NaN loss during training\."):
            train.MonitoredSession(hooks=[train.NanTensorHook(loss)]).run(loss)
        with train.MonitoredSession(hooks=[train.NanTensorHook(loss, fail_on_nan_loss=False)]) as session:
            session.run(loss)
            assert session.should_stop()


def test_arguments_of_hooks() -> None:
    for arguments in ({}, {"num_steps": 1, "last_step": 2}):
        with pytest.raises(ValueError, match="num_steps"):
            train.StopAtStepHook(**arguments)
    with pytest.raises(ValueError, match="every_n_iter"):
        train.LoggingTensorHook([])
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="Global step should be created"):
        train.MonitoredSession(hooks=[train.StopAtStepHook(last_step=1)])
    with pytest.raises(ValueError, match="Either every_secs or every_steps"):
        train.SecondOrStepTimer()
    timer = train.SecondOrStepTimer(every_steps=3)
    due = [step for step in range(7) if timer.should_trigger_for_step(step) and timer.update_last_triggered_step(step)]
    assert due == [0, 3, 6]
