"""ONNX models, run by ONNX Runtime, against the ops' kernels and plain NumPy."""

import random
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import autoconv
from autoconv.backends.onnx import to_onnx
from autoconv.backends.portable import GraphUnfit
from tests.backends.portable_samples import (
    assert_numpy_program,
    assert_page,
    assert_samples,
    run_onnx,
    samples_with_form,
)

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
PROGRAMS = (
    "bubble_sort", "heat_slices", "hopfield", "k_means", "knapsack", "lu_decomposition", "qr_eigenvalues", "sieve",
)  # fmt: skip


def run(model, arrays):
    onnx.checker.check_model(model)
    found, word = run_onnx(model, arrays)
    assert word == 0, model.metadata_props[word - 1]
    return found


def test_samples_of_ops():
    samples = samples_with_form(to_onnx)
    assert_page(samples, 1)
    assert_samples(samples, lambda graph, inputs: run(to_onnx(graph), inputs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_numpy_programs(name):
    def run_graph(graph, arrays):
        model = to_onnx(graph)
        names = [value.name for value in graph.parameters]
        results = [value.name for value in model.graph.output]
        count = sum(name.startswith("result_") for name in results)
        return run(model, arrays), count, [names.index(name.removeprefix("new_")) for name in results[count:-1]]

    assert_numpy_program(name, run_graph)


def test_sizes_stay_open():
    @autoconv.function
    def f(x):
        centred = x - autoconv.reduce_mean(x, axis=0)
        while autoconv.reduce_max(centred) > 1.0:
            centred = centred / 2.0
        return autoconv.matmul(centred, centred, transpose_a=True), centred[1:]

    model = autoconv.onnx.load(autoconv.onnx.export(f, autoconv.TensorSpec([None, 3], autoconv.float32)))
    for rows in (1, 2, 7):
        x = np.random.default_rng(rows).normal(0, 4, (rows, 3)).astype(np.float32)
        for found, expected in zip(model(x), f(x), strict=True):
            np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5, atol=1e-6)


def test_extremes_of_bools_are_scattered():
    def f(x, updates):
        smaller = autoconv.tensor_scatter_nd_min(x, [[0], [2], [3]], updates)
        return smaller, autoconv.tensor_scatter_nd_max(x, [[0], [2], [3]], updates)

    model = autoconv.onnx.load(autoconv.onnx.export(f, "bool[4]", "bool[3]"))
    x, updates = np.array([True, False, True, False]), np.array([False, True, True])
    smaller, greater = model(x, updates)
    np.testing.assert_array_equal(smaller, [False, False, True, False])
    np.testing.assert_array_equal(greater, [True, False, True, True])


def test_slices_of_open_sizes_that_go_backwards():
    def f(x):
        return x[::-1], x[:0:-2], x[3:0:-1], x[:-3:-1], np.flip(x)

    model = autoconv.onnx.load(autoconv.onnx.export(f, "float64[n]", contract="compile"))
    for size in (0, 1, 2, 5):
        x = np.arange(float(size))
        for found, expected in zip(model(x), f(x), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(4, 5), (1, 2), (0, 3), (3, 0)])
