"""Recurrent layers of Keras as ONNX models, StableHLO modules and C libraries for batches of any size."""

import numpy as np
import pytest

import autoconv
from autoconv.graph.types import TensorType
from autoconv.keras import Sequential, layers
from tests.backends.portable_samples import close_sizes, run_stablehlo
from tests.clibrary.calling import Caller

pytest.importorskip("jaxlib")
pytest.importorskip("onnxruntime")
MODELS = {
    "stacked LSTMs": lambda: [layers.Input((5, 4)), layers.LSTM(6, return_sequences=True), layers.LSTM(3)],
    "masked GRU in both directions": lambda: [
        layers.Input((5, 4)), layers.Masking(0.0), layers.Bidirectional(layers.GRU(3, return_sequences=True)),
    ],
    "simple layer over any number of steps": lambda: [layers.Input((None, 4)), layers.SimpleRNN(3)],
}  # fmt: skip


def batch_of(size):
    x = np.random.default_rng(size).normal(size=(size, 5, 4)).astype(np.float32)
    x[::2, 3:] = 0.0  # these steps are masked
    return x


@pytest.mark.parametrize("name", MODELS)
def test_batches_of_any_size(name, tmp_path):
    model = Sequential(MODELS[name]())
    function = autoconv.function(lambda x: model(x, training=False))
    spec = autoconv.TensorSpec([None, *model.input_shape[1:]], autoconv.float32)
    run_onnx_model = autoconv.onnx.load(autoconv.onnx.export(function, spec))
    module = autoconv.stablehlo.export(function, spec)
    weights = [np.asarray(x.value) for x in function.get_concrete_function(spec).captures]
    run_library = Caller(autoconv.clibrary.build(function, spec, to=tmp_path / "f", name="f"))
    for size in (1, 3, 64):
        x = batch_of(size)
        expected = np.asarray(model(x, training=False))
        types = [TensorType(autoconv.float32, expected.shape)]
        (found,), word = run_stablehlo(close_sizes(module.text, [x, *weights]), [x, *weights], types)
        assert word == 0, module.places[word - 1]
        for result in (np.asarray(run_onnx_model(x)), found, run_library(x)["value"]):
            assert result.shape == expected.shape
            np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
