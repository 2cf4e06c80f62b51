"""Linear algebra and Fourier transforms by their public names, eager and traced, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.api.matrices import bands, functions, linalg
from autoconv.api.signals import fourier as signal
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import float32, float64
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.runtime.tensors.conversion import constant

A = np.array([[2.5, -0.5, 0.25], [0.75, 1.5, -1.0], [0.5, 0.25, 3.0]])
B = np.arange(6.0).reshape(3, 2)
S = A @ A.T
Z = np.array([1 + 2j, -0.5, 3j])


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found.numpy()), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("function", "inputs", "expected"),
    [
        (linalg.matmul, (A, B), A @ B),
        (lambda a, b: linalg.matmul(a, b, transpose_a=True), (A, B), A.T @ B),
        (lambda a, b: linalg.matmul(b, a, adjoint_a=True, transpose_b=True), (A, B), B.T @ A.T),
        (linalg.matmul, (np.stack([A, S]), B), np.stack([A @ B, S @ B])),
        (linalg.matvec, (A, B[:, 0]), A @ B[:, 0]),
        (lambda a, b: linalg.tensordot(a, b, 1), (A, B), A @ B),
        (lambda a, b: linalg.tensordot(a, b, [[0], [0]]), (A, B), A.T @ B),
        (lambda a, b: linalg.tensordot(a, b, 0), (A, B), np.tensordot(A, B, 0)),
        (lambda a, b: linalg.einsum("ij,jk->ki", a, b), (A, B), (A @ B).T),
        (
            lambda a, b: linalg.einsum("...ij, jk -> ...ik", a, b),
            (np.stack([A, S]), B),
            np.stack([A @ B, S @ B]),
        ),
        (lambda a: linalg.einsum("ii", a), (A,), np.trace(A)),
        (linalg.trace, (A,), np.trace(A)),
        (bands.diag, (A[0],), np.diag(A[0])),
        (bands.diag_part, (A,), np.diag(A)),
        (lambda a: bands.diag_part(a, k=1), (A,), np.diag(A, 1)),
        (bands.set_diag, (A, A[0]), A - np.diag(np.diag(A)) + np.diag(A[0])),
        (lambda a: linalg.band_part(a, 0, -1), (A,), np.triu(A)),
        (linalg.matrix_transpose, (B,), B.T),
        (linalg.adjoint, (Z[None],), Z[:, None].conj()),
        (linalg.det, (A,), np.linalg.det(A)),
        (linalg.slogdet, (A,), np.linalg.slogdet(A)),
        (linalg.logdet, (S,), np.log(np.linalg.det(S))),
        (linalg.inv, (A,), np.linalg.inv(A)),
        (linalg.pinv, (B,), np.linalg.pinv(B)),
        (linalg.solve, (A, B), np.linalg.solve(A, B)),
        (lambda a, b: linalg.triangular_solve(a, b), (A, B), np.linalg.solve(np.tril(A), B)),
        (lambda a, b: linalg.cholesky_solve(linalg.cholesky(a), b), (S, B), np.linalg.solve(S, B)),
        (functions.lstsq, (B, A), np.linalg.lstsq(B, A, rcond=None)[0]),
        (lambda b, a: functions.lstsq(b, a, fast=False), (B, A), np.linalg.lstsq(B, A, rcond=None)[0]),
        (linalg.cholesky, (S,), np.linalg.cholesky(S)),
        (lambda a: linalg.svd(a, compute_uv=False), (B,), np.linalg.svd(B)[1]),
        (linalg.eigvalsh, (S,), np.linalg.eigvalsh(S)),
        (linalg.cross, (A, S), np.cross(A, S)),
        (linalg.outer, (A[0], B[:, 1]), np.outer(A[0], B[:, 1])),
        (signal.fft, (Z,), np.fft.fft(Z)),
        (signal.ifft, (Z,), np.fft.ifft(Z)),
        (signal.fft2d, (Z[None] * Z[:, None],), np.fft.fft2(Z[None] * Z[:, None])),
        (signal.rfft, (A,), np.fft.rfft(A)),
        (signal.irfft, (Z,), np.fft.irfft(Z)),
        (lambda z: signal.irfft(z, [5]), (Z,), np.fft.irfft(Z, 5)),
        (lambda x: signal.fftshift(x, axes=[0, 1]), (B,), np.fft.fftshift(B)),
        (lambda x: signal.ifftshift(x, axes=0), (A,), np.fft.ifftshift(A, 0)),
    ],
)  # fmt: skip
def test_against_numpy(
    run_and_trace: Callable[..., Any], function: Callable[..., Any], inputs: Any, expected: Any
) -> None:
    found = run_and_trace(function, *inputs)
    if isinstance(found, tuple):
        for actual, expected_part in zip(found, expected, strict=True):
            assert_close(actual, expected_part)
    else:
        assert_close(found, expected)


def test_products_of_factors_are_the_matrix(run_and_trace: Callable[..., Any]) -> None:
    s, u, v = run_and_trace(linalg.svd, B)
    assert_close(linalg.matmul(u * s, v, adjoint_b=True), B)
    q, r = run_and_trace(linalg.qr, B)
    assert_close(linalg.matmul(q, r), B)
    values, vectors = run_and_trace(linalg.eigh, S)
    assert_close(linalg.matmul(vectors * values, vectors, adjoint_b=True), S)
    factor = linalg.cholesky(constant(S))
    assert_close(linalg.matmul(factor, factor, transpose_b=True), S)


def test_half_precision_is_kept() -> None:
    x = constant(A.astype(np.float16))
    assert linalg.inv(x).numpy().dtype == np.float16
    assert all(t.numpy().dtype == np.float16 for t in linalg.svd(x))


def test_rfft_lengths() -> None:
    for length in (2, 5):
        assert_close(signal.rfft(A, [length]), np.fft.rfft(A, length))


def test_matrices_without_a_decomposition() -> None:
    """The values are TensorFlow 2.21's: NaN or infinities, while NumPy raises an error."""
    nan, right = np.float32(np.nan), [[1.0], [2.0]]
    indefinite, singular, regular = [[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]], [[4.0, 0.0], [0.0, 4.0]]
    zeros = np.zeros((2, 2), np.float32)

    def compute(pair: Any, indefinite: Any, singular: Any, zeros: Any, missing: Any) -> Any:
        factors = linalg.cholesky(pair)
        adjoint = linalg.triangular_solve(zeros, right, adjoint=True)
        solutions = linalg.triangular_solve(zeros, right), adjoint, linalg.triangular_solve(missing, right)
        values = linalg.svd(missing, compute_uv=False)
        return factors, linalg.logdet(indefinite), functions.lstsq(singular, right), *solutions, values

    expected = (
        [[[nan, 0.0], [nan, nan]], [[2.0, 0.0], [0.0, 2.0]]], nan, [[nan], [nan]],
        [[np.inf], [nan]], [[nan], [np.inf]], [[nan], [nan]], [nan, nan],
    )  # fmt: skip
    arguments = [constant(x) for x in ([indefinite, regular], indefinite, singular, zeros, [[nan, 1.0], [1.0, 2.0]])]
    for f in (compute, autoconv.function(compute)):
        for found, values in zip(f(*arguments), expected, strict=True):
            np.testing.assert_array_equal(found.numpy(), values)


