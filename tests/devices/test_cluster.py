"""Tasks of a cluster in worker processes of Ray, started once for all checks; cluster specifications; bad addresses."""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import threading
from collections.abc import Callable

import pytest

import autoconv as tf

Run = Callable[[str], list[str]]
HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="needs Ray")


def test_specifications() -> None:
    """The expected values are TensorFlow 2.21's."""
    cluster = tf.train.ClusterSpec({"w": ["a:1", "b:2"], "ps": {1: "c:3"}})
    assert repr(cluster) == "ClusterSpec({'w': ['a:1', 'b:2'], 'ps': {1: 'c:3'}})" and bool(cluster)
    assert cluster.job_tasks("ps") == [None, "c:3"] and cluster.as_dict() == {"w": ["a:1", "b:2"], "ps": {1: "c:3"}}
    assert cluster == tf.train.ClusterSpec(cluster) and not tf.train.ClusterSpec({})
    with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
        cluster.num_tasks("x")
    with pytest.raises(ValueError, match="No task with index 7 in job 'w'"):
        cluster.task_address("w", 7)
    with pytest.raises(TypeError, match="must be a list or a dictionary from integers to strings"):
        tf.train.ClusterSpec({"w": "a:1"})
    with pytest.raises(TypeError, match="`cluster` must be a dictionary"):
        tf.train.ClusterSpec(3)  # type: ignore[arg-type]


@needs_ray
def test_invalid_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("localhost", 0))
        nowhere = f"localhost:{closed.getsockname()[1]}"
    connect = tf.config.experimental_connect_to_cluster
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ValueError, match="'localhost:1' of /job:w/task:1 is in use: it is that of /job:w/task:0"):
        connect(tf.train.ClusterSpec({"w": ["localhost:1", "localhost:1"]}))
    with pytest.raises(tf.errors.UnavailableError, match="no Ray cluster is known that has the host 'elsewhere'"):
        connect(tf.train.ClusterSpec({"w": ["elsewhere:2222"]}))
    monkeypatch.setenv("RAY_ADDRESS", nowhere)
    with pytest.raises(tf.errors.UnavailableError, match="no Ray cluster answers at RAY_ADDRESS"):
        connect(tf.train.ClusterSpec({"w": ["localhost:2222"]}))
    monkeypatch.setattr("autoconv.cluster.connect._PORT_TIMEOUT", 0.2)
    for answer in (b"", b"HTTP/1.1 400 Bad Request"):
        with socket.create_server(("localhost", 0)) as server:
            threading.Thread(target=_answer, args=(server, answer), daemon=True).start()
            monkeypatch.setenv("RAY_ADDRESS", f"localhost:{server.getsockname()[1]}")
            with pytest.raises(tf.errors.UnavailableError, match=r"no Ray .*: (timed out|another program)"):
                connect(tf.train.ClusterSpec({"w": ["localhost:2222"]}))


def _answer(server: socket.socket, answer: bytes) -> None:
    link, _ = server.accept()
    with link, contextlib.suppress(OSError):
        link.sendall(answer)
        while link.recv(100):
            pass


PARAMETER_SERVERS = """
    tasks = {"worker": ["localhost:2224", "localhost:2225"], "ps": ["localhost:2226"]}
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(tasks))
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        slope, steps = tf.Variable(0.0), tf.Variable(0)
    print(slope.device, strategy.num_replicas_in_sync, coordinator.strategy is strategy)
    dataset = lambda: tf.data.Dataset.from_tensor_slices(np.arange(1, 9, dtype=np.float32)).repeat()
    iterator = iter(coordinator.create_per_worker_dataset(dataset))

    @tf.function
    def step(iterator):
        def of_replica(x):
            with tf.GradientTape() as tape:
                loss = (slope * x - 3.0 * x) ** 2
            slope.assign_sub(0.01 * tape.gradient(loss, slope))
            steps.assign_add(1)
            return loss
        return strategy.run(of_replica, args=(next(iterator),))
    first = coordinator.schedule(step, args=(iterator,))
    others = [coordinator.schedule(step, args=(iterator,)) for _ in range(40)]
    coordinator.join()
    print(coordinator.done(), first.fetch(), max(coordinator.fetch(others[-4:])) < 0.1, steps.numpy(),
          abs(slope.numpy() - 3.0) < 0.05)

    @tf.function
    def checked(x):
        tf.debugging.assert_greater(x, 5.0)
        return x
    both = tf.distribute.coordinator.PerWorkerValue([tf.constant(1.0), tf.constant(2.0)])
    failing = [coordinator.schedule(checked, args=(x,)) for x in (tf.constant(6.0), both, both, both)]
    print((error := error_of(coordinator.join))[:21], "assertion failed" in error, coordinator.done())
    kinds = [str(error_of(one.fetch)).partition(":")[0] for one in failing]
    print(kinds[:2], {"InvalidArgumentError", "CancelledError"}.issuperset(kinds[2:]))

    @tf.function
    def counted(x):
        for i in tf.range(400_000_000):
            x = x + 1.0
        return x
    killed = TASKS["worker", 0].wait_until_ready()
    again = [coordinator.schedule(counted, args=(tf.constant(float(n)),)) for n in range(2)]
    time.sleep(0.3)
    os.kill(killed, signal.SIGKILL)
    coordinator.join()
    print(again[1].fetch() > 1e6, TASKS["worker", 0].wait_until_ready() != killed)
    print(error_of(lambda: coordinator.schedule(lambda: 1)))
    os.kill(TASKS["ps", 0].wait_until_ready(), signal.SIGKILL)
    coordinator.schedule(step, args=(iterator,))
    print(error_of(coordinator.join)[:83])
"""


