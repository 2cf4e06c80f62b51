"""Strategies of several replicas: TensorFlow 2.21's printed figures, and training beside NumPy and one replica."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Run = Callable[[str], list[str]]

MIRRORED = """
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    here = tf.distribute.get_replica_context
    def number():
        return tf.cast(here().replica_id_in_sync_group, tf.float32)
    def shown(value):
        return [getattr(one, "numpy", lambda one=one: one)() for one in strategy.experimental_local_results(value)]
"""


def test_replicas_and_reductions(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    results = strategy.run(lambda: number() + 1.0)
    print(*shown(results), *(one.device[-1] for one in results.values))
    print(*(strategy.reduce(op, results, axis=None).numpy() for op in ("SUM", "MEAN", tf.distribute.ReduceOp.MEAN)))
    print(error_of(lambda: strategy.reduce("SUM", 3.0, axis=None)))
    print(strategy.reduce("MEAN", 3.0, axis=None))
    print(error_of(lambda: strategy.reduce("MAX", results, axis=None)))
    def total():
        return here().all_reduce("SUM", {"a": number() + 1.0})["a"]
    print(*shown(strategy.run(total)), *shown(strategy.run(tf.function(total))))
    print(*shown(tf.function(lambda: strategy.run(total))()))
    print(strategy.run(lambda: here().merge_call(lambda s, x: s.reduce("SUM", x, axis=None), args=(2.0 + number(),))))
    with strategy.scope():
        print(tf.distribute.in_cross_replica_context(), here(), tf.distribute.has_strategy())
    print(strategy.gather(strategy.run(lambda: tf.reshape(number(), [1])), axis=0).numpy())
    print(*strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group).values)
    print(error_of(lambda: strategy.run(lambda: 1 / 0)))
    print(error_of(lambda: strategy.run(lambda: total() if number() else 0.0))[:60])
    print(tf.distribute.OneDeviceStrategy("CPU:2").run(lambda: tf.constant(1.0)).device[-1])
    print(error_of(lambda: tf.distribute.MirroredStrategy(["CPU:0", "cpu:0"]))[:50])
    print(error_of(lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:7"]))[:50])
    """)
    assert found == [
        "1.0 2.0 0 1",
        "3.0 1.5 1.5",
        "ValueError: A non-DistributedValues value 3.0 cannot be reduced with the given reduce op ReduceOp.SUM.",
        "3.0",
        "ValueError: Unknown reduce_op 'MAX': there are ReduceOp.SUM and ReduceOp.MEAN, and their names",
        "3.0 3.0 3.0 3.0",
        "3.0 3.0",
        "autoconv.Tensor(5.0, shape=(), dtype=float32)",
        "True None True",
        "[0. 1.]",
        "0 1",
        "ZeroDivisionError: division by zero",
        "RuntimeError: some replicas call merge_call or all_reduce wh",
        "2",
        "AssertionError: No duplicates allowed in `devices`",
        "InvalidArgumentError: Could not satisfy device spe",
    ]  # fmt: skip


def test_variables_that_replicas_share(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:1", "CPU:2"], "CPU:0")
    kinds = tf.VariableAggregation
    with strategy.scope():
        free, mean, total, first = (
            tf.Variable(1.0, aggregation=kind) for kind in (kinds.NONE, kinds.MEAN, kinds.SUM, kinds.ONLY_FIRST_REPLICA)
        )
    print(mean.device[-5:], free.device[-5:], isinstance(mean, tf.Variable), *strategy.extended.parameter_devices)
    def write():
        mean.assign_add(number() + 1.0)
        total.assign_add(number() + 1.0)
        first.assign(number() + 5.0)
        return mean.read_value()
    for call in (lambda: strategy.run(write), tf.function(lambda: strategy.run(write))):
        print(*shown(call()), mean.numpy(), total.numpy(), first.numpy())
    print(*(one.device[-5:] for one in strategy.experimental_local_results(strategy.run(number))))
    print(error_of(lambda: strategy.run(lambda: free.assign(number())))[:60], free.assign_add(3.0).numpy())
    def slope(x):
        with tf.GradientTape() as tape:
            loss = (free * x - 2.0 * x) ** 2
        return here().all_reduce("SUM", tape.gradient(loss, free))
    print(*shown(strategy.run(slope, args=(tf.constant(1.0),))))
    with tf.distribute.experimental.CentralStorageStrategy(["CPU:1"], "CPU:2").scope():
        print(type(tf.Variable(1.0)).__name__, tf.Variable(1.0).device[-5:])
    """)
    assert found == [
        "CPU:0 CPU:0 True /job:localhost/replica:0/task:0/device:CPU:0",
        "2.5 2.5 2.5 4.0 5.0",
        "4.0 4.0 4.0 7.0 5.0",
        "CPU:1 CPU:2",
        "ValueError: You must specify an aggregation method to update 4.0",
        "8.0 8.0",
        "Variable CPU:2",
    ]


def test_variables_of_replicas(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    late, kinds = tf.VariableSynchronization.ON_READ, tf.VariableAggregation
    with strategy.scope():
        mean, first = tf.Variable(0.0, aggregation=kinds.MEAN), tf.Variable(0.0, aggregation=kinds.ONLY_FIRST_REPLICA)
        own = tf.Variable(0.0, synchronization=late, aggregation=kinds.SUM, trainable=False, name="own")
        free = tf.Variable(1.0, name="free")
    print(*(one.name for one in free.values), *(one.device[-1] for one in free.values), isinstance(free, tf.Variable))
    def write():
        mean.assign_add(number() + 1.0)
        first.assign(number() + 5.0)
        own.assign_add(number() + 1.0)
        free.assign(number())
        return own.read_value()
    for call in (write, tf.function(write), write):
        if call is write:
            print(*shown(strategy.run(write)), *shown(mean), *shown(first), *shown(own), own.read_value().numpy())
        print(*shown(free), free.numpy())
    def graph():
        return strategy.run(write)
    print(*shown(tf.function(graph)()), *shown(mean))
    with strategy.scope():
        print(free.assign(4.0).numpy(), own.assign(4.0).numpy(), *shown(free), *shown(own))
    step = tf.function(lambda: own + free)
    print(*shown(strategy.run(lambda: own.assign(number())) and strategy.run(step)), step().numpy())
    """)
    assert found == [
        "free:0 free/replica_1:0 0 1 True",
        "1.0 2.0 1.5 1.5 5.0 5.0 1.0 2.0 3.0",
        "0.0 1.0 0.0",
        "0.0 1.0 0.0",
        "2.0 4.0 3.0 3.0 5.0 5.0 2.0 4.0 6.0",
        "0.0 1.0 0.0",
        "3.0 6.0 4.5 4.5",
        "4.0 2.0 4.0 4.0 2.0 2.0",
        "4.0 5.0 5.0",
    ]


