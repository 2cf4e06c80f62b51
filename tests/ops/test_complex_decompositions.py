"""Gradients of functions of complex matrices, against finite differences of NumPy's own functions.

A cotangent of a complex number is dL/d(real) + i·dL/d(imag). Losses do not depend on the phases of vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

_DRAWS = np.random.default_rng(5)
_WEIGHTS = _DRAWS.standard_normal((6, 6)) + 1j * _DRAWS.standard_normal((6, 6))


def matrix(*shape: int, seed: int = 0) -> np.ndarray:
    draws = np.random.default_rng(seed)
    return draws.standard_normal(shape) + 1j * draws.standard_normal(shape)


def weigh(x: Any) -> Any:
    """Return a real number that depends on both parts of each element."""
    rows, columns = x.shape[-2:]
    return np.sum(np.real(_WEIGHTS[:rows, :columns] * x)) + np.sum(np.imag(x * x))


def hermitian(z: Any) -> Any:
    return z @ np.conj(z.T) + np.eye(len(z))


def of_determinant(z: Any) -> Any:
    return np.real(np.linalg.det(z) * (1 - 2j))


def of_logarithm(z: Any) -> Any:
    sign, size = np.linalg.slogdet(z)
    return size + np.real(sign * (0.5 + 2j))


def of_inverse(z: Any) -> Any:
    return weigh(np.linalg.inv(z))


def of_system(z: Any) -> Any:
    return weigh(np.linalg.solve(z, z[:, :2] * z[:, 1:3]))


def of_cholesky(z: Any) -> Any:
    return weigh(np.linalg.cholesky(hermitian(z)))


def of_qr(z: Any) -> Any:
    q, r = np.linalg.qr(z)
    return weigh(q) + weigh(r)


def of_eigenvalues(z: Any) -> Any:
    return np.sum(np.linalg.eigh(hermitian(z))[0] ** 1.5)


def of_eigenvectors(z: Any) -> Any:
    values, vectors = np.linalg.eigh(hermitian(z))
    return weigh((vectors * (np.sin(values) + 2)) @ np.conj(vectors.T))


def of_singular_values(z: Any) -> Any:
    return np.sum(np.linalg.svd(z, compute_uv=False) ** 3)


def of_singular_vectors(z: Any) -> Any:
    """Combine each left vector with its right one, as both have one common phase."""
    u, s, vh = np.linalg.svd(z, full_matrices=False)
    return weigh((u * np.cos(s)) @ vh) + weigh((u * s) @ np.conj(u.T)[:, :3])


def of_left_vectors(z: Any) -> Any:
    u, _, _ = np.linalg.svd(z, full_matrices=False)
    return weigh((u[:, :1] @ np.conj(u[:, :1].T))[:, :3])


def of_products_so_far(z: Any) -> Any:
    return weigh(np.cumprod(z, axis=0)) + weigh(np.cumprod(z, axis=1))


def of_spread(z: Any) -> Any:
    return np.sum(np.var(z, axis=0) * np.std(z, axis=0)) + np.std(z)


def of_pseudoinverse(z: Any) -> Any:
    return weigh(np.linalg.pinv(z)) + np.linalg.cond(z)


def of_neighbours(z: Any) -> Any:
    return weigh(np.gradient(z, 0.5, axis=0, edge_order=2)) + weigh(np.sort(z, axis=0)) + np.real(np.max(z))


SQUARE: list[Callable[[Any], Any]] = [
    of_determinant, of_logarithm, of_inverse, of_system, of_cholesky, of_qr, of_eigenvalues, of_eigenvectors,
    of_singular_values, of_singular_vectors, of_left_vectors, of_products_so_far, of_spread,
    of_pseudoinverse, of_neighbours,
]  # fmt: skip
TALL = [of_qr, of_singular_values, of_singular_vectors, of_left_vectors, of_pseudoinverse]


def finite_differences(function: Callable[[Any], Any], z: np.ndarray) -> np.ndarray:
    slopes, size = np.zeros(z.shape, complex), 1e-6
    for position in np.ndindex(*z.shape):
        for unit in (1.0, 1j):
            step = np.zeros(z.shape, complex)
            step[position] = size * unit
            slopes[position] += unit * (float(function(z + step)) - float(function(z - step))) / (2 * size)
    return slopes


@pytest.mark.parametrize(
    ("function", "shape"), [*((f, (3, 3)) for f in SQUARE), *((f, (5, 3)) for f in TALL), (of_singular_vectors, (3, 5))]
)
def test_gradients_are_those_of_finite_differences(function: Callable[[Any], Any], shape: tuple[int, int]) -> None:
    z = matrix(*shape) + 2 * np.eye(*shape)
    compiled = autoconv.compile(function)
    np.testing.assert_allclose(
        np.asarray(autoconv.grad(compiled)(z)), finite_differences(function, z), rtol=2e-6, atol=2e-7
    )
    assert "plain Python" not in compiled.explain()
