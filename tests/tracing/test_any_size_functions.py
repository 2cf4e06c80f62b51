"""Functions of NumPy whose results have sizes that follow from those of their arguments: one code for any size."""

import itertools

import numpy as np
import pytest

import autoconv

SIZES = (5, 6, 8, 9, 7, 12, 1, 3, 0, 2, 16)
KERNEL = np.array([1.0, 2.0, 1.0])


def vector_of_size(size):
    return np.arange(1.0, size + 1)


def matrix_of_size(size):
    return np.arange(6.0 * size).reshape(size, 6)


def change_of_parts(x):
    first, second = np.array_split(x, 2)
    first += 1
    second *= 3
    return first.sum() + second.sum()


VECTOR_FUNCTIONS = [
    lambda x: np.split(x, 2), lambda x: np.array_split(x, 3), lambda x: np.array_split(x, 4), change_of_parts,
    lambda x: np.split(x, [2, 5]), lambda x: np.convolve(x, KERNEL), lambda x: np.convolve(KERNEL, x, "same"),
    lambda x: np.convolve(x, [1, 2.0, 3], "valid"), lambda x: np.correlate(x, KERNEL, "same"),
    lambda x: np.convolve(x.astype(int), np.array([1, 2])), lambda x: np.interp(x * 1.5 - 1, x, x * x),
    lambda x: np.interp(np.array([0.5, 2, 99]), x, x * x, left=-1, right=np.nan),
    lambda x: np.tril(np.outer(x, x), 1), lambda x: np.triu(np.outer(x, x[:2]), -1), lambda x: np.triu(x),
    lambda x: np.meshgrid(x, x * 2, indexing="ij"), lambda x: np.meshgrid(x, np.arange(3.0)),
    lambda x: np.delete(x, [0, 2]), lambda x: np.delete(x, np.array([1, -2, 1])),
    lambda x: np.delete(x, slice(-3, -1)),
    lambda x: np.delete(x, slice(1, -2)), lambda x: np.delete(x, slice(3, None)),
    lambda x: np.insert(x, [3, 0, 3], x[:3]),
    lambda x: np.insert(x, [-2, 0], 7), lambda x: np.insert(x, [-1, -2], [4, 5]), lambda x: np.insert(x, [1], [4, 5]),
    lambda x: np.fft.irfft(x + 1j), lambda x: np.fft.irfft(x + 1j, 5), lambda x: np.fft.irfft2(np.outer(x, x) + 1j),
    lambda x: np.kron(x, KERNEL), lambda x: np.kron(np.outer(x, x), np.eye(2)),
]  # fmt: skip
MATRIX_FUNCTIONS = [
    lambda x: np.hsplit(x, 3), lambda x: np.vsplit(x, 2), lambda x: np.split(x, 3, axis=1),
    lambda x: np.split(x.T, 3, axis=-2), lambda x: x[x[:, 1] > 9].sum(0), lambda x: x[x[:, 0] < 14].mean(0),
    lambda x: np.delete(x, [0, -1], axis=1), lambda x: np.insert(x, [0, 2], x[0], axis=0),
    lambda x: np.delete(x, [0, 1]), lambda x: np.insert(x, [1, 1], x[:, :1], axis=1),
    lambda x: np.stack([x[x[:, 0] % 4 == k].prod() for k in range(3)]),
]  # fmt: skip


def result(function, x):
    x = x.copy()
    try:
        found = function(x)
    except Exception as error:
        return type(error), str(error)
    return [*(found if isinstance(found, (list, tuple)) else [found]), x]


def check(function, make):
    compiled = autoconv.compile(function)
    for size in SIZES:
        found, expected = result(compiled, make(size)), result(function, make(size))
        if isinstance(expected, tuple):
            assert found == expected
            continue
        for compiled_argument, plain_argument in itertools.zip_longest(found, expected):
            assert np.shape(compiled_argument) == np.shape(plain_argument)
            assert compiled_argument.dtype == plain_argument.dtype
            np.testing.assert_allclose(compiled_argument, plain_argument, atol=1e-13)
    report = compiled.explain()
    assert "each shape has its own trace" not in report, report
    assert compiled.experimental_get_tracing_count() <= 4, report


@pytest.mark.parametrize("number", range(len(VECTOR_FUNCTIONS)))
@pytest.mark.search
def test_functions_of_vectors(number):
    check(VECTOR_FUNCTIONS[number], vector_of_size)


@pytest.mark.parametrize("number", range(len(MATRIX_FUNCTIONS)))
def test_functions_of_matrices(number):
    check(MATRIX_FUNCTIONS[number], matrix_of_size)


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric"])
def test_padding(mode):
    check(lambda x: np.pad(x, (2, 3), mode=mode), vector_of_size)
    check(lambda x: np.pad(x, ((1, 2), (3, 0)), mode=mode), matrix_of_size)
