"""Keras over autoconv: training has TensorFlow's numbers.

The losses are those that Keras 3.15 prints over TensorFlow 2.21 for the same weights and batches.
"""

from importlib.util import find_spec

import numpy as np
import pytest

import autoconv as ac

if find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)
keras = ac.keras
L = keras.layers


def perceptron(rng):
    x, y = rng.normal(size=(512, 20)).astype("float32"), rng.integers(0, 3, 512)
    layers = [L.Dense(64, activation="relu"), L.Dense(32, activation="gelu"), L.Dense(3, activation="softmax")]
    return keras.Sequential([L.Input((20,)), *layers]), x, y, "sparse_categorical_crossentropy"


def convolutional(rng):
    x, y = rng.normal(size=(128, 14, 14, 3)).astype("float32"), rng.integers(0, 3, 128)
    model = keras.Sequential([
        L.Input((14, 14, 3)), L.Conv2D(8, 3, padding="same"), L.BatchNormalization(), L.Activation("relu"),
        L.MaxPooling2D(), L.Conv2D(16, 3), L.BatchNormalization(), L.ReLU(), L.GlobalAveragePooling2D(),
        L.Dense(3, activation="softmax"),
    ])  # fmt: skip
    return model, x, y, "sparse_categorical_crossentropy"


def lstm(rng):
    x, y = rng.normal(size=(128, 12, 5)).astype("float32"), rng.normal(size=(128, 1)).astype("float32")
    return keras.Sequential([L.Input((12, 5)), L.LSTM(16, return_sequences=True), L.LSTM(8), L.Dense(1)]), x, y, "mse"


def masked_gru(rng):
    x = rng.integers(0, 20, size=(128, 10))
    x[:, 6:] *= rng.integers(0, 2, (128, 1))
    y = rng.normal(size=(128, 1)).astype("float32")
    layers = [L.Embedding(20, 8, mask_zero=True), L.GRU(12), L.Dense(1)]
    return keras.Sequential([L.Input((10,), dtype="int32"), *layers]), x, y, "mse"


def transformer(rng):
    x, y = rng.integers(0, 30, size=(96, 16)), rng.integers(0, 2, 96)
    inputs = L.Input((16,), dtype="int32")
    embedded = L.Embedding(30, 16)(inputs)
    attended = L.LayerNormalization()(L.Add()([embedded, L.MultiHeadAttention(2, 8)(embedded, embedded)]))
    dense = L.Dense(16)(L.Dense(32, activation="relu")(attended))
    pooled = L.GlobalAveragePooling1D()(L.LayerNormalization()(L.Add()([attended, dense])))
    return keras.Model(inputs, L.Dense(1, activation="sigmoid")(pooled)), x, y, "binary_crossentropy"


def initial_value(variable, rng):
    return np.ones(variable.shape) if "variance" in variable.path else rng.normal(size=variable.shape) * 0.3


# The loss of the first epoch and that of the fourth.
LOSSES = {
    perceptron: (1.4079403, 0.7320082),
    convolutional: (1.1398456, 1.0535221),
    lstm: (1.0934191, 1.0317152),
    masked_gru: (0.9933637, 0.9147799),
    transformer: (0.6944473, 0.6835470),
}


@pytest.mark.parametrize("make", LOSSES, ids=lambda make: make.__name__)
def test_losses_are_those_of_tensorflow(make):
    rng = np.random.default_rng(0)
    model, x, y, loss = make(rng)
    model.set_weights([initial_value(variable, rng) for variable in model.weights])
    model.compile(keras.optimizers.Adam(0.01), loss)
    first = model.fit(x, y, epochs=1, batch_size=32, verbose=0, shuffle=False).history["loss"][0]
    last = model.fit(x, y, epochs=3, batch_size=32, verbose=0, shuffle=False).history["loss"][-1]
    tolerance = 1e-4 if make is convolutional else 2e-6
    np.testing.assert_allclose((first, last), LOSSES[make], rtol=tolerance)


