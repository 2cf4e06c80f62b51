"""Arrays of known sizes that are read before they are written: values are those before the write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv


def upwind(u: Any) -> Any:
    for _ in range(5):
        flux = 0.5 * u * u
        u[1:] -= 0.1 * (flux[1:] - flux[:-1])
    return u


def reads_kept_before_the_write(u: Any) -> Any:
    old = u + 0.0
    part = u[2:] * 2
    u[:] = 1.0
    u[1:] += old[:-1]
    return part.sum() + old[0]


def swapped(u: Any) -> Any:
    for i in range(3):
        low, high = u[:5] + 0, u[-5:] * (i + 1)
        u[-5:] = low
        u[:5] = high + low[::-1]
    return u


def read_after(u: Any) -> Any:
    total = 0.0
    for i in range(4):
        row = u * 1.5
        u[i] = row[i + 1] + row.max()
        total += row[i] + u[i]
    return total


@pytest.mark.parametrize("program", [upwind, reads_kept_before_the_write, swapped, read_after])
@pytest.mark.parametrize("step", [1, 2])
def test_as_numpy(program: Any, step: int) -> None:
    compiled = autoconv.compile(program)
    for size in (20, 20, 2001):
        compiled_argument, plain_argument = (np.linspace(-1, 2, size * step)[::step] for _ in range(2))
        np.testing.assert_allclose(compiled(compiled_argument), program(plain_argument), rtol=1e-12)
        np.testing.assert_allclose(compiled_argument, plain_argument, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(3, 3, 4), (5, 40, 70), (40, 5, 33)])
def test_products_of_parts_of_what_is_written(sizes: tuple[int, int, int]) -> None:
    n, k, m = sizes
    draws = np.random.default_rng(0)

    def step(a: Any, b: Any, wide: Any) -> Any:
        a[:, :k] += 1.0
        found = a[:, :k] @ b, a[:, 1 : k + 1] @ b, a[:, :k].T @ wide[:, :m], wide[:, :m] @ b.T, a[:, :k] @ a[:, :k].T
        wide[:] = a[:, :1] * 2
        return (*found, wide[:, :m] @ b.T)

    compiled = autoconv.compile(step)
    compiled_arguments = [draws.standard_normal(shape) for shape in ((n, k + 3), (k, m), (n, m + 2))]
    plain_arguments = [actual.copy() for actual in compiled_arguments]
    for _ in range(3):
        for found, expected in zip(compiled(*compiled_arguments), step(*plain_arguments), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    for actual, desired in zip(compiled_arguments, plain_arguments, strict=True):
        np.testing.assert_allclose(actual, desired, rtol=1e-12)
