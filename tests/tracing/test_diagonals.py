"""Diagonals of arrays are read-only views: they show what is written to the array, in the graph."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain


def jacobi(a, b):
    x = np.zeros_like(b)
    diagonal = np.diag(a)
    off_diagonal = a - np.diagflat(diagonal)
    for _ in range(9):
        x[:] = (b - off_diagonal @ x) / diagonal
    return x


def correlations(a, b):
    a -= a.mean(0)
    c = a.T @ a
    d = np.sqrt(np.diag(c))
    c /= d[:, None]
    c /= d
    return c.round(9)


def show_what_is_written(a, b):
    d, above, below = np.diagonal(a), a.diagonal(1), np.diag(a, -1)
    before = d.copy(), above * 1, below + 0
    a[0, 0] = 100
    a[0] += 1
    a.T[0, 1:] = 7
    return before, d.sum(), above.max(), list(below), d[::-1], d[0], len(above)


def far_off(a, b):
    a += 1
    return [np.diag(a, k).tolist() for k in range(-6, 7)], np.diag(a, 50).shape, np.trace(a)


def of_views(a, b):
    a[1] = 5
    return a.T.diagonal(1).copy(), a[::-1].diagonal().copy(), a[1:, :2].diagonal().sum(), np.diag(a[::2, ::-1]) * 2


def of_more_dimensions(a, b):
    x = np.zeros((2, len(a), len(a) + 1))
    x[:] = b[:, None]
    x[1] *= 2
    found = x.diagonal(0, 1, 2), x.diagonal(1, -1, 0), np.diagonal(x, axis1=2, axis2=1), x.diagonal()
    return [part.copy() for part in found], np.linalg.diagonal(x, offset=1).sum()


def written(a, b):
    found = []
    d = np.diag(a)
    for k in range(4):
        try:
            if k == 0:
                d[0] = 1
            elif k == 1:
                d += 1
            elif k == 2:
                d[1:][...] = 3
            else:
                d[[0, 1]] = 2
        except ValueError as error:
            found.append(str(error))
    a[0, 0] = 3
    return found, d.flags.writeable


def is_returned(a, b):
    a[0] = 1
    return np.diag(a), a


def is_chosen(a, b):
    a[0] = 1
    if a[1, 1] > 2:
        d = np.diag(a)
    else:
        d = np.diag(a, 1)
    a[1] = 9
    return d.sum(), len(d)


def or_something_else(a, b):
    a[0] = 1
    d = np.diag(a) if a[1, 1] > 2 else b
    a[1] = 9
    return d.tolist()


def in_a_loop(a, b):
    d = a.diagonal()
    for i in range(3):
        a[i % len(a)] += i
        d = d[::-1] if i else a.T.diagonal()
    return d.copy()


def out_of_bounds(a, b):
    a[0] = 1
    return np.diag(a)[9]


def no_diagonal(a, b):
    b[0] = 1
    return b.diagonal()


PROGRAMS = [
    jacobi, correlations, show_what_is_written, far_off, of_views, of_more_dimensions, written, is_returned, is_chosen,
    or_something_else, in_a_loop, out_of_bounds, no_diagonal,
]  # fmt: skip


def arguments(size, scale=1.0):
    a = np.random.default_rng(size).normal(size=(size, size)) * scale + 9 * np.eye(size)
    return np.round(4 * a) / 4, np.arange(float(size))  # sums of such numbers are exact in any order


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.search
def test_as_in_numpy(function):
    compiled = check_against_plain(function, *(arguments(size) for size in (3, 3, 4, 5, 2, 6, 3)), arguments(3, -4.0))
    if function not in (written, or_something_else, no_diagonal):
        assert "plain Python" not in compiled.explain() and "as Python objects" not in compiled.explain()


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int8", "bool"])
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_dtypes(dtype, backend, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "backend", backend)

    def program(a):
        a[0, 0] = a[1, 1]
        d = np.diag(a)
        a[1, 1] = a[2, 2]
        return d.copy(), d[1:]

    check_against_plain(program, *[((np.arange(16).reshape(4, 4) % 3).astype(dtype),)] * 2)


def test_gradients():
    def total(a):
        a = a * 1.0
        d = np.diag(a)
        a[0, 0] *= 3
        a[1] = a[0]
        return (d * d).sum() + np.diag(a, 1).sum()

    a = np.arange(9.0).reshape(3, 3) + 1
    found = autoconv.grad(autoconv.compile(total))(a)
    expected = np.zeros_like(a)
    for position in np.ndindex(a.shape):
        step = np.zeros_like(a)
        step[position] = 1e-5
        expected[position] = (total(a + step) - total(a - step)) / 2e-5
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-6)
