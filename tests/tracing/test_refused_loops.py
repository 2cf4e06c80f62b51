"""Loops over known values that a graph refuses, such as those of changing shapes: their iterations are recorded."""

import numpy as np
import pytest

import autoconv


def fourier_transform(x):
    count = len(x)
    places = np.arange(count)
    reversed_places = np.zeros(count, dtype=int)
    for _ in range(int(np.log2(count))):
        reversed_places = (reversed_places << 1) | (places & 1)
        places >>= 1
    x = x[reversed_places].astype(complex)
    width = 2
    while width <= count:
        factors = np.exp(-2j * np.pi * np.arange(width // 2) / width)
        rows = x.reshape(count // width, width)
        even, odd = rows[:, : width // 2], rows[:, width // 2 :] * factors
        x = np.concatenate([even + odd, even - odd], axis=1).ravel()
        width *= 2
    return x


def runge_kutta(y):
    table = [[1 / 4], [3 / 32, 9 / 32], [0.5, -1.0, 2.0], [1.0, 0.2, 0.1, -0.3], [0.1, 0.2, 0.3, 0.2, 0.2]]
    slopes = np.zeros((6, 2))
    slopes[0] = y[1], -y[0]
    for stage in range(5):
        inner = y.copy()
        for j in range(stage + 1):
            inner += 0.1 * table[stage][j] * slopes[j]
        slopes[stage + 1] = inner[1], -inner[0]
    return slopes


def refuses_all(x):
    x[0] += 1
    for i in range(12):
        x = np.partition(x, i % 4, kind="introselect", order=None) if i else x
        x = x.reshape(2, -1)[:, : len(x) // 2].ravel() + str(i).count("1")
    return x


@pytest.mark.parametrize("program", [fourier_transform, runge_kutta])
def test_iterations_are_recorded(program):
    compiled = autoconv.compile(program)
    x = np.random.default_rng(1).normal(size=2 if program is runge_kutta else 1024)
    np.testing.assert_allclose(compiled(x.copy()), program(x.copy()), rtol=1e-12, atol=1e-12)
    assert "plain" not in compiled.explain()
    assert "Python objects" not in compiled.explain()


def test_a_loop_that_iterations_do_not_save():
    compiled = autoconv.compile(refuses_all)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(np.arange(8.0)), refuses_all(np.arange(8.0)))
