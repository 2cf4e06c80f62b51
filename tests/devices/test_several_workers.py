"""MultiWorkerMirroredStrategy: processes that train together, beside one process on the whole batch.

Lost workers, damaged messages, a program that continues from its checkpoints, and processes of mpiexec.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv as tf
from autoconv.distribute import messages

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
Start = Callable[..., list[Any]]  # of forked_python.ForkedProcess


@pytest.fixture
def start(tmp_path: Path, forker: Any) -> Start:
    """Return a function that starts a program in several workers."""
    running: list[Any] = []

    def begin(program: str, count: int = 2, *arguments: str) -> list[Any]:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(HEAD) + textwrap.dedent(program))
        sockets = [socket.socket() for _ in range(count)]
        for socket_ in sockets:
            socket_.bind(("localhost", 0))
        workers = [f"localhost:{socket_.getsockname()[1]}" for socket_ in sockets]
        for socket_ in sockets:
            socket_.close()
        for index in range(count):
            config = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
            running.append(forker.start([path, *arguments], env={**os.environ, "TF_CONFIG": config}))
        return running

    yield begin
    for item in running:
        item.kill()
        item.communicate()


def lines_of(workers: list[Any]) -> list[list[str]]:
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


VALUES = """
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
"""
FOUND = ["2 1.0 0.5", "1.5", "[0 0 1] 1", "0.33333334", "3.0 0.5", "20", "1.0"]


def test_values_of_several_workers(start: Start) -> None:
    found = lines_of(start(VALUES))
    assert found[0] == found[1] == FOUND


def test_workers_that_make_different_calls_raise(start: Start) -> None:
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
    assert [worker.read_line() for worker in workers] == ["3.0\n"] * 3
    time.sleep(0.2)
    workers[1].kill()
    for worker in (workers[0], workers[2]):
        out, _ = worker.communicate(timeout=60)
        assert out.startswith("UnavailableError: the worker /job:worker/task:1 at localhost:")


def test_a_program_continues_from_its_checkpoints(start: Start, tmp_path: Path) -> None:
    """After a worker is killed, restarted processes end with the weights of an undisturbed run."""
    program = TRAINING.replace("WIDTH", "20_000").replace("FIRST", "1").rpartition("losses = ")[0] + """
import os, sys
at, folder, slow = tf.Variable(0, dtype=tf.int64), sys.argv[1], sys.argv[2] == "slow"
manager = tf.train.CheckpointManager(tf.train.Checkpoint(w=w, at=at), folder, max_to_keep=2)
manager.restore_or_initialize()
print("from", at.numpy(), flush=True)
try:
    for batch in strategy.experimental_distribute_dataset(data.skip(at.numpy())):
        train(batch)
        at.assign_add(1)
        if strategy._group.rank == 0 and at.numpy() % 4 == 0:
            manager.save()
        strategy.reduce("SUM", tf.zeros([1]), axis=None)  # the others wait for the checkpoint
        if slow and at.numpy() > 9:
            print("step", flush=True)
            for _ in range(10_000):
                train(batch)
except tf.errors.UnavailableError as error:
    print(error, flush=True)
    sys.exit(3)
