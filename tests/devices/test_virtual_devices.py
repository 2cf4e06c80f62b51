"""Virtual devices: where tensors and variables are, what graphs record, errors, pools of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import autoconv as tf
from autoconv.graph.graph import Graph
from autoconv.optimise.partition import partition

HOST = "/job:localhost/replica:0/task:0/device:CPU:"
Run = Callable[[str], list[str]]


def test_tensors_and_variables_are_on_the_device_of_their_block(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run("""
        with tf.device("CPU:1"):
            y = tf.constant([2.0])
            v = tf.Variable(3.0)
            places = [y, y + 1, v, v + 1, v.read_value()]
        places += [y + 1, v + 1, v.assign_add(1.0), tf.identity(y), tf.constant(1)]
        print(*(place.device[-1] for place in places))
        print(y.device, y.backing_device, (v * y).numpy())
        with tf.device("CPU:1"):
            with tf.device("/job:localhost"):
                print((y + 1).device[-1])
            with tf.device(None):
                print((y + 1).device[-1])
            with tf.device(""):
                print((y + 1).device[-1])
    """)
    assert found == ["1 1 1 1 1 0 0 1 0 0", f"{HOST}1 {HOST}1 [8.]", "1", "0", "1"]


def test_forms_of_devices(run: Run) -> None:
    """Devices are named by strings, specs and logical devices; expected values are those of TensorFlow 2.21."""
    found = run("""
        first, second, third = tf.config.list_logical_devices("CPU")
        again = tf.device(tf.DeviceSpec(device_type="CPU", device_index=2))
        with again:
            y = tf.constant([2.0])
            with tf.device(second), again:
                z = tf.constant(1)
            v = tf.Variable(3.0)
        print(*(one.device[-1] for one in (y, z, y.cpu(), v.value(), v.read_value())))
        print(error_of(lambda: y.gpu()))
        print(error_of(lambda: tf.device(lambda op: "/CPU:1"))[:12])
        (cpu,) = tf.config.list_physical_devices("CPU")
        print(error_of(lambda: tf.config.set_logical_device_configuration(cpu, virtual_devices)))
        print(error_of(lambda: tf.config.set_logical_device_configuration(cpu, virtual_devices[1:]))[:12])
        limited = [tf.config.LogicalDeviceConfiguration(memory_limit=1)]
        print(error_of(lambda: tf.config.set_logical_device_configuration(cpu, limited)))
    """)
    assert found == [
        "2 2 0 2 0", "RuntimeError: GPU:0 unknown device.", "RuntimeError", "None", "RuntimeError",
        "ValueError: Setting memory limit on CPU virtual devices is currently not supported",
    ]  # fmt: skip


def test_graphs_run_on_several_devices(run: Run) -> None:
    found = run("""
        @tf.function
        def g(x):
            with tf.device("CPU:1"):
                a = tf.sin(x)
            with tf.device("CPU:2"):
                b = tf.sin(x)
            return a, b, a + b
        x = tf.constant([1.0, 2.0])
        print(*(f"{n.op}{n.device}" for n in g.get_concrete_function(x).graph.as_graph_def().node))
        print(*(tensor.device[-1] for tensor in g(x)), bool(tf.reduce_all(g(x)[2] == 2 * tf.sin(x))))
        with tf.device("CPU:2"):
            print(*(tensor.device[-1] for tensor in g(x)), g(x)[2].numpy() - g(x)[0].numpy() * 2)
        print(g.experimental_get_tracing_count())
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(x)[2]
        print(bool(tf.reduce_all(tf.abs(tape.gradient(y, x) - 2 * tf.cos(x)) < 1e-6)))
        v = tf.Variable(1.0)
        @tf.function
        def h(n):
            with tf.device("CPU:1"):
                v.assign_add(1.0)
            with tf.device("CPU:2"):
                v.assign(v * 10)
            with tf.device("CPU:0"):
                return v + tf.cast(tf.size(n), tf.float32)
        print(h(tf.zeros([3])).numpy(), h(tf.zeros([4])).numpy())
    """)
    assert found == [
        "Placeholder Sin/device:CPU:1 Sin/device:CPU:2 AddV2 Identity Identity Identity", "0 0 0 True",
        "2 2 2 [0. 0.]", "1", "True", "23.0 214.0",
    ]  # fmt: skip


def test_regions_run_on_the_devices_of_their_nodes(run: Run) -> None:
    found = run("""
        from autoconv.backends.llvm.runtime import library
        v = tf.Variable(1.0, dtype=tf.float64)
        @tf.function
        def grown(x):
            for i in tf.range(5):
                with tf.device("CPU:1"):
                    a = tf.sin(x)
                    v.assign_add(1.0)
                with tf.device("CPU:2"):
                    b = tf.cos(x)
                if tf.reduce_sum(a) > 0.0:
                    with tf.device("CPU:1"):
                        x = a * b + v
                else:
                    x = a - b
            return x
        x = tf.constant(np.linspace(0.0, 1.0, 1 << 18))
        def expected(x, v=1.0):
            for i in range(5):
                a, b, v = np.sin(x), np.cos(x), v + 1.0
                x = a * b + v if a.sum() > 0.0 else a - b
            return x
        print(np.abs(grown(x) - expected(x.numpy())).max() < 1e-12, v.numpy(), library._load_pool.cache_info().currsize)
        @tf.function
        def tried(x):
            try:
                with tf.device("CPU:1"):
                    y = tf.linalg.inv(x)
            except tf.errors.InvalidArgumentError:
                y = x * 2.0
            return y
        print(tried(tf.constant([[0.0]])).numpy(), tried(tf.constant([[4.0]])).numpy())
        @tf.function
        def missing(x):
            for i in tf.range(2):
                with tf.device("CPU:9"):
                    x = x + 1.0
            return x
        print(place_of_refusal(missing))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(grown(x))
        v.assign(6.0)
        step = np.eye(1, 1 << 18, 7)[0] * 1e-6
        slope = (expected(x.numpy() + step, 6.0) - expected(x.numpy() - step, 6.0)).sum() / 2e-6
        print(abs(tape.gradient(y, x).numpy()[7] - slope) < 1e-6)
    """)
    assert found == [
        "True 6.0 3", "[[0.]] [[0.25]]",
        "Unable to find any devices for spec /device:CPU:9 [Op:missing] at x = x + 1.0", "True",
    ]  # fmt: skip


def test_unknown_devices(run: Run) -> None:
    """Error classes are TensorFlow's, and so are the messages of eager ops."""
    known = ", ".join(f"{HOST}{i}" for i in range(3))
    found = run("""
        def at(name):
            with tf.device(name):
                return tf.constant([1.0]).device
        for name in ("/CPU:9", "/GPU:0", "/job:worker/task:1", "what", "/cpu:0/cpu:1"):
            print(error_of(lambda: at(name)))
        @tf.function
        def h(x):
            with tf.device("CPU:9"):
                return x * 2
        h.get_concrete_function(tf.TensorSpec([]))
        print(place_of_refusal(h))
        @tf.function
        def constants(x):
            with tf.device("CPU:9"):
                y = tf.constant(2.0) * 3.0
            return x * y
        print(place_of_refusal(constants))
        tf.config.set_soft_device_placement(True)
        print(at("/CPU:9"), at("/GPU:0"))
        print(error_of(lambda: at("/job:worker/task:1")))
        print(error_of(lambda: tf.config.set_logical_device_configuration(tf.config.list_physical_devices()[0], [])))
    """)
    lines = [
        "InvalidArgumentError: Could not satisfy device specification '/job:localhost/replica:0/task:0/device:{}'. "
        f"enable_soft_placement=0. Supported device types [CPU]. All available devices [{known}]."
    ] * 2
    assert found == [
        lines[0].format("CPU:9"),
        lines[1].format("GPU:0"),
        "InvalidArgumentError: /job:worker/replica:0/task:1/device:CPU:0 unknown device.",
        "ValueError: Unknown attribute 'what' is encountered while parsing the device spec: 'what'.",
        "ValueError: Multiple device types are not allowed while parsing the device spec: /cpu:0/cpu:1.",
        "Unable to find any devices for spec /device:CPU:9 [Op:h] at return x * 2",
        "Unable to find any devices for spec /device:CPU:9 [Op:constants] at y = tf.constant(2.0) * 3.0",
        f"{HOST}0 {HOST}0",
        "InvalidArgumentError: /job:worker/replica:0/task:1/device:CPU:0 unknown device.",
        "RuntimeError: Virtual devices cannot be modified after being initialized",
    ]


