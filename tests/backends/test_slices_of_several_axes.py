"""Slices along several axes whose bounds a loop computes, by XLA and by ONNX Runtime, against NumPy."""

import copy

import numpy as np
import pytest

import autoconv


def sums_of_blocks(a, n):
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += a[i : i + 2, j : j + 3].sum() * (i + 2 * j + 1)
    return total


def blocks_in_place(a, b, n):
    for i in range(-n, n + 1):
        for j in range(n):
            a[i : i + 2, j : j + 3] += b[i : i + 2, j : j + 3] * 2.0 + 1.0
    return a


def open_and_fixed_slices(a, n):
    for i in range(n):
        a[i:, 0:2] = a[i:, 0:2] * 2.0 + i
        a[i:, i:] -= 0.5
        a[i + 1 :, i] /= a[i, i] + 100.0
        a[i:, i : i + 1] = 0.25
    return a


def elimination(a, n):
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k : k + 1, k + 1 :]
    return a


def elimination_by_new_axes(a, n):
    for k in range(n):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k, None] * a[k, k + 1 :]
    return a


def sums_along_one_axis(a, out, n):
    for i in range(n):
        for j in range(n):
            out[i : i + 2] += a[i : i + 2, j : j + 2].sum(axis=1)
            out[j : j + 2] += a[i : i + 2, j : j + 2].prod(axis=0)
            out[i] += a[i : i + 2, j : j + 2].max()
    return out


def extremes_of_maybe_none(a, n):
    total = 0.0
    for i in range(n):
        total += a[i:, i:].max(axis=1).sum()
    return total


def three_axes(a, n):
    total = 0.0
    for i in range(n):
        total += a[i : i + 2, 1, i : i + 2, ::2].prod() + a[i : i + 2].min()
        a[i:, 0, i + 1 :] = a[i:, 1, i + 1 :] + a[0, 0, i + 1 :]
    return total


def blocks_of_another_array(a, b, n):
    for i in range(n):
        for j in range(n):
            a[i : i + 2, j : j + 2] = b[:2, i : i + 2]
            a[:1, j : j + 2] = b[i : i + 1, j : j + 2]
    return a


def blocks_that_do_not_fit(a, b, n):
    for i in range(n):
        a[i:, i:] = b[:, i:]
    return a


A, B = np.random.default_rng(0).normal(size=(2, 5, 5))
C = np.random.default_rng(1).normal(size=(4, 2, 4, 3))
PROGRAMS = {
    sums_of_blocks: (A, 4), blocks_in_place: (A, B, 3), open_and_fixed_slices: (A, 4), elimination: (A, 4),
    elimination_by_new_axes: (A, 4), sums_along_one_axis: (A, np.zeros(5), 3), extremes_of_maybe_none: (A, 5),
    three_axes: (C, 3), blocks_of_another_array: (A, B, 3),
}  # fmt: skip


@pytest.mark.parametrize("plain", PROGRAMS, ids=lambda f: f.__name__)
def test_by_xla(plain):
    f = autoconv.compile(plain, backend="xla")
    for n in (PROGRAMS[plain][-1], 1, 0):
        arguments, plain_arguments = (copy.deepcopy((*PROGRAMS[plain][:-1], n)) for _ in range(2))
        np.testing.assert_allclose(f(*arguments), plain(*plain_arguments), rtol=1e-9)
        for found, expected in zip(arguments, plain_arguments, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert "compiled by XLA" in f.explain()


@pytest.mark.parametrize("plain", PROGRAMS, ids=lambda f: f.__name__)
def test_by_onnx_runtime(plain):
    *arrays, n = copy.deepcopy(PROGRAMS[plain])
    specs = [f"float64[{','.join(map(str, x.shape))}]" for x in arrays]
    model = autoconv.onnx.export(plain, *specs, "int64[]", contract="compile")
    found = autoconv.onnx.load(model)(*arrays, n)
    expected = plain(*arrays, n)
    np.testing.assert_allclose(found[0] if isinstance(found, (list, tuple)) else found, expected, rtol=1e-9)


def test_sizes_that_differ_are_found():
    f = autoconv.compile(blocks_that_do_not_fit, backend="xla")
    with pytest.raises(ValueError, match="could not broadcast"):
        f(A.copy(), B.copy(), 3)
    np.testing.assert_array_equal(f(A.copy(), B.copy(), 1), B)


def test_extremes_of_no_elements_are_found():
    f = autoconv.compile(lambda a, i, j: a[i:, j:].max(axis=1).sum(), backend="xla")
    for i, j in ((1, 2), (5, 0)):
        np.testing.assert_allclose(f(A, i, j), A[i:, j:].max(axis=1).sum())
    for i, j in ((1, 5), (5, 5)):
        with pytest.raises(ValueError, match="zero-size array"):
            f(A, i, j)
    assert "compiled by XLA" in f.explain()
