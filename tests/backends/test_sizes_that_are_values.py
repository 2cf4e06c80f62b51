"""Arrays whose sizes are values, such as slices with computed bounds and elements of masks, by XLA, against NumPy."""

import copy

import numpy as np
import pytest

import autoconv
from autoconv.backends.xla.backend import XlaGraph


def products(a, b, v, n):
    total = 0.0
    for i in range(n):
        total += (a[i:, i:] @ b[i:, i:]).sum() + (a[i:, i:] @ v[i:]).sum() + v[i:] @ v[i:]
        total += np.einsum("ij,j->i", a[i:, i:], v[i:]).sum() + np.tensordot(a[:, i:], v[i:], 1).sum()
        total += np.outer(v[i:], v[:i]).sum() + a[i:, : i + 1].T[0].sum()
    return total


def forward_substitution(a, v):
    x = np.zeros(len(v))
    for i in range(len(v)):
        x[i] = (v[i] - a[i, :i] @ x[:i]) / (a[i, i] + 10.0)
    return x


def triangles(a):
    r = a.copy()
    for k in range(r.shape[1] - 1):
        x = r[k:, k].copy()
        x[0] += np.sign(x[0]) * np.linalg.norm(x)
        x /= np.linalg.norm(x)
        r[k:, k:] -= 2.0 * np.outer(x, x @ r[k:, k:])
    return r


def parts_of_parts(v, n):
    total = 0.0
    for i in range(n):
        w = v[i:]
        total += w[0] + w[-1] + w[1:].sum() + w[::-1][0] + w[::2].sum() + w[:i].sum() + w[-2:].prod()
        total += np.diff(w).sum() + np.concatenate([v[:i], v[i + 1 :]])[-1] + w[:, None][0, 0]
    return total


def statistics(v, n):
    results = np.zeros((n, 9))
    for i in range(n):
        w = v[i:]
        extremes = w.argmax(), w.argmin(), np.sort(w)[0], np.cumsum(w)[-1]
        results[i] = (w.mean(), w.std(), *extremes, np.median(w), len(w), w.size)
    return results


def masks(v):
    w = v[v > 0]
    positions = np.flatnonzero(v > 0)
    joined = np.concatenate([w, v[v <= 0]])
    return w, positions, v[positions].mean(), joined, w.reshape(-1, 1) + 1.0, np.stack([w, w * 2.0])


def masked_rows(a):
    rows, columns = np.where(a > 0)
    positive = a[a.sum(1) > 0]
    return a[a > 0], rows, a[rows, columns], positive.T @ positive, positive.ravel()


def masked_columns(a):
    columns = a[0] > 0
    b = a.copy()
    b[:, columns] *= 2.0
    b[1:4, columns] = -1.0
    return a[:, columns], a[2, columns], a[1:, None, columns].sum(0), b


def ranges(v, n):
    w = v[v > 0]
    return np.arange(len(w)), np.zeros(len(w)) + w, np.arange(n) * 2, np.linspace(0.0, 1.0, n)


def no_elements(v):
    w = v[v > 100.0]
    return w, w.sum(), w.size, np.any(w > 0), np.concatenate([w, v]), np.cumsum(w), np.sort(w)


def distinct(k):
    values, counts = np.unique(k, return_counts=True)
    return values, counts, np.union1d(k, np.array([9])), np.intersect1d(k, np.array([1, 9]))


def writes(v, n):
    for i in range(n):
        v[i:] = v[i:][::-1]
        v[:i][-1:] += 1.0
        w = v[i:]
        w[0], w[-1] = 1.0, 2.0
        w[1:] *= 0.5
    v[v < 0] = -v[v < 0]
    return v


def halves(v):
    while len(v) > 1:
        v = v[::2] + 1.0
    return v


def one_of_two_sizes(v, n):
    total = 0.0
    for i in range(n):
        w = v[i:] * 2.0 if v[i] > 0 else v[:i] * 3.0
        total += w.sum() + len(w)
    return total


