"""Decompositions, systems and Fourier transforms in one code for arguments of any size: NumPy's results."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.tracing.open_shapes import assert_close, assert_compiled_once, by_shape, random_floats, spec

linalg = autoconv.linalg
F64 = autoconv.float64
SIZES = ((3, 2), (7, 5), (2, 6), (20, 30), (5, 5))


def regular(*shape):
    x = random_floats(*shape, seed=shape[-1]).astype(np.float64)
    return x + shape[-1] * np.eye(shape[-1])


def transposed(x):
    return np.swapaxes(x, -1, -2)


def systems(x, b):
    symmetric = autoconv.matmul(x, x, transpose_b=True)
    return (
        linalg.inv(x), linalg.inv(x, adjoint=True), linalg.solve(x, b), linalg.solve(x, b, adjoint=True),
        linalg.triangular_solve(x, b), linalg.triangular_solve(x, b, lower=False, adjoint=True), linalg.det(x * 0.1),
        linalg.slogdet(x)[1], linalg.cholesky(symmetric), linalg.eigh(symmetric)[0],
        autoconv.abs(linalg.eigh(symmetric)[1]),
    )  # fmt: skip


def systems_by_numpy(x, b):
    symmetric = x @ transposed(x)
    return (
        np.linalg.inv(x), np.linalg.inv(transposed(x)), np.linalg.solve(x, b), np.linalg.solve(transposed(x), b),
        np.linalg.solve(np.tril(x), b), np.linalg.solve(transposed(np.triu(x)), b), np.linalg.det(x * 0.1),
        np.linalg.slogdet(x)[1], np.linalg.cholesky(symmetric), np.linalg.eigh(symmetric)[0],
        np.abs(np.linalg.eigh(symmetric)[1]),
    )  # fmt: skip


@pytest.mark.parametrize("batch", [(), (None,)])
def test_systems_and_square_matrices(batch):
    @autoconv.function(input_signature=[spec(*batch, None, None, dtype=F64), spec(*batch, None, None, dtype=F64)])
    def f(x, b):
        return systems(x, b)

    for n, m in SIZES[: 3 if batch else 5]:
        batch_shape = (4,) if batch else ()
        x, b = regular(*batch_shape, n, n), random_floats(*batch_shape, n, m, seed=m).astype(np.float64)
        for found, expected in zip(f(*map(autoconv.constant, (x, b))), systems_by_numpy(x, b), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    if batch:
        assert_compiled_once(f)
    else:
        assert by_shape(f).compilations <= 2  # equal sizes have code of their own


@pytest.mark.parametrize("dtype", [autoconv.float32, F64])
def test_matrices_of_more_rows_or_columns(dtype):
    @autoconv.function(input_signature=[spec(None, None, dtype=dtype)])
    def f(x):
        values, left, right = linalg.svd(x)
        q, r = linalg.qr(x)
        product = autoconv.matmul(left * values, right, transpose_b=True)
        full_q = linalg.qr(x, full_matrices=True)[0]
        full_svd = linalg.svd(x, full_matrices=True)
        return values, product, autoconv.abs(r), q @ r, full_q @ autoconv.transpose(full_q), linalg.diag_part(x), (
            linalg.diag_part(x, k=1), linalg.svd(x, compute_uv=False), full_svd[1] @ autoconv.transpose(full_svd[1])
        )

    for n, m in ((4, 3), (7, 5), (3, 6), (20, 30)):
        x = random_floats(n, m, seed=n).astype(dtype.numpy)
        values, identity = np.linalg.svd(x)[1], np.eye(n)
        diagonals = np.diagonal(x), (np.diagonal(x, 1), values, identity)
        expected = values, x, np.abs(np.linalg.qr(x)[1]), x, identity, *diagonals
        *found, last = f(autoconv.constant(x))
        for a, b in zip((*found, *last), (*expected[:-1], *expected[-1]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    assert_compiled_once(f)


def test_gradients_of_decompositions():
    @autoconv.function(input_signature=[spec(None, None, dtype=F64), spec(None, None, dtype=F64)])
    def f(x, b):
        with autoconv.GradientTape() as tape:
            tape.watch([x, b])
            loss = value(x, b)
        return loss, *tape.gradient(loss, [x, b])

    def value(x, b):
        factor = linalg.cholesky(autoconv.matmul(x, x, transpose_b=True))
        found = linalg.solve(x, b) + linalg.triangular_solve(factor, b) + linalg.inv(x) @ b
        singular = linalg.svd(b, compute_uv=False)
        return autoconv.reduce_sum(found * found) + linalg.slogdet(x)[1] + autoconv.reduce_sum(singular * singular)

    def plain(x, b):
        found = 2 * np.linalg.solve(x, b) + np.linalg.solve(np.linalg.cholesky(x @ x.T), b)
        return np.square(found).sum() + np.linalg.slogdet(x)[1] + np.square(np.linalg.svd(b)[1]).sum()

    for n, m in ((3, 2), (6, 4), (4, 5)):
        x, b = regular(n, n), random_floats(n, m, seed=m).astype(np.float64)
        loss, of_x, of_b = f(autoconv.constant(x), autoconv.constant(b))
        np.testing.assert_allclose(loss, plain(x, b))
        for which, slope in ((0, of_x), (1, of_b)):
            steps = [np.zeros_like(x), np.zeros_like(b)]
            steps[which][1, 0] = 1e-5
            change = (plain(x + steps[0], b + steps[1]) - plain(x - steps[0], b - steps[1])) / 2e-5
            np.testing.assert_allclose(slope.numpy()[1, 0], change, rtol=1e-5, atol=1e-6)
    assert_compiled_once(f)


def test_matrices_without_a_decomposition_are_treated_as_for_known_shapes():
    @autoconv.function(input_signature=[spec(None, None), spec(None, None)])
    def f(x, b):
        return linalg.solve(x, b), linalg.cholesky(x)

    factor = f(autoconv.constant(-np.eye(3, dtype=np.float32)), autoconv.zeros([3, 2]))[1]
    np.testing.assert_array_equal(factor.numpy(), np.tril(np.full((3, 3), np.nan)))

    b = autoconv.constant(random_floats(3, 2))
    assert_close(f(autoconv.constant(np.eye(3, dtype=np.float32) * 4), b)[0], b.numpy() / 4)
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="Input matrix is not invertible"):
        f(autoconv.zeros([3, 3]), b)
    assert_compiled_once(f)
    with pytest.raises(autoconv.errors.InvalidArgumentError, match="Input must be square"):
        f(autoconv.zeros([3, 4]), b)


def test_many_matrices_are_shared_by_threads():
    @autoconv.function(input_signature=[spec(None, 5, 5, dtype=F64)])
    def f(x):
        return linalg.inv(x)

    for count in (3, 3000):
        x = regular(count, 5, 5)
        np.testing.assert_allclose(f(autoconv.constant(x)), np.linalg.inv(x), rtol=1e-8, atol=1e-9)
    assert_compiled_once(f)


def test_fourier_transforms_and_their_gradients_call_the_library_within_the_code_for_any_size():
    @autoconv.function(input_signature=[spec(None, None, dtype=F64)])
    def f(x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            spectrum = autoconv.signal.rfft(x)
            size = autoconv.abs(spectrum) ** 2
            loss = autoconv.reduce_sum(size * size)
        full_q = autoconv.signal.fft2d(autoconv.complex(x, x))
        return spectrum, autoconv.signal.irfft(spectrum) * 2.0, full_q * 2.0, tape.gradient(loss, x)

    def loss_of(x):
        return (np.abs(np.fft.rfft(x)) ** 4).sum()

    for n, m in ((2, 6), (3, 8), (5, 20)):
        x = random_floats(n, m, seed=n).astype(np.float64)
        spectrum, restored, full_spectrum, slope = f(autoconv.constant(x))
        np.testing.assert_allclose(spectrum, np.fft.rfft(x), atol=1e-9)
        np.testing.assert_allclose(restored, 2 * x, atol=1e-9)
        np.testing.assert_allclose(full_spectrum, 2 * np.fft.fft2(x + 1j * x), atol=1e-9)
        step = np.zeros_like(x)
        step[1, 2] = 1e-5
        np.testing.assert_allclose(slope.numpy()[1, 2], (loss_of(x + step) - loss_of(x - step)) / 2e-5, rtol=1e-4)
    run = by_shape(f)
    assert run.compilations == 1
    assert {name for name, _ in run.kernel_calls} == {"fft", "ifft", "rfft", "irfft"}
    x = random_floats(3, 7).astype(np.float64)  # the way back from an odd number of columns is one shorter
    assert f(autoconv.constant(x))[1].shape == (3, 6)