def test_rolls_of_open_sizes(shape):
    def turned(x, distance):
        return np.roll(np.roll(x, (2, -3), (0, 1)), distance, 1), np.roll(x, 3)

    run = autoconv.onnx.load(autoconv.onnx.export(turned, "int64[n,m] int64[]", contract="compile"))
    x = np.arange(shape[0] * shape[1]).reshape(shape)
    for distance in (5, 0, -1):
        for found, expected in zip(run(x, distance), turned(x, distance), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_programs_that_some_sizes_do_not_fit():
    def convolved(x, weights):
        y = np.zeros(len(x) - len(weights) + 1)
        for i in range(len(y)):
            y[i] = (x[i : i + len(weights)] * weights).sum()
        return y

    x, weights = np.arange(6.0), np.array([1.0, -2.0, 1.0])
    run = autoconv.onnx.load(autoconv.onnx.export(convolved, "float64[n] float64[k]", contract="compile"))
    np.testing.assert_array_equal(run(x, weights), convolved(x, weights))
    halves = autoconv.onnx.load(autoconv.onnx.export(lambda x: np.split(x, 2), "float64[n]", contract="compile"))(x)
    np.testing.assert_array_equal(halves, np.split(x, 2))


@pytest.mark.parametrize("function", [
    lambda x: np.sum(x[:3]) / len(x[:3]), lambda x: np.zeros(len(x[:3])) + x[:1], lambda x: np.mean(x[:3]),
])  # fmt: skip
def test_lengths_of_slices_that_are_numbers_are_right_or_refused(function):
    run = autoconv.onnx.load(autoconv.onnx.export(function, autoconv.TensorSpec([None], autoconv.float64)))
    for size in range(1, 6):
        x = np.arange(1.0, size + 1.0)
        try:
            found = run(x)
        except autoconv.errors.InvalidArgumentError:
            assert size < 3
        else:
            np.testing.assert_array_equal(found, function(x))


def centred_after_a_write(x):
    x[0] = 1.0
    return np.fft.fftshift(x[:4] * 2.0)


def shortened_after_a_write(x):
    x[0] = 1.0
    return np.delete(x[:4] * 2.0, -1)


@pytest.mark.parametrize("function", [centred_after_a_write, shortened_after_a_write])
def test_lengths_of_slices_of_changed_arrays_are_right_or_set_the_error_word(function):
    model = autoconv.onnx.export(function, "float64[n]", contract="compile")
    for size in range(2, 7):
        x = np.arange(1.0, size + 1.0)
        (found, changed), word = run_onnx(model, [x])
        assert (word == 0) == (size >= 4)
        if not word:
            np.testing.assert_array_equal(found, function(x))
            np.testing.assert_array_equal(changed, x)


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_of_no_elements_set_the_error_word(name):
    function = getattr(np, name)
    model = autoconv.onnx.export(lambda x: function(x * 2.0, axis=0), "float64[n,3]", contract="compile")
    for size in (0, 1, 4):
        x = np.random.default_rng(size).normal(size=(size, 3))
        (found,), word = run_onnx(model, [x])
        assert (word == 0) == (size > 0)
        if size:
            np.testing.assert_array_equal(found, function(x * 2.0, axis=0))


def ranks(x):
    order = np.argsort(x)
    places = np.empty(len(x), np.int64)
    places[order] = np.arange(len(x))
    return places, x[order[::-1]]


@pytest.mark.parametrize("spec", ["float64[9]", "float64[n]"])
def test_orders_without_a_kind_are_stable_ones(spec):
    x = np.random.default_rng(0).permutation(np.arange(9.0))
    found = autoconv.onnx.load(autoconv.onnx.export(ranks, spec, contract="compile"))(x)
    for part, expected in zip(found, ranks(x), strict=True):
        np.testing.assert_array_equal(part, expected)
    equal = autoconv.onnx.load(autoconv.onnx.export(lambda x: np.argsort(x > 0), spec, contract="compile"))(x - 4)
    np.testing.assert_array_equal(equal, np.argsort(x > 4, kind="stable"))


def test_models_hold_no_unused_constants():
    def scaled(x):
        if np.isnan(x).any():
            raise ValueError("numbers only")
        spread = x.std()
        return (x - x.mean()) / spread if spread > 0 else np.zeros_like(x)

    graph = autoconv.onnx.export(scaled, "float64[n]", contract="compile").graph
    names, graphs = set(), [graph]
    while graphs:
        part = graphs.pop()
        names.update(name for node in part.node for name in node.input)
        names.update(output.name for output in part.output)
        graphs += [attribute.g for node in part.node for attribute in node.attribute if attribute.HasField("g")]
    assert {item.name for item in graph.initializer} <= names


def test_counts_that_are_values():
    @autoconv.function
    def f(x, counts, k, i):
        distinct = autoconv.unique_with_counts(i)
        largest = autoconv.math.top_k(x, k)
        hot = autoconv.one_hot(i, k + 2)
        return autoconv.repeat(x, counts, axis=0), autoconv.tile(x, counts), *largest, hot, *distinct

    def g(x, i, n):
        return np.bincount(i), np.bincount(i, x, minlength=n), np.repeat(x, i)

    x, i = np.arange(6.0, dtype=np.float32).reshape(2, 3)[:, ::-1].copy(), np.array([3, 1, 3, 1, 2], np.int32)
    call_arguments = x, np.array([3, 0], np.int32), np.int32(2), i
    specs = [autoconv.TensorSpec([None] * np.ndim(item), item.dtype) for item in call_arguments]
    model = autoconv.onnx.load(autoconv.onnx.export(f, *specs))
    for found, expected in zip(model(*call_arguments), f(*map(autoconv.constant, call_arguments)), strict=True):
        np.testing.assert_array_equal(found, expected.numpy())
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="top_k at"):
        model(x, call_arguments[1], np.int32(4), i)
    x, i = np.array([0.5, -1.0, 4.0]), np.array([3, 0, 2])
    for n in (0, 9):
        model = autoconv.onnx.load(autoconv.onnx.export(g, f"float64[n] int64[n] {n}", contract="compile"))
        for found, expected in zip(model(x, i), g(x, i, n), strict=True):
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="bincount at"):
        model(x, -i)