print(w.numpy().tobytes().hex())
"""
    folder = str(tmp_path / "checkpoints")
    first = start(program, 2, folder, "slow")
    for item in first:
        lines = [item.read_line(), item.read_line()]
        assert lines == ["from 0\n", "step\n"]
    time.sleep(random.random() / 10)
    first[1].kill()
    out, _ = first[0].communicate(timeout=60)
    assert first[0].returncode == 3 and "the worker /job:worker/task:1 at localhost:" in out
    assert not [name for name in os.listdir("/dev/shm") if f"-{first[0].pid}-" in name]
    restarted = lines_of(start(program, 2, folder, "quick")[2:])
    assert restarted[0][0] == restarted[1][0] == "from 8" and restarted[0][1] == restarted[1][1]
    undisturbed = lines_of(start(program, 2, str(tmp_path / "others"), "quick")[4:])
    assert undisturbed[0] == ["from 0", restarted[0][1]]


def test_damaged_messages_are_found() -> None:
    draw, array = random.Random(0), np.arange(6.0).reshape(2, 3)
    own_socket, peer_socket = socket.socketpair()
    messages.send(own_socket, {"call": "sum", "number": 3}, array)
    own_socket.close()
    message = peer_socket.recv(1000)
    peer_socket.close()
    outcomes = set()
    for _ in range(1000):
        data = bytearray(message)
        kind = draw.choice(["bit", "byte", "cut", "zeros", "twice"])
        position = draw.randrange(len(data))
        if kind == "bit":
            data[position] ^= 1 << draw.randrange(8)
        elif kind == "byte":
            data[position] = draw.randrange(256)
        elif kind == "cut":
            del data[position:]
        elif kind == "zeros":
            data[position : position + 8] = bytes(len(data[position : position + 8]))
        else:
            data[position:position] = data[position : position + draw.randint(1, 9)]
        own_socket, peer_socket = socket.socketpair()
        peer_socket.settimeout(5.0)
        with own_socket, peer_socket:
            own_socket.sendall(data)  # the connection stays open: no size may be trusted that would wait for more
            if kind in ("cut", "twice"):
                own_socket.close()
            try:
                header, found = messages.receive(peer_socket)
            except (messages.DamagedMessage, EOFError) as error:
                outcomes.add(type(error).__name__)
            else:
                assert (header["call"], header["number"], found.tolist()) == ("sum", 3, array.tolist()), data
    assert outcomes == {"DamagedMessage", "EOFError"}


def test_a_damaged_message_ends_the_step_of_all_workers(start: Start) -> None:
    found = lines_of(start("""
    from autoconv.distribute import messages
    if strategy._group.rank == 1:
        class Wrong:
            crc32 = staticmethod(lambda data, whole=messages.zlib.crc32: whole(data) ^ (len(data) == 12))
        messages.zlib = Wrong
    print(error_of(lambda: strategy.reduce("SUM", tf.ones([3]), axis=None)))
    """, 3))
    for (line,) in found:
        assert line.startswith("DataLossError: what came from /job:worker/task:1 at localhost:"), line
        assert line.endswith("is damaged: its array does not match its checksum"), line


def mpiexec() -> str | None:
    """Return the command that starts processes, if it and MPI's library are installed."""
    found = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if found is None or subprocess.run([sys.executable, "-c", "import mpi4py.MPI"], capture_output=True).returncode:
        return None
    return found


def test_processes_of_mpiexec(tmp_path: Path) -> None:
    command = mpiexec()
    if command is None:
        pytest.skip("needs mpi4py and MPI")
    path = tmp_path / "program.py"
    environment = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}

    def run(program: str) -> list[list[str]]:
        head = f"{HEAD}\nimport sys\nsys.stdout = open(f'{tmp_path}/{{strategy._group.rank}}', 'w')\n"
        path.write_text(head + program)
        command_line = [command, "-n", "2", sys.executable, path]
        completed = subprocess.run(
            command_line, capture_output=True, text=True, env=environment, timeout=300, check=False
        )
        assert completed.returncode == 0, completed.stderr
        return [(tmp_path / name).read_text().splitlines() for name in "01"]

    assert run(VALUES) == [FOUND, FOUND]
    different = run("print(error_of(lambda: strategy.reduce('SUM', tf.zeros([2 + strategy._group.rank]), axis=None)))")
    for (line,) in different:
        assert line.startswith("InvalidArgumentError: the processes make different calls: rank 0: ")
        assert '"shape": [2]' in line and '"shape": [3]' in line
    for width in ("3", "20_000"):
        program = TRAINING.replace("WIDTH", width).replace("FIRST", "strategy._group.rank")
        found = run(program + "print(w.numpy().tobytes().hex()); print(*losses)")
        alone = program.replace("strategy._group.rank", "0").replace("@tf.function\n", "")
        names: dict[str, object] = {"np": np, "tf": tf, "strategy": tf.distribute.get_strategy()}
        names["here"] = tf.distribute.get_replica_context
        exec(alone, names)
        assert found[0] == found[1]
        weights = np.frombuffer(bytes.fromhex(found[0][0]), np.float32)
        np.testing.assert_allclose(weights, names["w"].numpy(), rtol=1e-4, atol=1e-6)  # type: ignore[attr-defined]


def test_bad_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", "{worker")
    with pytest.raises(ValueError, match="TF_CONFIG is not the JSON of a cluster and a task"):
        tf.distribute.MultiWorkerMirroredStrategy()
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 3}}')
    with pytest.raises(ValueError, match="the cluster has no task worker:3; it has 1 workers"):
        tf.distribute.MultiWorkerMirroredStrategy()
    for wrong in ("localhost", "localhost:x", "localhost:99999"):
        config = {"cluster": {"worker": ["localhost:1", wrong]}, "task": {"type": "worker", "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        with pytest.raises(ValueError, match=f"the address '{wrong}' of /job:worker/task:1 is no host with a port"):
            tf.distribute.MultiWorkerMirroredStrategy()
    with socket.socket() as used_socket:
        used_socket.bind(("localhost", 0))
        used_socket.listen()
        address = f"localhost:{used_socket.getsockname()[1]}"
        config = {"cluster": {"worker": [address, "localhost:1"]}, "task": {"type": "worker", "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        with pytest.raises(tf.errors.UnavailableError, match=f"/job:worker/task:0 at {address} cannot listen there"):
            tf.distribute.MultiWorkerMirroredStrategy()