def test_errors() -> None:
    a, b = constant(A), constant(B)
    with pytest.raises(InvalidArgumentError, match="size-incompatible"):
        linalg.matmul(b, a)
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        linalg.inv(np.zeros((2, 2)))
    with pytest.raises(InvalidArgumentError, match="square"):
        linalg.det(b)
    with pytest.raises(ValueError, match="vectors of 3"):
        linalg.cross([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="is for 2 tensors, found 1"):
        linalg.einsum("ij,jk->ik", a)


def test_rules_refuse() -> None:
    graph = Graph("g")
    x = graph.add_parameter(TensorType(float32, (2, 3)))
    wide = graph.add_parameter(TensorType(float64, (3, 3)))
    text = r"matmul: the inner dimensions 3 and 2 differ \(shapes \[2,3\] and \[2,3\]\)"
    with pytest.raises(ValueError, match=text):
        graph.add(OPS["matmul"], [x, x])
    with pytest.raises(TypeError, match="types float32 and float64"):
        graph.add(OPS["matmul"], [x, wide])
    with pytest.raises(ValueError, match="must be square"):
        graph.add(OPS["inverse"], [x])
    with pytest.raises(ValueError, match="label 'i'"):
        graph.add(OPS["einsum"], [x], {"equation": "ii->i"})


def test_products_are_summed_in_the_requested_dtype():
    x = np.full((2, 300), 100, np.int8)
    for function in (autoconv.matmul, autoconv.function(autoconv.matmul)):
        found = function(autoconv.constant(x), autoconv.constant(x.T.copy()), output_type=autoconv.int32)
        assert found.dtype == autoconv.int32
        np.testing.assert_array_equal(found, x.astype(np.int32) @ x.T.astype(np.int32))
        half = autoconv.constant(np.full((1, 4096), 8, np.float16))
        assert float(function(half, half, transpose_b=True, output_type=autoconv.float32)[0, 0]) == 64 * 4096
        assert function(autoconv.constant([[1.5]]), autoconv.constant([[2.5]]), output_type=autoconv.int32)[0, 0] == 3


def test_the_first_operand_of_a_product_decides_the_dtype_of_an_array():
    assert linalg.matmul([[1.0, 2.0]], np.ones((2, 2))).dtype.name == "float32"
    assert linalg.matmul([[1]], np.ones((1, 1))).dtype.name == "int32"
    assert linalg.matmul(np.ones((2, 2)), [[1.0], [2.0]]).dtype.name == "float64"


def test_bands_of_diagonals_are_aligned_as_in_tensorflow():
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    taken = {
        ((-1, 0), "RIGHT_LEFT"): [[0, 5, 10], [4, 9, 7]],
        ((-1, 0), "LEFT_RIGHT"): [[0, 5, 10], [7, 4, 9]],
        ((-2, 3), "RIGHT_LEFT"): [[7, 7, 3], [7, 2, 7], [1, 6, 11], [0, 5, 10], [4, 9, 7], [8, 7, 7]],
        ((-2, 3), "LEFT_LEFT"): [[3, 7, 7], [2, 7, 7], [1, 6, 11], [0, 5, 10], [4, 9, 7], [8, 7, 7]],
        ((1, 2), "RIGHT_RIGHT"): [[7, 2, 7], [1, 6, 11]],
    }
    row, column = np.indices(x.shape)
    for (k, align), expected in taken.items():
        found = bands.diag_part(x, k=k, padding_value=7.0, align=align)
        assert found.numpy().tolist() == expected
        inside = (column - row >= k[0]) & (column - row <= k[1])
        put = bands.set_diag(np.zeros_like(x), found, k=k, align=align)
        assert put.numpy().tolist() == np.where(inside, x, 0).tolist()
        matrices = autoconv.function(lambda d, k=k, align=align: bands.diag(d, "", k, 3, 4, 5.0, align))(found)
        assert matrices.numpy().tolist() == np.where(inside, x, 5).tolist()
    assert bands.diag([1.0, 2.0], k=1, num_rows=4).numpy().tolist() == [
        [0, 1, 0],
        [0, 0, 2], [0, 0, 0], [0, 0, 0],
    ]  # fmt: skip
    with pytest.raises(ValueError, match="align has to be one of"):
        bands.diag_part(x, k=(0, 1), align="left")
    with autoconv.GradientTape() as tape:
        matrix = autoconv.Variable(x)
        total = autoconv.reduce_sum(bands.diag_part(matrix, k=(-1, 1)) ** 2)
    assert tape.gradient(total, matrix).numpy().tolist() == (2 * np.triu(np.tril(x, 1), -1)).tolist()


@pytest.mark.parametrize("limits", [(1, -1), (-1, 0), (0, 1)])
def test_a_band_whose_limits_are_computed(limits):
    x = np.arange(24.0).reshape(2, 3, 4)
    lower, upper = limits
    expected = np.triu(x, -lower) if lower >= 0 else x
    expected = np.tril(expected, upper) if upper >= 0 else expected
    found = autoconv.function(linalg.band_part)(constant(x), constant(lower), constant(upper, autoconv.int64))
    np.testing.assert_array_equal(found, expected)


def test_cholesky_reads_the_lower_triangle():
    for dtype, upper in ((np.float32, 9.0), (np.float64, np.nan), (np.complex128, 7j)):
        matrix = np.array([[4.0, upper], [2.0 if dtype is not np.complex128 else 2j, 5.0]], dtype)
        expected = np.linalg.cholesky(matrix)
        for run in (autoconv.linalg.cholesky, autoconv.function(autoconv.linalg.cholesky)):
            np.testing.assert_allclose(run(autoconv.constant(matrix)).numpy(), expected, rtol=1e-6)


def test_least_squares_solution_of_few_equations_is_the_shortest_one():
    expected = np.linalg.lstsq(A[:2], B[:2], rcond=None)[0]
    for solution in (functions.lstsq(A[:2], B[:2]), autoconv.function(functions.lstsq)(A[:2], B[:2])):
        np.testing.assert_allclose(solution, expected)
    open_matrices = [autoconv.TensorSpec([None, None], "float64")] * 2
    solve = autoconv.function(functions.lstsq, input_signature=open_matrices)
    for rows in (1, 2, 3):
        np.testing.assert_allclose(solve(A[:rows], B[:rows]), np.linalg.lstsq(A[:rows], B[:rows], rcond=None)[0])
    ridge = A[:2].T @ np.linalg.inv(A[:2] @ A[:2].T + 0.5 * np.eye(2)) @ B[:2]
    np.testing.assert_allclose(functions.lstsq(A[:2], B[:2], l2_regularizer=0.5), ridge)


def test_einsum_refuses_unknown_keywords():
    with pytest.raises(TypeError, match="optimise"):
        autoconv.einsum("ij->ji", A, optimise="greedy")


@pytest.mark.parametrize("matrix", [np.full([2, 2], np.nan), np.diag([1.0, np.inf]), np.stack([A, A * np.nan])])
@pytest.mark.parametrize("decompose", [linalg.eigh, linalg.eigvalsh])
def test_self_adjoint_matrices_with_numbers_that_are_not_finite_are_refused(decompose: Any, matrix: Any) -> None:
    open_sizes = autoconv.function(decompose, input_signature=[autoconv.TensorSpec(None, float64)])
    for run in (decompose, autoconv.function(decompose), open_sizes):
        run(np.eye(2))
        with pytest.raises(InvalidArgumentError, match="Self-adjoint eigen decomposition was not successful"):
            run(matrix)