def test_variables_that_replicas_make(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    class Model:
        v = None
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(x)
            return self.v * x
    x = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(c.replica_id_in_sync_group + 2.0))
    eager, traced = Model(), Model()
    print(*shown(strategy.run(eager, (x,))), *shown(tf.function(lambda x: strategy.run(traced, (x,)))(x)))
    for model in (eager, traced):
        print(type(model.v).__name__, *shown(model.v), *(one.device[-1] for one in model.v.values))
    names = []
    def creator(following, **options):
        names.append(options["name"])
        return following(**options)
    with tf.variable_creator_scope(creator):
        print(strategy.run(lambda: tf.Variable(1.0, name="made")).name, set(names))
    late, never = tf.VariableSynchronization.ON_READ, tf.VariableSynchronization.NONE
    with strategy.scope():
        print(error_of(lambda: tf.Variable(1.0, synchronization=never))[:40])
    print(tf.Variable(1.0, synchronization=late).trainable, strategy.cluster_resolver)
    print(*shown(strategy.run(lambda: here().all_gather(tf.reshape(number(), [1]), axis=0))))
    made = tf.distribute.MirroredStrategy(["CPU:0"], cross_device_ops=tf.distribute.NcclAllReduce())
    print(made.num_replicas_in_sync, error_of(lambda: tf.distribute.MirroredStrategy(["CPU:0"], "nccl"))[:46])
    """)
    assert found == [
        "4.0 6.0 4.0 6.0",
        "MirroredVariable 2.0 2.0 0 1",
        "MirroredVariable 2.0 2.0 0 1",
        "made:0 {'made'}",
        "ValueError: `NONE` variable synchronizat",
        "False None",
        "[0. 1.] [0. 1.]",
        "1 ValueError: `cross_device_ops` has to be a Cro",
    ]


def test_datasets(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    data = tf.data.Dataset.range(10)
    parts = strategy.experimental_distribute_dataset(data.batch(4))
    print(*([one.tolist() for one in shown(element)] for element in parts))
    floats = data.map(lambda x: tf.cast(x, tf.float32)).batch(4)
    print(*(strategy.reduce("MEAN", x, axis=0).numpy() for x in strategy.experimental_distribute_dataset(floats)))
    made = strategy.distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(4)))
    print(*([one.tolist() for one in shown(element)] for element in made))
    iterator = iter(parts)
    @tf.function
    def step():
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(next(iterator),)), axis=None)
    print(*(int(step()) for _ in range(3)))
    try:
        step()
    except tf.errors.OutOfRangeError:
        print("end")
    """)
    lines = ["[[0, 1], [2, 3]] [[4, 5], [6, 7]] [[8], [9]]", "1.5 5.5 8.5", "[[0, 1], [2, 3]]", "6 22 17", "end"]
    assert found == lines


TRAINING = """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64, 3)).astype("float32")
    Y = X @ np.array([[1.0], [2.0], [3.0]], "float32")
    def train(strategy, graph):
        with strategy.scope():
            w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(0.0)
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((x @ w + b - y) ** 2) / 16
            slopes = tf.distribute.get_replica_context().all_reduce("SUM", tape.gradient(loss, [w, b]))
            w.assign_sub(0.1 * slopes[0])
            b.assign_sub(0.1 * slopes[1])
            return loss
        def distributed(batch):
            return strategy.reduce("SUM", strategy.run(step, args=batch), axis=None)
        run = tf.function(distributed) if graph else distributed
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)
        for batch in strategy.experimental_distribute_dataset(data):
            loss = run(batch)
        print(*w.numpy().ravel(), b.numpy(), loss.numpy())
"""