def test_an_exported_model_is_a_saved_object(tmp_path):
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(2)])
    x = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
    model.export(str(tmp_path / "exported"), verbose=False)
    loaded = ac.saved_model.load(tmp_path / "exported")
    np.testing.assert_allclose(loaded.serve(x), model(x), rtol=1e-6)
    layer = keras.layers.TFSMLayer(str(tmp_path / "exported"), call_endpoint="serve")
    np.testing.assert_allclose(layer(x), model(x), rtol=1e-6)


def test_an_export_archive_has_several_endpoints_and_is_trained_further(tmp_path):
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)])
    archive = keras.export.ExportArchive()
    archive.track(model)
    spec = [keras.InputSpec(shape=(None, 3), dtype="float32")]
    archive.add_endpoint("serve", model.call, input_signature=spec)
    archive.add_endpoint("doubled", lambda x: 2.0 * model(x), input_signature=spec)
    archive.write_out(str(tmp_path / "archive"), verbose=False)
    loaded = ac.saved_model.load(tmp_path / "archive")
    x = np.ones((4, 3), np.float32)
    np.testing.assert_allclose(loaded.doubled(x), 2 * loaded.serve(x))
    assert set(loaded.signatures) == {"doubled", "serve", "serving_default"}
    before = float(ac.reduce_sum(loaded.serve(x) ** 2))
    with ac.GradientTape() as tape:
        loss = ac.reduce_sum(loaded.serve(x) ** 2)
    for variable, slope in zip(loaded.variables, tape.gradient(loss, loaded.variables), strict=True):
        variable.assign_sub(0.01 * slope)
    assert float(ac.reduce_sum(loaded.serve(x) ** 2)) < before


def test_models_predict_and_fit_on_tensors_of_strings():
    source = keras.layers.Input((1,), dtype="string")
    lookup = keras.layers.StringLookup()
    model = keras.Model(source, keras.layers.Dense(1, kernel_initializer="ones")(lookup(source)))
    lookup.adapt(["a", "b", "b"])  # the most frequent word comes first, after that for unknown words
    words = ac.constant([["a"], ["b"], ["z"]])
    np.testing.assert_array_equal(model.predict(words, verbose=0), [[2], [1], [0]])
    model.compile("sgd", "mse")
    assert model.fit(words, np.zeros((3, 1)), batch_size=3, shuffle=False, verbose=0).history["loss"] == [
        pytest.approx(5 / 3)
    ]


def test_a_layer_is_built_by_the_function_of_a_dataset():
    layer = keras.layers.Dense(2, kernel_initializer="ones")
    dataset = ac.data.Dataset.from_tensor_slices(np.ones((3, 4), np.float32)).batch(2).map(layer)
    assert [batch.numpy().tolist() for batch in dataset] == [[[4, 4]] * 2, [[4, 4]]] and layer.built


def test_jit_compile_is_accepted_without_a_warning(recwarn):
    found = []
    for jit_compile in (False, True):
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)])
        model.compile("adam", "mse", jit_compile=jit_compile)
        x = np.linspace(-1, 1, 30, dtype=np.float32).reshape(10, 3)
        found.append(model.fit(x, x[:, :1], batch_size=4, epochs=2, verbose=0).history["loss"])
        assert model.jit_compile == jit_compile
    assert found[0] == found[1] and not recwarn.list


def test_layers_take_lists_and_dicts_that_a_function_makes():
    cell = L.LSTMCell(4)
    cell.build((None, 3))
    inputs = {"a": keras.Input((3,), name="a"), "b": keras.Input((2,), name="b")}
    model = keras.Model(inputs, L.Dense(1)(L.concatenate([inputs["b"], inputs["a"]])))

    def program(x):
        states = [ac.zeros([2, 4])] * 2
        parts = []
        for _ in range(3):
            output, states = cell(x, states)
            parts.append(output)
        by_name = {"b": x[:, :2]}
        by_name["a"] = x
        doubled = keras.tree.map_structure(lambda part: part * 2, by_name)
        return L.Add()(parts), model(by_name), model({"a": x, "b": doubled["b"]})

    x = np.arange(6, dtype="float32").reshape(2, 3)
    for in_graph, eager in zip(ac.function(program)(x), program(ac.constant(x)), strict=True):
        np.testing.assert_allclose(in_graph, eager, rtol=1e-5)