def test_arrays_that_an_object_holds_are_inputs():
    @dataclass
    class Particle:
        x: np.ndarray
        v: np.ndarray
        mass: float

    def step(particle, dt, names=("x", "v")):
        particle.v -= dt * particle.x / particle.mass
        particle.x += dt * particle.v
        return particle.x @ particle.v

    call_arguments = [np.array([1.0, -2.0]), np.array([0.5, 4.0])]
    model = autoconv.onnx.load(autoconv.onnx.export(step, Particle(*call_arguments, 2.0), 0.5, contract="compile"))
    by_name = dict(zip(model.inputs, (call_arguments[1], call_arguments[0]), strict=True))
    found = dict(zip(model.outputs, model(**by_name), strict=False))
    expected = Particle(*(item.copy() for item in call_arguments), 2.0)
    np.testing.assert_allclose(found["result_0"], step(expected, 0.5))
    np.testing.assert_allclose(found["new_Particle.v"], expected.v)
    np.testing.assert_allclose(found["new_Particle.x"], expected.x)


def test_a_trained_model_contains_its_variables(tmp_path):
    class Layer(autoconv.Module):
        def __init__(self):
            self.w = autoconv.Variable([[1.0, -1.0], [0.5, 2.0]])
            self.b = autoconv.Variable([0.25, -0.5])

        @autoconv.function(input_signature=[autoconv.TensorSpec([None, 2], autoconv.float32)])
        def __call__(self, x):
            return autoconv.nn.relu(x @ self.w + self.b)

    layer = Layer()
    path = tmp_path / "layer.onnx"
    autoconv.onnx.export(layer.__call__, path=path)
    x = np.array([[1.0, 2.0], [-3.0, 0.5]], np.float32)
    found = autoconv.onnx.load(path)(x=x)
    np.testing.assert_allclose(found, np.maximum(x @ layer.w.numpy() + layer.b.numpy(), 0), rtol=1e-6)


def test_a_written_variable_is_an_input_and_an_output():
    total = autoconv.Variable(10.0)

    @autoconv.function
    def f(x):
        total.assign_add(x)
        return total * 2.0

    model = autoconv.onnx.load(autoconv.onnx.export(f, autoconv.TensorSpec([], autoconv.float32)))
    assert len(model.inputs) == 2
    result, after = model(np.float32(2), np.float32(5))
    assert (result, after) == (14.0, 7.0)
    assert total.numpy() == 10.0


