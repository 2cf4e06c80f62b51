"""Products with the transpose of an array in memory: NumPy's values, and no copy of the matrix for each product."""

import numpy as np
import pytest

import autoconv


def powers(a, v):
    a = a.copy()
    for _ in range(4):
        u = a @ v
        v = a.T @ u
        v /= np.linalg.norm(v)
        a[0] *= 0.5
    return v, a


def views(a, v):
    b = a.copy()
    t = b.T
    t[0, 1] = 7.0
    first = t @ v
    b[1, 0] = 9.0
    t += 1
    t[t > 8] = 0
    return first, t @ v, t.T @ v, b, t[1:] @ v, t.sum(axis=0), t.copy()


@pytest.mark.parametrize("program", [powers, views])
@pytest.mark.parametrize("order", ["C", "F"])
def test_equal_numpys(program, order):
    compiled = autoconv.compile(program)
    for size in (5, 5, 6, 9):
        a, v = np.asarray(np.random.default_rng(size).normal(size=(size, size)), order=order), np.arange(float(size))
        for found, expected in zip(compiled(a, v), program(a, v), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert "plain Python" not in compiled.explain()


def test_loops_load_no_transposed_copy():
    compiled = autoconv.compile(powers)
    compiled(np.eye(8), np.ones(8))
    (trace,) = compiled.concrete_functions
    assert not any(node.op.name in ("array_strided", "array_transpose") for node in trace.optimised.walk())
