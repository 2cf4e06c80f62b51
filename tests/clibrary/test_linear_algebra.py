"""Matrices in C libraries: factors, eigenvalues and singular values by the library's own routines."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import autoconv as ac

from .calling import Caller, LibraryError

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def factors(tall, even, wide, square, right):
    hermitian = square + ac.linalg.adjoint(square)
    values, vectors = ac.linalg.eigh(hermitian)
    positive = ac.matmul(square, square, adjoint_b=True)
    cholesky = ac.linalg.cholesky(positive)
    by_shape = [
        {
            "thin_svd": ac.linalg.svd(x), "full_svd": ac.linalg.svd(x, full_matrices=True), "qr": ac.linalg.qr(x),
            "full_qr": ac.linalg.qr(x, full_matrices=True),
        }
        for x in (tall, even, wide)
    ]  # fmt: skip
    return {
        "tall": by_shape[0], "even": by_shape[1], "wide": by_shape[2], "eigh": (values, vectors), "cholesky": cholesky,
        "solution": ac.linalg.solve(square, right), "inverse": ac.linalg.inv(square),
        "determinant": ac.linalg.det(square), "triangular": ac.linalg.triangular_solve(cholesky, right),
        "upper": ac.linalg.triangular_solve(cholesky, right, adjoint=True),
    }  # fmt: skip


def assert_svd(x, result):
    values, left, right = (np.asarray(part) for part in result)
    np.testing.assert_allclose(values, np.linalg.svd(x, compute_uv=False), atol=1e-13)
    count = len(values)
    np.testing.assert_allclose((left[:, :count] * values) @ right[:, :count].conj().T, x, atol=1e-13)
    for part in (left, right):
        np.testing.assert_allclose(part.conj().T @ part, np.eye(part.shape[1]), atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_factors_give_the_matrices_again(tmp_path, dtype):
    draw = np.random.default_rng(0)

    def matrix(*shape):
        return (draw.normal(size=shape) + (1j * draw.normal(size=shape) if dtype is np.complex128 else 0)).astype(dtype)

    square, right = matrix(5, 5), matrix(5, 2)
    matrices = {"tall": matrix(7, 5), "even": matrix(5, 5), "wide": matrix(4, 6)}
    for x in matrices.values():
        x[:, 1], x[:, -1] = x[:, 0], 0.0  # of a lower rank, with a column of zeros
    arguments = [*matrices.values(), square, right]
    specs = [ac.TensorSpec(y.shape, y.dtype) for y in arguments]
    result = Caller(ac.clibrary.build(factors, *specs, to=tmp_path / "factors"))(*arguments)
    for shape, x in matrices.items():
        assert_svd(x, result[shape]["thin_svd"].values())
        assert_svd(x, result[shape]["full_svd"].values())
        for name, mode in (("qr", "reduced"), ("full_qr", "complete")):
            q, r = result[shape][name].values()
            np.testing.assert_allclose(q @ r, x, atol=1e-13)
            np.testing.assert_allclose(q.conj().T @ q, np.eye(q.shape[1]), atol=1e-13)
            np.testing.assert_array_equal(np.tril(r, -1), 0.0)
            assert r.shape == np.linalg.qr(x, mode).R.shape
    values, vectors = result["eigh"].values()
    hermitian = square + square.conj().T
    np.testing.assert_allclose(values, np.linalg.eigvalsh(hermitian), atol=1e-13)
    np.testing.assert_allclose(vectors * values @ vectors.conj().T, hermitian, atol=1e-13)
    cholesky = np.linalg.cholesky(square @ square.conj().T)
    for name, expected in (
        ("cholesky", cholesky), ("solution", np.linalg.solve(square, right)), ("inverse", np.linalg.inv(square)),
        ("determinant", np.linalg.det(square)), ("triangular", np.linalg.solve(cholesky, right)),
        ("upper", np.linalg.solve(cholesky.conj().T, right)),
    ):  # fmt: skip
        np.testing.assert_allclose(result[name], expected, rtol=1e-10, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_spectra_with_clusters_zeros_and_grades(tmp_path, dtype):
    n, draw = 24, np.random.default_rng(2)
    function = ac.clibrary.build(lambda x: (*ac.linalg.eigh(x), ac.linalg.svd(x)), ac.TensorSpec([n, n], dtype),
                                 to=tmp_path / "spectra")  # fmt: skip
    call = Caller(function)
    for spectrum in (
        np.ones(n), np.repeat([0.0, 1.0, -1.0], n // 3), np.logspace(0, -18, n), np.logspace(-18, 0, n),
        1.0 + 1e-14 * draw.normal(size=n), 1e280 * np.arange(-12.0, 12.0), 1e-280 * np.arange(1.0, n + 1.0),
    ):  # fmt: skip
        scale = np.abs(spectrum).max()
        square = draw.normal(size=(n, n)) + (1j * draw.normal(size=(n, n)) if dtype is np.complex128 else 0)
        basis = np.linalg.qr(square).Q
        for x in (basis * spectrum @ basis.conj().T, np.diag(spectrum).astype(dtype)):
            x = np.tril(x) + np.tril(x, -1).conj().T
            np.fill_diagonal(x, x.diagonal().real)
            values, vectors, factors = call(x).values()
            np.testing.assert_allclose(values / scale, np.sort(spectrum) / scale, atol=2e-14)
            np.testing.assert_allclose(vectors * (values / scale) @ vectors.conj().T, x / scale, atol=2e-14)
            np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(n), atol=2e-14)
            singular, *both = factors.values()
            assert_svd(x / scale, (singular / scale, *both))


def test_sizes_may_be_open_and_failures_are_error_codes(tmp_path):
    def spectrum(x, right):
        values, vectors = ac.linalg.eigh(x)
        return ac.linalg.solve(x, right), values, vectors, ac.linalg.svd(x)[0]

    call = Caller(ac.clibrary.build(spectrum, "float64[n,n] float64[n,k]", to=tmp_path / "spectrum"))
    draw = np.random.default_rng(1)
    for n in (1, 2, 3, 20):
        x, right = draw.normal(size=(n, n)), draw.normal(size=(n, 2))
        x = x + x.T
        solution, values, vectors, singular = call(x, right).values()
        np.testing.assert_allclose(x @ solution, right, atol=1e-10)
        np.testing.assert_allclose(vectors * values @ vectors.T, x, atol=1e-12)
        np.testing.assert_allclose(singular, np.sort(abs(values))[::-1], atol=1e-12)
    svd = Caller(ac.clibrary.build(lambda x: ac.linalg.svd(x), "float64[m,n]", to=tmp_path / "svd"))
    for shape in ((1, 5), (5, 1), (1, 1), (3, 4)):
        x = draw.normal(size=shape)
        assert_svd(x, svd(x).values())
    with pytest.raises(LibraryError, match=r"test_linear_algebra\.py:\d+: solve fails"):
        call(np.zeros((6, 6)), np.ones((6, 2)))
    with pytest.raises(LibraryError, match="eigh fails"):
        call(np.full((6, 6), np.nan), np.ones((6, 2)))