def test_a_failed_check_names_its_place():
    @autoconv.function
    def f(x, i):
        return autoconv.gather(x, i)

    specs = autoconv.TensorSpec([3], autoconv.float32), autoconv.TensorSpec([], autoconv.int32)
    model = autoconv.onnx.load(autoconv.onnx.export(f, *specs))
    x = np.array([1.0, 2.0, 3.0], np.float32)
    assert model(x, np.int32(2)) == 3.0
    with pytest.raises(autoconv.errors.InvalidArgumentError, match=r"gather at .*test_onnx\.py:\d+"):
        model(x, np.int32(3))


def test_arguments_are_checked():
    model = autoconv.onnx.load(autoconv.onnx.export(lambda x: x + 1.0, autoconv.TensorSpec([2], autoconv.float32)))
    for arguments, named in (((), {}), ((1, 2), {}), ((np.ones(2, np.float32),), {"y": 1})):
        with pytest.raises(TypeError):
            model(*arguments, **named)
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="ONNX Runtime"):
        model(np.ones(3, np.float32))
    with pytest.raises(autoconv.errors.AutoconvError, match="refuses the model"):
        autoconv.onnx.load(b"no model")


def test_damaged_files_are_detected(tmp_path):
    weights = autoconv.Variable(np.random.default_rng(0).random((3, 4)).astype(np.float32))
    path, draw = tmp_path / "model.onnx", random.Random(0)
    autoconv.onnx.export(lambda x: x @ weights, autoconv.TensorSpec([None, 3], autoconv.float32), path=path)
    onnx.checker.check_model(str(path))
    content, x = path.read_bytes(), np.ones((2, 3), np.float32)
    expected, outcomes = autoconv.onnx.load(path)(x), set()
    for _ in range(1000):
        data, position = bytearray(content), draw.randrange(len(content))
        match draw.choice(["bit", "byte", "cut", "zeros", "exchanged"]):
            case "bit":
                data[position] ^= 1 << draw.randrange(8)
            case "byte":
                data[position] = draw.randrange(256)
            case "cut":
                del data[position:]
            case "zeros":
                data[position : position + 8] = bytes(len(data[position : position + 8]))
            case "exchanged":
                second_position = draw.randrange(len(data))
                data[position], data[second_position] = data[second_position], data[position]
        path.write_bytes(data)
        try:
            found = autoconv.onnx.load(path)(x)
        except autoconv.errors.AutoconvError as error:
            outcomes.add(type(error).__name__)
        else:
            np.testing.assert_array_equal(found, expected)
    assert "DataLossError" in outcomes and outcomes <= {"DataLossError", "AutoconvError"}
    model = onnx.load_model_from_string(content)
    model.producer_version = "2"  # a change on purpose
    path.write_bytes(model.SerializeToString())
    with pytest.raises(autoconv.errors.DataLossError, match="does not match its checksum"):
        autoconv.onnx.load(path)
    np.testing.assert_array_equal(autoconv.onnx.load(onnx.load(path))(x), expected)
    with pytest.raises(autoconv.errors.AutoconvError, match="cannot be read: No such file"):
        autoconv.onnx.load(tmp_path / "none.onnx")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(autoconv.errors.AutoconvError, match=r"(?s)onnxruntime is not installed.*autoconv\[onnx\]"):
        autoconv.onnx.load(b"")
    monkeypatch.setitem(sys.modules, "onnx.helper", None)
    with pytest.raises(autoconv.errors.AutoconvError, match=r"(?s)onnx is not installed.*autoconv\[onnx\]"):
        autoconv.onnx.export(lambda x: x + 1.0, autoconv.TensorSpec([2], autoconv.float32))


def test_unsupported_ops_are_refused():
    with pytest.raises(GraphUnfit, match="svd"):
        autoconv.onnx.export(lambda x: autoconv.linalg.svd(x), autoconv.TensorSpec([4, 4], autoconv.float32))


def test_refusals_have_a_line():
    def shown(x):
        return str(x)

    line = shown.__code__.co_firstlineno
    for export in (autoconv.onnx.export, autoconv.stablehlo.export):
        with pytest.raises(autoconv.stablehlo.GraphUnfit, match=rf"test_onnx\.py:{line}"):
            export(shown, "float64[3]")
