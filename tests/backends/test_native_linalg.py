"""Linear algebra as native code: NumPy's numbers, NumPy's refusals, batches, what cannot be decomposed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import llvm
from autoconv.backends.llvm.target.machine import this_machine
from tests.backends.native import compare_errors, graph_of, op, run_both

DTYPES = ("float32", "float64")
SQUARES = ((5, 5), (17, 17), (40, 40), (2, 7, 7), (3, 1, 33, 33), (130, 6, 6))
SMALL = ((1, 1), (2, 2), (3, 3), (4, 4), (2, 3, 3), (50, 4, 4), (3, 1, 2, 2))


def matrices(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def positive(x: np.ndarray) -> np.ndarray:
    return (x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1])).astype(x.dtype)


def tolerance(dtype: str) -> float:
    return 3e-5 if dtype == "float32" else 1e-11


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SQUARES, *SMALL])
@pytest.mark.search
def test_square_matrices(shape: tuple[int, ...], dtype: str) -> None:
    """Results of LAPACK are NumPy's to the last bit."""
    x = matrices(shape, dtype)
    exact: Any = {"rtol": tolerance(dtype) if shape[-1] <= 4 else 0.0}
    (found,) = run_both(op("inverse"), x, **exact)
    np.testing.assert_allclose(
        found @ x, np.broadcast_to(np.eye(shape[-1]), shape), atol=0.05 if dtype == "float32" else 1e-9
    )
    run_both(op("inverse", adjoint=True), x, **exact)
    (found,) = run_both(op("determinant"), x, **exact)
    np.testing.assert_allclose(found, np.linalg.det(x), rtol=tolerance(dtype))
    run_both(op("slogdet"), x, **exact)
    (factor,) = run_both(op("cholesky"), positive(x), **exact)
    np.testing.assert_allclose(factor @ np.swapaxes(factor, -1, -2), positive(x), rtol=1e-3, atol=1e-4)
    run_both(op("eigh"), positive(x))
    run_both(op("qr"), x)
    for columns in (1, 4, 9):
        right = matrices((*shape[:-1], columns), dtype, seed=1)
        for adjoint in (False, True):
            run_both(op("solve", adjoint=adjoint), x, right, **exact)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 3), (3, 1), (5, 2), (17, 40), (40, 17), (3, 20, 7), (2, 2, 7, 20)])
