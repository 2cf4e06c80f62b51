"""Elements that move by positions and shifts that only the running graph has: native, with NumPy's results."""

import numpy as np
import pytest

import autoconv
from tests.numpy.agreement import check_agreement


def shifted_both_ways(x, shifts):
    for i in range(len(shifts)):
        x = np.roll(np.roll(x, shifts[i], axis=0), -shifts[i], axis=1) * 2
    return x, np.roll(x, shifts[0]), np.roll(x, (shifts[1], shifts[0]), axis=(1, 0))


def rows_and_columns(x, n, k):
    i, j = np.arange(n), np.arange(k) * 2
    return x[i[:, None], j], x[i[:, None], j[None, :]] + 1, x[np.ix_(i, j)], x[j[:, None] // 2, i]


def beyond_the_end(x, n):
    return x[np.arange(n)[:, None], np.arange(n + 1)]


def interpolated(image, scale):
    height, width = image.shape
    y, x = np.arange(int(height * scale)) / scale, np.arange(int(width * scale)) / scale
    low_y, low_x = np.minimum(y.astype(int), height - 2), np.minimum(x.astype(int), width - 2)
    part = (y - low_y)[:, None]
    return image[low_y[:, None], low_x] * (1 - part) + image[low_y[:, None] + 1, low_x] * part


@pytest.mark.parametrize("shape", [(4, 5), (1, 3), (7, 1), (0, 2)])
def test_shifts_are_values(shape):
    compiled = check_agreement(
        shifted_both_ways, lambda: np.arange(float(np.prod(shape))).reshape(shape), np.array([3, -2, 0, 17, -100])
    )
    if 0 not in shape:
        assert "by kernels" not in compiled.explain()


@pytest.mark.parametrize("shift", [-(2**63), 2**63 - 1, 1 - 2**63])
def test_shifts_at_the_limits_of_integers(shift):
    check_agreement(lambda x, n: (np.roll(x, n), np.roll(x, (n, n), axis=(0, 1))), np.arange(15.0).reshape(3, 5), shift)


def test_complex_numbers_and_other_dtypes_shift():
    for dtype in (complex, np.uint8, bool, np.float32):
        check_agreement(lambda x, n: (np.roll(x, n), np.roll(x * x, n) + x), np.arange(6).astype(dtype), -4)


def test_positions_of_computed_sizes_broadcast():
    compiled = check_agreement(rows_and_columns, np.arange(40.0).reshape(5, 8), 3, 4)
    assert "by kernels" not in compiled.explain()
    for sizes in ((1, 1), (0, 3), (5, 4), (2, 2)):
        check_agreement(rows_and_columns, np.arange(40.0).reshape(5, 8), *sizes)
    check_agreement(beyond_the_end, np.arange(40.0).reshape(5, 8), 6)
    compiled = check_agreement(interpolated, np.arange(20.0).reshape(4, 5), 1.5)
    assert "by kernels" not in compiled.explain()


def test_arrays_of_constant_bytes_and_nodes():
    alphabet = b"ABCDEFGH"

    def letters(x):
        return np.frombuffer(alphabet, dtype=np.uint8)[x]

    def integral(x):
        nodes, weights = np.polynomial.legendre.leggauss(7)
        return np.sum(weights * np.exp(nodes) * x)

    assert "plain" not in check_agreement(letters, np.array([3, 0, 7])).explain()
    compiled = autoconv.compile(integral)
    np.testing.assert_allclose(compiled(np.ones(1)), integral(np.ones(1)), rtol=1e-14)
    assert "plain" not in compiled.explain()


def test_parts_of_read_only_arrays_by_positions_are_copies():
    def parts(x, i):
        rows = np.broadcast_to(x, (3, 4))
        return rows[i], rows[:, x > 1], np.take(rows, i, axis=0), rows[1:], rows.T, rows[[0, 2], 1:]

    check_agreement(parts, np.arange(4.0), np.array([2, 0]))


def test_keys_of_lexsort_are_rows_of_an_array():
    keys = np.random.default_rng(2).integers(0, 3, (3, 40))
    assert "by kernels" not in check_agreement(lambda k: np.lexsort(k[:2]), keys).explain()
