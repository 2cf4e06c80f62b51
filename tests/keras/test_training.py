"""Programs with Keras: fit, evaluate, save, restore, custom training loops; one graph serves all steps."""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import autoconv as ac

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
keras = ac.keras
L = keras.layers
X = np.random.default_rng(0).normal(size=(100, 8)).astype("float32")
Y = X.sum(1, keepdims=True)


def model(optimizer="adam", **options):
    """Return a compiled model with fixed weights."""
    network = keras.Sequential([L.Input((8,)), L.Dense(4, activation="relu"), L.Dense(1)])
    rng = np.random.default_rng(1)
    network.set_weights([rng.normal(size=weight.shape) for weight in network.get_weights()])
    network.compile(optimizer, keras.losses.MeanSquaredError(), **options)
    return network


def test_keras_is_the_package_and_tensorflow_is_not_loaded():
    import keras as package

    assert package is ac.keras and "tensorflow" not in sys.modules
    assert package.src.backend.tensorflow.core.tf is ac.tensorflow


def test_sgd_is_what_numpy_computes():
    network = keras.Sequential([L.Input((8,)), L.Dense(1)])
    w, b = np.full((8, 1), 0.5), np.zeros(1)
    network.set_weights([w, b])
    network.compile(keras.optimizers.SGD(0.1), "mse")
    network.fit(X, Y, batch_size=25, shuffle=False, verbose=0)
    for start in range(0, 100, 25):
        x, y = X[start : start + 25], Y[start : start + 25]
        error = 2 * (x @ w + b - y) / len(x)
        w, b = w - 0.1 * x.T @ error, b - 0.1 * error.sum(0)
    np.testing.assert_allclose(network.get_weights()[0], w, rtol=1e-5)
    np.testing.assert_allclose(network.get_weights()[1], b, rtol=1e-4)


def test_batches_of_one_size_and_the_last_have_one_trace_each():
    network = model()
    network.fit(X, Y, batch_size=32, epochs=3, verbose=0)
    step = network.train_function.__closure__
    kind = ac.types.experimental.GenericFunction
    functions = [cell.cell_contents for cell in step if isinstance(cell.cell_contents, kind)]
    assert [function.experimental_get_tracing_count() for function in functions] == [1]