def test_devices_have_pools_of_their_own(run: Run) -> None:
    found = run("""
        from autoconv.backends.llvm.runtime import library
        @tf.function
        def f(x):
            with tf.device("CPU:1"):
                a = tf.sin(x) + 1
            with tf.device("CPU:2"):
                b = tf.cos(x) + 1
            return a, b
        x = tf.ones([1 << 18])
        a, b = f(x)
        load = library._load_pool
        print(len({load(number)["parallel"] for number in range(3)}), load.cache_info().currsize)
    """)
    assert found == ["3 3"]


@pytest.fixture
def graph() -> Graph:
    """Return a graph with a chain from one device to another and back, and a constant."""

    @tf.function
    def f(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.device("CPU:1"):
            a = tf.sin(x) * 2.0
        with tf.device("CPU:2"):
            b = tf.cos(y) * 2.0
        return tf.tan(a) + b

    return f.get_concrete_function(tf.TensorSpec([2]), tf.TensorSpec([2])).optimised


def test_a_partition_has_stages_of_independent_parts(graph: Graph) -> None:
    stages = partition(graph, lambda node: node.device)
    assert [[(part.device, [node.op.name for node in part.nodes]) for part in stage] for stage in stages] == [
        [("/device:CPU:1", ["sin", "multiply"]), ("/device:CPU:2", ["cos", "multiply"])],
        [("", ["tan", "add", "identity"])],
    ]
    assert [node.op.name for node in stages[0][1].graph.nodes] == ["cos", "constant", "multiply"]
    assert len(stages[1][0].inputs) == 2 and stages[1][0].outputs == graph.outputs


def test_a_part_without_results_has_its_inputs() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.device("CPU:1"):
            y = tf.exp(x)
        with tf.device("CPU:2"):
            tf.debugging.assert_less(y, 9.0)
        return x

    stages = partition(f.get_concrete_function(tf.TensorSpec([2])).optimised, lambda node: node.device)
    part = next(part for stage in stages for part in stage if part.device == "/device:CPU:2")
    assert not part.outputs and [value.node.op.name for value in part.inputs if value.node] == ["exp"]
    assert len(part.graph.parameters) == len(part.inputs)


def test_equal_nodes_of_different_devices_stay_apart() -> None:
    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        with tf.device("CPU:0"):
            a = tf.exp(x)
        with tf.device("CPU:1"):
            b = tf.exp(x)
        return a - b

    names = [node.op.name for node in f.get_concrete_function(tf.TensorSpec([2])).optimised.nodes]
    assert names.count("exp") == 2


def test_to_device() -> None:
    x = tf.constant(np.ones(2))
    assert x.to_device("cpu") is x and x.to_device(x.device) is x
    with pytest.raises(ValueError, match="there is no device"):
        x.to_device("/job:worker/task:3")