def sizes_of_results(v, n):
    return v[n:] * 2.0, v[:n].copy(), np.outer(v[:n], v[n:]), v[:n].reshape(1, -1), np.repeat(v[:n], 2)


A, B = np.random.default_rng(0).normal(size=(2, 6, 6))
V = A[0]
K = np.array([3, 1, 3, 2, 1, 5, 3])
PROGRAMS = {
    products: [(A, B, V, 4)], forward_substitution: [(A, V)], triangles: [(A,)], parts_of_parts: [(V, 4)],
    statistics: [(V, 5)], masks: [(V,), (-np.abs(V) + 1.0,)], masked_rows: [(A,), (B,)], masked_columns: [(A,), (B,)],
    ranges: [(V, 3), (V, 1)], no_elements: [(V,)],
    distinct: [(K,), (K[::-1].copy(),)], writes: [(V, 5)], halves: [(V,)], one_of_two_sizes: [(V, 6)],
    sizes_of_results: [(V, 2), (V, 0), (V, 6)],
}  # fmt: skip


@pytest.mark.parametrize("plain", PROGRAMS, ids=lambda f: f.__name__)
def test_program(plain, monkeypatch):
    pytest.importorskip("jaxlib")
    monkeypatch.setattr(XlaGraph, "_run_natively", None)  # the error word must not be set
    f = autoconv.compile(plain, backend="xla")
    for case in PROGRAMS[plain]:
        arguments, plain_arguments = copy.deepcopy(case), copy.deepcopy(case)
        results, expected = f(*arguments), plain(*plain_arguments)
        pairs = zip(results, expected, strict=True) if isinstance(expected, tuple) else [(results, expected)]
        for found, value in [*pairs, *zip(arguments, plain_arguments, strict=True)]:
            assert np.shape(found) == np.shape(value)
            np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-12)
    assert "compiled by XLA" in f.explain()


def test_sizes_that_do_not_fit_are_found():
    pytest.importorskip("jaxlib")
    f = autoconv.compile(lambda v, i, j: v[i:] @ v[:j], backend="xla")
    np.testing.assert_allclose(f(V, 2, 4), V[2:] @ V[:4])
    with pytest.raises(ValueError, match="mismatch"):
        f(V, 2, 3)
    assert "compiled by XLA" in f.explain()


def test_values_of_shapes():
    """The sizes of `reshape`, `split` and `top_k` may be values: the array bounds them."""
    pytest.importorskip("jaxlib")
    x = autoconv.constant(np.arange(12.0))

    @autoconv.function(backend="xla")
    def parts(x, shape, sizes, k):
        first, second = autoconv.split(x, sizes)
        return autoconv.reshape(x, shape), first, second, autoconv.math.top_k(x, k)[0]

    for rows, k in ((3, 2), (12, 0), (1, 12)):
        shape, sizes = autoconv.constant([rows, -1]), autoconv.constant([k, 12 - k])
        reshaped, first, second, largest = parts(x, shape, sizes, autoconv.constant(k))
        np.testing.assert_array_equal(reshaped, np.arange(12.0).reshape(rows, -1))
        np.testing.assert_array_equal(np.concatenate([first, second]), x)
        np.testing.assert_array_equal(largest, np.arange(12.0)[::-1][:k])
    assert "compiled by XLA" in parts.explain()


def test_shapes_in_a_loop():
    pytest.importorskip("jaxlib")

    @autoconv.function(backend="xla")
    def fold(x):
        while autoconv.shape(x)[0] > 1:
            half = autoconv.shape(x)[0] // 2
            x = x[:half] + x[half : 2 * half]
        return x

    for count in (8, 9, 1):
        found = fold(autoconv.constant(np.arange(float(count))))
        np.testing.assert_array_equal(found, [sum(range(8)) if count > 1 else 0.0])
    assert "compiled by XLA" in fold.explain()
