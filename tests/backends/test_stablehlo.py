"""StableHLO modules, run by XLA on the CPU, against the ops' kernels, plain NumPy and finite differences."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import autoconv
from autoconv.backends.portable import GraphUnfit
from autoconv.backends.stablehlo import to_stablehlo
from autoconv.graph.dtypes import complex128, float64
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, TensorType, dense_strides
from autoconv.ops.builder import GraphBuilder
from tests.backends.portable_samples import (
    assert_numpy_program,
    assert_page,
    assert_samples,
    close_sizes,
    integers_of,
    run_module,
    run_stablehlo,
    samples_with_form,
)

pytest.importorskip("jaxlib")

PROGRAMS = (
    "bubble_sort", "gauss_elimination_slices", "heat_slices", "histogram_loop", "hopfield", "k_means", "knapsack",
    "lu_decomposition", "qr_eigenvalues", "sieve", "spectral_heat",
)  # fmt: skip


def run(module, arrays):
    found, word = run_module(module, arrays)
    assert word == 0, module.places[word - 1]
    return found


def test_samples_of_ops():
    samples = samples_with_form(to_stablehlo)
    assert_page(samples, 0)
    assert_samples(samples, lambda graph, inputs: run(to_stablehlo(graph), inputs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_numpy_programs(name):
    def run_graph(graph, arrays):
        module = to_stablehlo(graph, numbers=integers_of(arrays))
        return run(module, arrays), module.results, module.written

    assert_numpy_program(name, run_graph)


def test_parts_of_complex_arrays():
    """The views come before the part that is taken of their elements; what is written to a part leaves the other."""
    x = np.arange(6.0).reshape(2, 3) * (1 - 2j)

    def parts(x):
        return x.real[1:], x.T.imag, x[None].squeeze(0).imag

    module = autoconv.stablehlo.export(parts, "complex128[2,3]", contract="compile")
    for found, expected in zip(run(module, [x]), parts(x), strict=True):
        np.testing.assert_array_equal(found, expected)

    graph = Graph("main")
    array = graph.add_parameter(ArrayType(complex128, (2, 3), dense_strides((2, 3), complex128)))
    b = GraphBuilder(graph)
    imaginary = b.array_transpose(b.array_part(array, part_name="imag"), perm=(1, 0))
    b.array_store(imaginary, b.multiply(b.array_load(imaginary), 2.0))
    graph.outputs = [b.array_load(array)]
    found, _ = run(to_stablehlo(graph), [x])
    np.testing.assert_array_equal(found, x.real + 2j * x.imag)


def test_constants_keep_the_signs_of_zeros():
    graph = Graph("f")
    b = GraphBuilder(graph)
    x = graph.add_parameter(TensorType(float64, (3,)))
    graph.outputs = [b.divide(x, b.constant(value=np.array([0.0, -0.0, 0.0])))]
    (quotients,) = run(to_stablehlo(graph), [np.ones(3)])
    np.testing.assert_array_equal(quotients, [np.inf, -np.inf, np.inf])


def test_cholesky_factors_of_an_open_size():
    module = autoconv.stablehlo.export(lambda x: np.linalg.cholesky(x @ x.T), "float64[n,n]", contract="compile")
    x = np.tri(3) + np.eye(3)
    (found,), word = run_stablehlo(close_sizes(module.text, [x]), [x], [TensorType(float64, (3, 3))])
    assert word == 0
    np.testing.assert_allclose(found, x, atol=1e-14)


def test_views_by_strides():
    def views(x):
        moved = np.squeeze(x[None]), np.rot90(x[:, ::2]), x[::-1, ::-2].T, x[:, 1:2].reshape(4)
        y = x.copy()
        column, rows = np.squeeze(y[:, :1]), y[1:3, 1:].T
        column[2:] = -1.0
        rows[1] += rows[0]
        return *moved, y

    x = np.arange(24.0).reshape(4, 6)
    module = autoconv.stablehlo.export(views, "float64[4,6]", contract="compile")
    for found, expected in zip(run(module, [x]), views(x), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_gradient_through_a_loop_of_unknown_length():
    @autoconv.function
    def slope(x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 100.0:
                y = y * y + x
        return tape.gradient(y, x)

    module = autoconv.stablehlo.export(slope, autoconv.TensorSpec([], autoconv.float64))

    def plain(x):
        y = x
        while y < 100.0:
            y = y * y + x
        return y

    (found,) = run(module, [np.array(1.5)])
    assert found == pytest.approx((plain(1.5 + 1e-6) - plain(1.5 - 1e-6)) / 2e-6, rel=1e-6)


def test_a_list_that_is_too_long_sets_the_error_word():
    @autoconv.function
    def slope(x, n):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in autoconv.range(n):
                y = y * 1.5
        return tape.gradient(y, x)

    specs = autoconv.TensorSpec([], autoconv.float64), autoconv.TensorSpec([], autoconv.int32)
    for capacity, word in ((4, True), (64, False)):
        module = autoconv.stablehlo.export(slope, *specs, capacity=capacity)
        _, found = run_module(module, [np.array(2.0), np.array(9, np.int32)])
        assert bool(found) == word
        if word:
            assert "list_push" in module.places[found - 1]


def test_open_sizes_stay_open():
    @autoconv.function
    def f(x):
        return autoconv.nn.softmax(x - autoconv.reduce_mean(x, axis=0))

    text = f.get_concrete_function(autoconv.TensorSpec([None, 3], autoconv.float32)).graph.to_stablehlo()
    assert "@main(%arg0: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<i32>)" in text
    x = np.random.default_rng(0).random((5, 3), np.float32)
    head, body = text.replace("%arg0: tensor<?x3xf32>", "%given: tensor<5x3xf32>", 1).split("{\n", 2)[1:]
    entry = "%arg0 = stablehlo.convert %given : (tensor<5x3xf32>) -> tensor<?x3xf32>"
    closed = f"module {{\n{head}{{\n    {entry}\n{body}"
    refined = importlib.import_module("jaxlib._jax").mlir.refine_polymorphic_shapes(closed.encode())
    (found,), word = run_stablehlo(refined, [x], [TensorType(autoconv.float32, (5, 3))])
    assert word == 0
    grown = np.exp(x - x.mean(axis=0))
    np.testing.assert_allclose(found, grown / grown.sum(axis=1, keepdims=True), rtol=1e-6)


def test_a_number_that_divides_integers_is_no_argument():
    module = autoconv.stablehlo.export(lambda x: x / 4, autoconv.TensorSpec([3], autoconv.int32))
    (quotients,) = run(module, [np.array([1, 2, -6], np.int32)])
    np.testing.assert_array_equal(quotients, [0.25, 0.5, -1.5])


def test_conditions_of_open_sizes_combine():
    def mask(x):
        size = autoconv.shape(x)[0]
        return x * autoconv.cast(autoconv.math.logical_xor(size > 3, size < 10), autoconv.float64)

    module = autoconv.stablehlo.export(mask, "float64[n]")
    for size in (2, 5, 12):
        x = np.arange(1.0, size + 1)
        (found,), word = run_stablehlo(close_sizes(module.text, [x]), [x], [TensorType(float64, (size,))])
        assert word == 0
        np.testing.assert_array_equal(found, x * ((size > 3) != (size < 10)))


def test_unsupported_ops_are_refused_with_their_line():
    @autoconv.function
    def f(x):
        y = x + 1
        return autoconv.linalg.eigh(y)[0]

    with pytest.raises(GraphUnfit, match="eigh") as caught:
        autoconv.stablehlo.export(f, autoconv.TensorSpec([3, 3], autoconv.float32))
    assert caught.value.failed_op == "eigh"
    assert caught.value.span.file == __file__
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[caught.value.span.line - 1]
    assert "return autoconv.linalg.eigh(y)[0]" in line


def test_a_result_whose_size_is_a_value_comes_with_its_length():
    module = autoconv.stablehlo.export(lambda x, k: (x[k:] * 2.0, k), "float32[4] int64[]", contract="compile")
    assert module.lengths == ((0, 0, 2),)
    x = np.arange(4.0, dtype=np.float32)
    padded, _, length = run_stablehlo(module.text, [x, np.array(1)], module.types)[0]
    assert (padded.shape, int(length)) == ((4,), 3)
    for k in (0, 1, 4, -1):
        found, _ = run(module, [x, np.array(k)])
        np.testing.assert_array_equal(found, x[k:] * 2.0)
