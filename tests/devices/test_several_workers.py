"""MultiWorkerMirroredStrategy: processes that train together, beside one process on the whole batch; lost workers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import autoconv as tf

HEAD = """
import numpy as np
import autoconv as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
here = tf.distribute.get_replica_context

def error_of(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
"""
TRAINING = """
x = np.random.default_rng(0).random((40, WIDTH)).astype(np.float32)
y = x @ np.arange(WIDTH, dtype=np.float32) / WIDTH
with strategy.scope():
    w = tf.Variable(np.random.default_rng(FIRST).random(WIDTH).astype(np.float32))

def step(batch):
    x, y = batch
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.reduce_sum(x * w, axis=1) - y) ** 2) / 8.0
    gradient = here().all_reduce("SUM", tape.gradient(loss, w))
    w.assign_sub(0.3 / WIDTH * gradient)
    return loss

@tf.function
def train(batch):
    return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).repeat(6)
losses = [train(batch).numpy() for batch in strategy.experimental_distribute_dataset(data)]
"""
Start = Callable[..., list[subprocess.Popen[str]]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Return a function that starts a program in several workers."""
    running: list[subprocess.Popen[str]] = []

    def begin(program: str, count: int = 2) -> list[subprocess.Popen[str]]:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(HEAD) + textwrap.dedent(program))
        places = [socket.socket() for _ in range(count)]
        for place in places:
            place.bind(("localhost", 0))
        workers = [f"localhost:{place.getsockname()[1]}" for place in places]
        for place in places:
            place.close()
        for index in range(count):
            told = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
            running.append(subprocess.Popen(
                [sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, "TF_CONFIG": told},
            ))  # fmt: skip
        return running

    yield begin
    for one in running:
        one.kill()
        one.communicate()


def lines_of(workers: list[subprocess.Popen[str]]) -> list[list[str]]:
    found = [worker.communicate(timeout=300) for worker in workers]
    for worker, (_, faults) in zip(workers, found, strict=True):
        assert worker.returncode == 0, faults
        assert "leaked" not in faults
    return [out.splitlines() for out, _ in found]


@pytest.mark.parametrize("width", [3, 20_000], ids=["by connections", "by shared memory"])
def test_training_gives_the_weights_of_one_process(start: Start, width: int) -> None:
    first = "strategy._group.rank"  # only the first worker's initial value counts
    program = TRAINING.replace("WIDTH", str(width)).replace("FIRST", first)
    found = lines_of(start(program + "print(w.numpy().tobytes().hex()); print(*losses)"))
    assert found[0] == found[1]  # to the bit
    names: dict[str, object] = {"np": np, "tf": tf, "strategy": tf.distribute.get_strategy()}
    names["here"] = tf.distribute.get_replica_context
    single = TRAINING.replace("WIDTH", str(width)).replace("FIRST", "0").replace("@tf.function\n", "")
    exec(single, names)
    weights = np.frombuffer(bytes.fromhex(found[0][0]), np.float32)
    np.testing.assert_allclose(weights, names["w"].numpy(), rtol=1e-4, atol=1e-6)  # type: ignore[attr-defined]
    np.testing.assert_allclose([float(x) for x in found[0][1].split()], names["losses"], rtol=1e-3)  # type: ignore[arg-type]


def test_values_of_several_workers(start: Start) -> None:
    found = lines_of(start("""
    rank = tf.cast(here().replica_id_in_sync_group, tf.float32) if here() else None
    def number():
        return tf.cast(here().replica_id_in_sync_group, tf.float32)
    results = strategy.run(number)
    print(strategy.num_replicas_in_sync, *(strategy.reduce(op, results, axis=None).numpy() for op in ("SUM", "MEAN")))
    print(strategy.run(tf.function(lambda: here().all_reduce("MEAN", {"a": number() + 1.0})["a"])).numpy())
    rows = strategy.run(lambda: tf.range(here().replica_id_in_sync_group + 1))
    print(strategy.gather(rows, axis=0).numpy(), strategy.reduce("SUM", rows, axis=0).numpy())
    print(strategy.reduce("MEAN", tf.cast(rows, tf.float32), axis=0).numpy())
    with strategy.scope():
        total = tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ,
                            aggregation=tf.VariableAggregation.SUM)
        mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
    strategy.run(lambda: total.assign_add(number()))
    strategy.run(lambda: mean.assign(number()))
    print(total.numpy(), mean.numpy())
    context = strategy.distribute_datasets_from_function(
        lambda told: tf.data.Dataset.from_tensors(told.input_pipeline_id + 10 * told.num_input_pipelines))
    print(*(one.numpy() - strategy._group.rank for one in context))
    print(tf.cast(strategy.reduce("SUM", tf.cast(results, tf.bfloat16), axis=None), tf.float32).numpy())
    """))
    assert found[0] == found[1] == [
        "2 1.0 0.5", "1.5", "[0 0 1] 1", "0.33333334", "3.0 0.5", "20", "1.0",
    ]


def test_workers_that_make_different_calls_are_told(start: Start) -> None:
    found = lines_of(start("""
    size = 2 + strategy._group.rank
    print(error_of(lambda: strategy.reduce("SUM", tf.zeros([size]), axis=None)))
    """))
    for (line,) in found:
        assert line.startswith("InvalidArgumentError: the workers make different calls: number 1 of /job:worker/task:0")
        assert "sum of float32[2]" in line and "sum of float32[3]" in line


def test_a_lost_worker_is_named(start: Start) -> None:
    workers = start("""
    import time
    print(strategy.reduce("SUM", tf.ones([20_000]), axis=None).numpy()[0], flush=True)
    if strategy._group.rank == 1:
        time.sleep(100)
    print(error_of(lambda: strategy.reduce("SUM", tf.ones([3]), axis=None)))
    """, 3)
    assert [worker.stdout.readline() for worker in workers] == ["3.0\n"] * 3  # type: ignore[union-attr]
    time.sleep(0.2)
    workers[1].send_signal(signal.SIGKILL)
    for worker in (workers[0], workers[2]):
        out, _ = worker.communicate(timeout=60)
        assert out.startswith("UnavailableError: the worker /job:worker/task:1 at localhost:")


def test_bad_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", "{worker")
    with pytest.raises(ValueError, match="TF_CONFIG is no JSON of a cluster and a task"):
        tf.distribute.MultiWorkerMirroredStrategy()
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 3}}')
    with pytest.raises(ValueError, match="the cluster has no task worker:3; it has 1 workers"):
        tf.distribute.MultiWorkerMirroredStrategy()
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        here = f"localhost:{taken.getsockname()[1]}"
        told = {"cluster": {"worker": [here, "localhost:1"]}, "task": {"type": "worker", "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(told))
        with pytest.raises(tf.errors.UnavailableError, match=f"/job:worker/task:0 at {here} cannot listen there"):
            tf.distribute.MultiWorkerMirroredStrategy()