@needs_ray
def test_workers(run: Run) -> None:
    found = run("""
    import os, signal, time
    class Players:
        def __init__(self):
            self._job_name, self.hosts = "player", ["localhost:2222", "localhost:2223"]
            cluster = tf.train.ClusterSpec({self._job_name: self.hosts})
            tf.config.experimental_connect_to_cluster(cluster)
    Players()
    print(*(device.name[-33:] for device in tf.config.list_logical_devices()[3:]))
    x = tf.constant([1.0, 2.0])
    with tf.device("/job:player/task:1"):
        b = tf.constant([1.0, 2.0]) + 1
        c = b * 2
    print(c.device, c.shape, c.numpy(), (c + x).device[-5:])

    @tf.function
    def grown(x, y):
        while tf.reduce_sum(x) < 100.0:
            x = x * y
        return x
    with tf.device("/job:player/task:0"):
        print(grown(x, c).device[-26:], grown(x, c).numpy())

    v = tf.Variable(2.0)
    @tf.function
    def several(x):
        with tf.device("/job:player/task:0"):
            a = tf.sin(x) * v
        with tf.device("/job:player/task:1"):
            b = tf.cos(x)
        v.assign_add(1.0)
        return a + b
    print(np.abs(several(x).numpy() - (2 * np.sin([1, 2]) + np.cos([1, 2]))).max() < 1e-6, v.numpy())

    from autoconv.config.placement import TASKS
    calls = []
    for number in range(2):
        task = TASKS["player", number]
        task.call = lambda *given, number=number, call=task.call: calls.append(number) or call(*given)
    @tf.function
    def in_turns(x):
        for i in tf.range(3):
            with tf.device("/job:player/task:0"):
                x = x * 2.0
            if x[0] > 2.0:
                with tf.device("/job:player/task:1"):
                    x = x + v
        return x
    print(in_turns(x).numpy(), calls)
    @tf.function
    def tried(x):
        try:
            with tf.device("/job:player/task:1"):
                y = tf.linalg.cholesky(x)
        except tf.errors.InvalidArgumentError:
            y = -x
        return y
    print(tried(tf.constant([[-1.0]])).numpy())

    @tf.function
    def bad(x):
        return tf.linalg.cholesky(x)
    with tf.device("/job:player/task:0"):
        failed = bad(tf.constant([[-1.0]]))
    print(error_of(failed.numpy).splitlines()[1].strip())
    with tf.device("/job:player/task:9"):
        print(error_of(lambda: tf.constant(1.0)))

    with tf.device("/job:player/task:1"):
        there = tf.Variable([1.0, 2.0], name="there")
    print(there.device, there.assign_add(x).numpy(), (there + v).device[-5:])
    calls.clear()
    @tf.function
    def trained(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((there * x - 2.0) ** 2)
        slope = tape.gradient(loss, there)
        for _ in tf.range(2):
            there.assign_sub(0.25 * slope)
        v.assign_add(1.0)
        return loss
    print(trained(x).numpy(), there.numpy(), calls, v.numpy())
    @tf.function
    def failing(x):
        there.assign_add(tf.linalg.cholesky(x)[0])
    print(error_of(lambda: failing(tf.constant([[-1.0, 0.0], [0.0, 1.0]]))).splitlines()[1].strip(), there.numpy())
    kept = there.numpy()

    first = TASKS["player", 1].wait_until_ready()
    @tf.function
    def long(x):
        for i in tf.range(4_000_000_000):
            x = x + 1e-9
        return x
    with tf.device("/job:player/task:1"):
        waiting = long(tf.constant(1.0))
    time.sleep(0.3)
    os.kill(first, signal.SIGKILL)
    print(error_of(waiting.numpy)[:81])
    with tf.device("/job:player/task:1"):
        print((tf.constant(1.0) + 1).numpy(), c.numpy())
    print(error_of(there.numpy).splitlines()[0][-66:])
    print(error_of(lambda: trained(x))[:16], there.assign(kept).numpy())
    second = TASKS["player", 1].wait_until_ready()
    print(first != second, TASKS["player", 0].wait_until_ready() != second)
    print(error_of(lambda: tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"x": ["localhost:2222"]}))))
    """ + PARAMETER_SERVERS)
    name = "/job:player/replica:0/task:{}/device:CPU:0"
    assert found == [
        f"{name.format(0)[-33:]} {name.format(1)[-33:]}",
        f"{name.format(1)} (2,) [4. 6.] CPU:0",
        f"{name.format(0)[-26:]} [ 64. 432.]",
        "True 3.0",
        "[17. 25.] [0, 0, 1, 0, 1]",
        "[[1.]]",
        "return tf.linalg.cholesky(x)",
        "InvalidArgumentError: /job:player/replica:0/task:9/device:CPU:0 unknown device.",
        f"{name.format(1)} [2. 4.] CPU:0",
        "36.0 [ 2. -8.] [1, 1, 1] 4.0",
        "there.assign_add(tf.linalg.cholesky(x)[0]) [ 2. -8.]",
        "UnavailableError: the worker /job:player/task:1 at localhost:2223 was lost: its process"[:81],
        "2.0 [4. 6.]",
        "process of /job:player/task:1: assign one, or restore a checkpoint",
        "UnavailableError [ 2. -8.]",
        "True True",
        "ValueError: the address 'localhost:2222' of /job:x/task:0 is in use: it is that of /job:player/task:0",
        "/job:ps/replica:0/task:0/device:CPU:0 1 True",
        "True 9.0 True 41 True",
        "InvalidArgumentError: True True",
        "['6.0', 'InvalidArgumentError'] True",
        "True True",
        "TypeError: `ClusterCoordinator.schedule` only accepts an `autoconv.function` or a concrete function.",
        "UnavailableError: the worker /job:ps/task:0 at localhost:2226 was lost: its process",
    ]