@pytest.mark.parametrize("full_matrices", [False, True])
def test_decompositions_of_other_shapes(shape: tuple[int, ...], dtype: str, full_matrices: bool) -> None:
    x = matrices(shape, dtype)
    q, r = run_both(op("qr", full_matrices=full_matrices), x)
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    s, u, v = run_both(op("svd", full_matrices=full_matrices, compute_uv=True), x)
    least = s.shape[-1]
    product = (u[..., :least] * s[..., None, :]) @ np.swapaxes(v[..., :least], -1, -2)
    np.testing.assert_allclose(product, x, atol=1e-5)
    run_both(op("svd", full_matrices=full_matrices, compute_uv=False), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", [((3, 3), (4, 3, 2)), ((2, 1, 6, 6), (5, 6, 3)), ((4, 6, 6), (6, 1))])
def test_systems_whose_batches_are_broadcast(shapes: Any, dtype: str) -> None:
    x, right = matrices(shapes[0], dtype), matrices(shapes[1], dtype, seed=1)
    (found,) = run_both(op("solve", adjoint=False), x, right, rtol=tolerance(dtype))
    np.testing.assert_allclose(found, np.linalg.solve(x, right + np.zeros(found.shape, dtype)), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
def test_triangular_systems(lower: bool, adjoint: bool, dtype: str) -> None:
    """Elements outside of the triangle are not read."""
    x = matrices((2, 9, 9), dtype) + 4 * np.eye(9, dtype=dtype)
    beyond = np.where(
        np.tril(np.ones((9, 9), bool)) if lower else np.triu(np.ones((9, 9), bool)), x, np.asarray(np.nan, dtype)
    )
    for columns in (1, 5):
        right = matrices((9, columns), dtype, seed=1)
        (found,) = run_both(op("triangular_solve", lower=lower, adjoint=adjoint), beyond, right, rtol=tolerance(dtype))
        triangle = np.tril(x) if lower else np.triu(x)
        triangle = np.swapaxes(triangle, -1, -2) if adjoint else triangle
        np.testing.assert_allclose(triangle @ found, np.broadcast_to(right, found.shape), atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [3, 6])
def test_refusals_are_the_kernels(size: int, dtype: str) -> None:
    zeros, right = np.zeros((2, size, size), dtype), np.ones((size, 2), dtype)
    assert compare_errors(op("inverse"), zeros) == "Input is not invertible."
    assert compare_errors(op("solve"), np.ones((size, size), dtype), right) == "Input matrix is not invertible."
    assert "not successful" in compare_errors(op("cholesky"), -np.eye(size, dtype=dtype))
    assert "did not converge" in compare_errors(op("svd"), np.full((size, size), np.nan, dtype))
    (found,) = run_both(op("determinant"), zeros)
    assert not found.any()
    _, size_ = run_both(op("slogdet"), zeros)
    assert np.all(size_ == -np.inf)


@pytest.mark.parametrize("size", [3, 6])
@pytest.mark.parametrize("special", [np.nan, np.inf, 1e150, 1e-200, 5e-324])
def test_special_numbers_are_treated_as_by_numpy(special: float, size: int) -> None:
    x = np.eye(size) * 2
    x[1, 2] = x[0, 0] = special
    for name in ("determinant", "slogdet", "inverse", "eigh", "qr"):
        try:
            expected: Any = op(name), x
            run_both(*expected)
        except ac.errors.InvalidArgumentError:
            compare_errors(op(name), x)


def test_empty_matrices() -> None:
    """Empty matrices run by the kernels."""
    for name, shape in (("determinant", (0, 3, 3)), ("determinant", (2, 0, 0)), ("inverse", (2, 0, 0))):
        x = np.zeros(shape)
        (found,) = llvm.compile_graph(graph_of(op(name), x))([x])
        np.testing.assert_array_equal(found, np.linalg.det(x) if name == "determinant" else x)


def test_in_loops_and_branches() -> None:
    """Newton's iteration, which solves a system in each step, and an error inside of a loop."""

    @ac.function
    def run(x: Any, steps: Any) -> Any:
        for _ in range(steps):
            if ac.reduce_sum(x) > 100.0:
                x = ac.linalg.inv(x)
            else:
                x = ac.linalg.solve(x, x @ x) + ac.eye(6, dtype=ac.float64)
        return x

    x = matrices((6, 6), "float64")
    expected = x
    for _ in range(3):
        inverted = expected.sum() > 100
        expected = np.linalg.inv(expected) if inverted else np.linalg.solve(expected, expected @ expected) + np.eye(6)
    np.testing.assert_allclose(run(ac.constant(x), ac.constant(3)).numpy(), expected, rtol=1e-9)
    with pytest.raises(ac.errors.InvalidArgumentError, match="not invertible"):
        run(ac.constant(np.zeros((6, 6))), ac.constant(1))


def test_gradients_run_natively() -> None:
    x = positive(matrices((7, 7), "float64"))

    @ac.function
    def gradient(x: Any) -> Any:
        with ac.GradientTape() as tape:
            tape.watch(x)
            found = ac.linalg.logdet(x) + ac.reduce_sum(ac.linalg.inv(x))
        return tape.gradient(found, x)

    inverse = np.linalg.inv(x)
    expected = inverse.T - inverse.T @ np.ones((7, 7)) @ inverse.T
    np.testing.assert_allclose(gradient(ac.constant(x)).numpy(), expected, rtol=1e-8, atol=1e-10)
    assert "by kernels" not in gradient.explain(), gradient.explain()


def test_every_thread_takes_matrices() -> None:
    """A batch that is split over threads has the results of its matrices alone."""
    x = matrices((400, 12, 12), "float64")
    (whole,) = run_both(op("inverse"), x)
    for i in (0, 133, 399):
        np.testing.assert_array_equal(whole[i], np.linalg.inv(x[i]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_eigenvalues_alone_are_those_that_numpy_computes_alone(dtype: str) -> None:
    x = (matrices((9, 7, 7), "float64") * (1 + 1j if dtype[0] == "c" else 1)).astype(dtype)
    compiled = ac.compile(lambda x: np.linalg.eigvalsh(x))
    for count in (9, 4, 5, 6):
        np.testing.assert_allclose(compiled(x[:count]), np.linalg.eigvalsh(x[:count]), 1e-12, 1e-13)
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        compiled(np.full((3, 7, 7), np.nan, dtype))


@pytest.mark.skipif(this_machine().vector_registers is None, reason="fma rounds twice on this processor")
def test_digits_of_small_matrices() -> None:
    """Results have the digits that NumPy prints with OpenBLAS on processors with AVX-512."""
    square = np.array([[4.0, 7.0], [2.0, 6.0]])
    other = np.array([[0.1, 2.3, -1.7], [3.1, 0.7, 0.9], [-2.3, 1.9, 4.1]])
    symmetric = np.array([[5.0, 1.3, 0.7], [1.3, 4.0, -0.9], [0.7, -0.9, 3.0]])

    @ac.compile
    def decompose(square, other, symmetric):
        systems = np.linalg.solve(other, other[0]), np.linalg.solve(other, other[:, :2] + 0.1)
        inverses = np.linalg.inv(square), np.linalg.inv(other), np.linalg.cholesky(symmetric)
        return [np.linalg.det(square), np.linalg.det(other), *inverses, *systems]

    found = [x.tolist() for x in decompose(square, other, symmetric)]
    assert found == [
        10.000000000000002, -46.62800000000001, [[0.6, -0.7000000000000001], [-0.2, 0.4]],
        [[-0.024877755854851153, 0.27151068027794456, -0.06991507248863345],
         [0.31697692373681047, 0.0750621943896371, 0.11495238912241576],
         [-0.16084755940636525, 0.11752595007291755, 0.15141116925452516]],
        [[2.23606797749979, 0.0, 0.0], [0.5813776741499453, 1.9136352839556445, 0.0],
         [0.3130495168499705, -0.5654159959694176, 1.6069551180732806]],
        [0.7408424122844641, 0.008921677961739694, -0.0031740585056189924],
        [[1.017671785193446, 0.017671785193445977], [0.05069915072488636, 1.0506991507248864],
         [0.01080895599210775, 0.010808955992107768]],
    ]  # fmt: skip


@pytest.mark.skipif(this_machine().vector_registers is None, reason="fma rounds twice on this processor")
def test_digits_of_small_products() -> None:
    """Sums are added in the order of OpenBLAS on processors with AVX-512."""
    x = np.array([[0.1, 2.3, -1.7], [3.1, 0.7, 0.9], [-2.3, 1.9, 4.1]])

    @ac.compile
    def multiply(x):
        return [x @ x, x @ x[0], x[0] @ x, x[:2, :2] @ x[0, :2], np.vstack([x, x])[:, :1] @ x[:1, :1]]

    assert [product.tolist() for product in multiply(x)[:4]] == [
        [[11.049999999999999, -1.39, -5.069999999999999],
         [0.4100000000000001, 9.33, -0.95],
         [-3.7699999999999982, 3.83, 22.429999999999996]],
        [8.19, 0.38999999999999996, -2.8300000000000005],
        [11.049999999999999, -1.39, -5.069999999999999],
        [5.299999999999999, 1.92],
    ]  # fmt: skip
    np.testing.assert_array_equal(multiply(x)[4], np.vstack([x, x])[:, :1] * 0.1)