def test_data_parallel_training_gives_the_weights_of_the_whole_batch(run: Run) -> None:
    found = run(TRAINING + """
    train(tf.distribute.get_strategy(), True)
    for devices in (["CPU:0", "CPU:1"], None):
        for graph in (False, True):
            train(tf.distribute.MirroredStrategy(devices), graph)
    """)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3)).astype("float32").astype(float)
    y = x @ np.array([[1.0], [2.0], [3.0]])
    w, b, loss = np.zeros((3, 1)), 0.0, 0.0
    for i in range(0, 64, 16):
        error = x[i : i + 16] @ w + b - y[i : i + 16]
        loss = float((error**2).sum() / 16)
        w, b = w - 0.1 * 2 * x[i : i + 16].T @ error / 16, b - 0.1 * 2 * error.sum() / 16
    assert len(found) == 5
    for line in found:
        np.testing.assert_allclose([float(word) for word in line.split()], [*w.ravel(), b, loss], rtol=1e-5)


def test_keras_fits_over_replicas(run: Run) -> None:
    found = run("""
    from autoconv import keras
    rng = np.random.default_rng(0)
    X = rng.normal(size=(64, 3)).astype("float32")
    Y = X.sum(1, keepdims=True)
    def fit(strategy):
        keras.utils.set_random_seed(1)
        with strategy.scope():
            layers = [keras.layers.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)]
            model = keras.Sequential(layers)
            model.compile(keras.optimizers.Adam(0.05), "mse")
        history = model.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0)
        print(*history.history["loss"], *model.predict(X[:4], verbose=0).ravel(), model.evaluate(X, Y, verbose=0))
    fit(tf.distribute.get_strategy())
    fit(tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]))
    """)
    one, two = ([float(word) for word in line.split()] for line in found)
    np.testing.assert_allclose(one, two, rtol=1e-5)


def test_each_replica_draws_other_numbers(run: Run) -> None:
    """The figures are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    with strategy.scope():
        generator = tf.random.Generator.from_seed(1)
        print(str(strategy.run(lambda: generator.normal([]))).replace("autoconv.", "tf."))
        print(*shown(strategy.run(tf.function(lambda: generator.normal([])))))
        binomial, other = strategy.experimental_local_results(strategy.run(lambda: generator.binomial([9], 90.0, 0.5)))
        print(bool((binomial.numpy() != other.numpy()).any()))
    """)
    assert found[:2] == ["PerReplica:{", "  0: tf.Tensor(-0.87930447, shape=(), dtype=float32),"]
    assert found[2] == "  1: tf.Tensor(0.020661574, shape=(), dtype=float32)"
    assert np.allclose([float(number) for number in found[4].split()], [-1.5822568, 0.77539235], rtol=1e-6)
    assert found[-1] == "True"


def test_a_generator_of_a_strategy_outside_of_its_scope(run: Run) -> None:
    """The numbers are those that TensorFlow 2.21 prints."""
    found = run(MIRRORED + """
    with strategy.scope():
        generator = tf.random.Generator.from_seed(1)
    def draw():
        return generator.uniform([2])
    print(draw().numpy())
    with strategy.scope():
        print(draw().numpy())
    print(error_of(lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).run(draw))[:12])
    print(*shown(strategy.run(draw)))
    print(tf.function(draw)().numpy(), generator.state[0].numpy())
    """)
    assert found == [
        "[0.78749514 0.3906511 ]", "[0.26456964 0.24923408]", "RuntimeError",
        "[0.9415176  0.07996798] [0.8363533  0.60185695]", "[0.24253201 0.9569695 ] 2049",
    ]  # fmt: skip


def test_a_function_of_replicas_is_saved(run: Run) -> None:
    found = run(MIRRORED + """
    import tempfile
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)
        @tf.function
        def __call__(self, x):
            return x * self.v
    with strategy.scope():
        model = Model()
    strategy.run(model, (tf.constant(3.0),))
    folder = tempfile.mkdtemp()
    tf.saved_model.save(model, folder)
    loaded = tf.saved_model.load(folder)
    loaded.v.assign(5.0)
    print(loaded(tf.constant(3.0)).numpy())
    """)
    assert found == ["15.0"]


def test_calls_that_may_recur_around_reductions(run: Run) -> None:
    """Such a call can be recorded anew; replicas change places in the middle of it."""
    found = run(MIRRORED + """
    def total(x, again):
        if again:
            return total(x, False)
        y = here().all_reduce("SUM", x)
        print("traced")
        return y + here().all_reduce("SUM", x)

    @tf.function
    def totals():
        return strategy.run(lambda: total(number() + 1.0, True))
    print([float(x) for x in strategy.experimental_local_results(totals())])
    """)
    assert found == ["traced", "traced", "[6.0, 6.0]"]