@pytest.mark.parametrize("steps", [3, 4])
def test_steps_per_execution_change_nothing(steps):
    single_step, multi_step = model(), model(steps_per_execution=steps)
    for network in (single_step, multi_step):
        network.fit(X, Y, batch_size=16, epochs=2, shuffle=False, verbose=0)
    for a, b in zip(single_step.get_weights(), multi_step.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc")
def test_a_thousand_steps_keep_the_memory():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    network = model()
    network.fit(X, Y, batch_size=1, epochs=2, verbose=0)
    before = resident()
    network.fit(X, Y, batch_size=1, epochs=10, verbose=0)
    assert network.optimizer.iterations.numpy() == 1200
    assert resident() - before < 5e6


def test_eager_steps_give_the_same_weights():
    graph, eager = model(), model(run_eagerly=True)
    for network in (graph, eager):
        network.fit(X[:32], Y[:32], batch_size=16, shuffle=False, verbose=0)
    for a, b in zip(graph.get_weights(), eager.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_repeated_rows_of_an_embedding_have_their_own_squares():
    """Adam squares the gradients of repeated rows before it sums them, as in TensorFlow."""
    network = keras.Sequential([L.Input((3,), dtype="int32"), L.Embedding(5, 2), L.Flatten(), L.Dense(1)])
    rng = np.random.default_rng(0)
    network.set_weights([rng.normal(size=weight.shape).astype("float32") for weight in network.get_weights()])
    network.compile(keras.optimizers.Adam(0.1), "mse")
    x, y = np.array([[1, 2, 2], [3, 1, 0]]), np.array([[1.0], [2.0]], "float32")
    for _ in range(2):
        network.train_on_batch(x, y)
    expected = [-0.07246, -0.3318, 0.43965, -0.08681, -0.67938, 0.23316, 1.10674, 1.13981, -0.70374, -1.26542]
    np.testing.assert_allclose(network.get_weights()[0].ravel(), expected, atol=2e-5)


def test_models_are_saved_and_loaded(tmp_path):
    network = model()
    network.fit(X, Y, verbose=0)
    expected = network.predict(X, verbose=0)
    for name in ("model.h5", "model.keras"):
        network.save(tmp_path / name)
        loaded = keras.models.load_model(tmp_path / name)
        np.testing.assert_array_equal(loaded.predict(X, verbose=0), expected)
    loaded.fit(X, Y, verbose=0)
    network.save_weights(tmp_path / "w.weights.h5")
    loaded.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(loaded.predict(X, verbose=0), expected)


def test_training_continues_from_a_checkpoint_with_the_same_numbers(tmp_path):
    network = model()
    network.fit(X, Y, shuffle=False, verbose=0)
    path = ac.train.Checkpoint(model=network, optimizer=network.optimizer).save(tmp_path / "ckpt")
    network.fit(X, Y, shuffle=False, verbose=0)
    other = model()
    other.optimizer.build(other.trainable_variables)
    ac.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path).assert_consumed()
    other.fit(X, Y, shuffle=False, verbose=0)
    for a, b in zip(network.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.out, self.drop = L.Dense(3), L.Dense(1), L.Dropout(0.5)

    def call(self, x, training=False):
        return self.out(self.drop(keras.ops.relu(self.hidden(x)), training=training))


def test_a_subclass_with_metrics_callbacks_and_validation():
    net = Net()
    net.compile("sgd", "mse", metrics=["mae", keras.metrics.RootMeanSquaredError(name="rmse")])
    stop = keras.callbacks.EarlyStopping(patience=1)
    history = net.fit(X, Y, epochs=2, validation_split=0.2, callbacks=[stop], verbose=0).history
    assert set(history) == {"loss", "mae", "rmse", "val_loss", "val_mae", "val_rmse"}
    results = net.evaluate(X, Y, verbose=0, return_dict=True)
    error = net.predict(X, verbose=0) - Y
    np.testing.assert_allclose(results["loss"], (error**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(results["rmse"], np.sqrt((error**2).mean()), rtol=1e-5)


def test_custom_training_loops():
    network, loss = model(), keras.losses.MeanSquaredError()
    network.optimizer.build(network.trainable_weights)

    @ac.function
    def step(x, y):
        with ac.GradientTape() as tape:
            value = loss(y, network(x, training=True))
        gradients = tape.gradient(value, network.trainable_weights)
        network.optimizer.apply_gradients(zip(gradients, network.trainable_weights, strict=True))
        return value

    batches = ac.data.Dataset.from_tensor_slices((X, Y)).batch(20)
    losses = [float(step(x, y)) for _ in range(8) for x, y in batches]
    assert losses[-1] < losses[0] and step.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_mixed_precision(policy):
    keras.mixed_precision.set_global_policy(policy)
    try:
        network = model()
        assert np.isfinite(network.fit(X, Y, verbose=0).history["loss"][0])
        assert network.layers[0].kernel.dtype == "float32"
    finally:
        keras.mixed_precision.set_global_policy("float32")


def test_nan_ends_training():
    network = model()
    history = network.fit(X * np.nan, Y, epochs=3, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=0).history
    assert len(history["loss"]) == 1


def test_wrong_inputs_have_keras_errors():
    with pytest.raises(ValueError, match=r"expected axis -1 of input shape to have value 8"):
        model().fit(X[:, :3], Y, verbose=0)


LAYERS = {
    "conv1d": (lambda: L.Conv1D(3, 2), (2, 6, 4)),
    "transposed": (lambda: L.Conv2DTranspose(3, 3, strides=2, padding="same"), (2, 4, 4, 2)),
    "conv3d": (lambda: L.Conv3D(2, 2), (1, 4, 4, 4, 2)),
    "depthwise": (lambda: L.DepthwiseConv2D(3), (1, 6, 6, 2)),
    "separable": (lambda: L.SeparableConv2D(4, 3), (1, 6, 6, 2)),
    "dilated": (lambda: L.Conv2D(2, 2, dilation_rate=2), (1, 6, 6, 2)),
    "group norm": (lambda: L.GroupNormalization(2), (2, 4, 4, 4)),
    "both directions": (lambda: L.Bidirectional(L.LSTM(3)), (2, 5, 4)),
    "stacked cells": (lambda: L.RNN([L.LSTMCell(3), L.GRUCell(2)]), (2, 5, 4)),
    "einsum": (lambda: L.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"), (2, 3, 4)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_layers_are_those_of_finite_differences(name):
    make, shape = LAYERS[name]
    keras.config.set_dtype_policy("float64")
    try:
        layer = make()
        x = np.random.default_rng(3).normal(size=shape)
        weights = ac.constant(np.random.default_rng(4).normal(size=layer(x).shape))
        direction = np.random.default_rng(5).normal(size=shape)
        with ac.GradientTape() as tape:
            inputs = ac.constant(x)
            tape.watch(inputs)
            value = ac.reduce_sum(layer(inputs) * weights)
        gradient, *other_gradients = tape.gradient(value, [inputs, *layer.trainable_variables])
        assert all(other is not None for other in other_gradients)
        values = [float(ac.reduce_sum(layer(x + step * direction) * weights)) for step in (1e-6, -1e-6)]
        np.testing.assert_allclose((gradient.numpy() * direction).sum(), (values[0] - values[1]) / 2e-6, rtol=1e-5)
    finally:
        keras.config.set_dtype_policy("float32")


def test_the_environment_names_the_backend():
    program = "import autoconv, keras; print(keras.backend.backend(), autoconv.keras is keras)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
        env={**os.environ, "KERAS_BACKEND": "autoconv", "HOME": "/nonexistent"},
    )  # fmt: skip
    assert run.stdout == "tensorflow True\n", run.stderr


def test_names_that_keras_keeps_for_tensorflow():
    """Older names exist beside Keras' own, as attributes and as modules; all refer to Keras' objects."""
    import autoconv.keras.preprocessing.text as texts
    from autoconv.keras.layers import Dense
    from autoconv.keras.losses import mean_squared_error, mse

    assert (mse, Dense, ac.losses.mse) == (mean_squared_error, keras.layers.Dense, mse)
    assert ac.keras.preprocessing.text is texts
    words = texts.Tokenizer(10)
    words.fit_on_texts(["a b", "b"])
    assert words.texts_to_sequences(["b a"]) == [[1, 2]]
    assert ac.keras.backend.mean(ac.constant([1.0, 3.0])).numpy() == 2.0
    pixels = np.full((4, 2, 2, 1), 2.0)
    images = ac.keras.preprocessing.image.ImageDataGenerator(rescale=0.5).flow(pixels, pixels, batch_size=2)
    model = ac.keras.Sequential([ac.keras.layers.Dense(1)])
    model.compile("sgd", loss=mse, metrics=[ac.keras.metrics.mae])
    assert "mean_absolute_error" in model.fit(images, verbose=0).history


def test_images_in_folders_are_a_dataset(tmp_path):
    pytest.importorskip("PIL")
    for name, value in (("a", 40), ("b", 200)):
        (tmp_path / name).mkdir()
        pixels = np.full((8, 6, 3), value, np.uint8)
        (tmp_path / name / "0.png").write_bytes(ac.image.encode_png(pixels).numpy())
        (tmp_path / name / "1.jpg").write_bytes(ac.image.encode_jpeg(pixels).numpy())
    dataset = keras.utils.image_dataset_from_directory(str(tmp_path), image_size=(4, 4), batch_size=4, shuffle=False)
    ((images, labels),) = list(dataset)
    assert (images.shape, labels.numpy().tolist()) == ((4, 4, 4, 3), [0, 0, 1, 1])
    np.testing.assert_allclose(images.numpy()[:, 0, 0, 0], [40, 40, 200, 200], atol=2)


def test_fit_over_a_dataset_and_text_layers():
    x, y = np.ones((8, 3), np.float32), np.ones((8, 1), np.float32)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    dataset = ac.data.Dataset.from_tensor_slices((x, y)).batch(4)
    assert len(model.fit(dataset, epochs=2, verbose=0).history["loss"]) == 2
    words = keras.layers.TextVectorization(ngrams=2, output_mode="int")
    words.adapt(np.array(["red blue red", "blue"]))
    assert words.get_vocabulary()[:2] == ["", "[UNK]"]
    assert set(words.get_vocabulary()[2:]) == {"red", "blue", "red blue", "blue red"}
    assert words(np.array(["red", "green"])).shape == (2, 1)
    lookup = keras.layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot", sparse=True)
    encoded = lookup(np.array([["a", "b"], ["z", "b"]]))
    np.testing.assert_array_equal(ac.sparse.to_dense(encoded), [[0, 1, 1], [1, 0, 1]])
    numbers = keras.layers.IntegerLookup(vocabulary=[10, 20])
    assert [int(i) for i in dataset.map(lambda x, y: numbers(ac.constant([20]))[0]).take(1)] == [2]


TRAINED = """
import os, signal, sys
import numpy as np
from autoconv import keras


class Kill(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2 and sys.argv[2] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)


for folder in (sys.argv[1], sys.argv[1] + "-whole")[: 1 if sys.argv[2] == "killed" else 2]:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x = np.random.RandomState(0).randn(64, 4).astype("f")
    callbacks = [keras.callbacks.BackupAndRestore(folder), Kill()]
    done = model.fit(x, x.sum(1), 16, 5, verbose=0, callbacks=callbacks, shuffle=False)
    print(done.history["loss"][-3:])
"""


def test_a_killed_training_continues_with_the_same_numbers(forker, tmp_path):
    (tmp_path / "trained.py").write_text(TRAINED)

    def run(how):
        return forker.run([tmp_path / "trained.py", tmp_path / "backup", how], check=how == "resumed")

    assert run("killed").returncode == -signal.SIGKILL
    resumed, undisturbed = run("resumed").stdout.splitlines()
    assert resumed == undisturbed


def test_fit_and_predict_over_sparse_arrays():
    x, y = ac.sparse.from_dense(np.eye(8, 3, dtype=np.float32)), np.ones((8, 1), np.float32)
    inputs = keras.Input((3,), sparse=True)
    dense = keras.layers.Dense(1, kernel_initializer="ones")
    network = keras.Model(inputs, dense(inputs))
    np.testing.assert_array_equal(network.predict(x, verbose=0), np.eye(8, 3).sum(1, keepdims=True))
    network.compile("sgd", "mse")
    assert network.fit(x, y, batch_size=4, verbose=0).history["loss"][0] > 0


def test_functions_that_kerass_package_decorates_are_converted(tmp_path):
    """A function of a module of the package has a loop over a dataset and a condition on a tensor."""
    file = tmp_path / "decorated.py"
    file.write_text(
        "def total(data):\n    s = 0.0\n    for x in data:\n        if x > 1.0:\n            s += x\n    return s\n"
    )
    namespace = {"__name__": "keras.src.utils.decorated"}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    data = ac.data.Dataset.from_tensor_slices(np.arange(4, dtype="float32"))
    assert ac.function(namespace["total"])(data).numpy() == 5
