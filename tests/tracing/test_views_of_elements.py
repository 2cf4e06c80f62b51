"""Other looks at the memory of arrays: `flat`, another dtype, another shape, elements with their indices."""

import numpy as np
import pytest

from tests.tracing.plain_comparison import check_against_plain

GRID = np.linspace(0.5, 2.0, 12).reshape(3, 4)


def flat_read(a, i):
    return a.flat[i] + a.flat[-1], a.flat[1:7:2], a.flat[np.array([0, 5])], len(a.flat)


def flat_sum(a):
    total = 0.0
    for i, value in enumerate(a.flat):
        total += i * value
    return total


def flat_written(a, i):
    part = a.flat[2:4]
    a.flat[::5] = 0
    a.flat[i] += 2.5
    part[0] = 9.0  # a copy
    return a, part


def flat_assigned(a):
    a.flat = 3
    return a.sum()


def diagonal(n, value):
    matrix = np.zeros((n, n))
    matrix.flat[:: n + 1] = value
    return matrix


def several_values(a):
    a.flat[::2] = [1, 2]  # repeated
    return a


def of_transposed(a):
    return a.T.flat[1], [2 * value for value in a.T.flat]


def of_the_iterator(a):
    return a.flat == a[0, 0], a.flat.index, type(a.flat).__name__, np.array(a.flat), sum(a.flat)


def kept(a):
    return [a.flat][0][3], len({"flat": a.flat}), [[*part.flat] for part in a]


def exponents(x):
    return (x.view(np.int64) >> 52) & 2047


def written_bits(x):
    y = x * 2
    bits = y.view(np.uint64)
    bits &= np.uint64(0x7FFFFFFFFFFFFFFF)
    y[0] += 1
    return y, bits[0]


def pairs(z):
    return z.view(np.float64).sum(), (z * 1j).view(np.float64)[..., ::2]


def narrower(x):
    return (x + 1).view(np.uint8)[..., :3], np.arange(8, dtype=np.int32).view(np.int64)


def inverse_root(x):
    y = np.float32(x)
    i = np.int32(0x5F3759DF) - (y.view(np.int32) >> 1)
    return np.int32(i).view(np.float32)


def reshaped(x):
    y = x.ravel() * 2
    z = y
    y.shape = (6, -1)
    return z.sum(0), y.shape, z


def reshaped_argument(x):
    x.shape = x.size
    return x[0]


def wrong_shape(x):
    y = x.ravel() + 1
    try:
        y.shape = (5, 5)
    except ValueError as error:
        return str(error)
    return None


def parts(z):
    w = z.copy()
    w.real = 1.5
    w.imag *= 2
    return w


def steps(x):
    return x.strides[0] // x.itemsize, x.strides


def enumerated(x):
    return [i * 10 + j for (i, j), value in np.ndenumerate(x) if value > 1.0]


def windows(x):
    row = x.ravel()
    step = row.itemsize
    return np.lib.stride_tricks.as_strided(row, (len(row) - 2, 3), (step, step)).sum(1)


def blocks(x):
    n, m, (s, t) = len(x) // 3, 2, x.strides
    return np.lib.stride_tricks.as_strided(x, (n, m, 3, 2), (3 * s, 2 * t, s, t)).max((2, 3))


def raised_diagonal(x):
    view = np.lib.stride_tricks.as_strided(x, shape=(3,), strides=(sum(x.strides),))
    view += 1
    return x


def collected(x, n):
    squares = np.fromiter((i * i + 0.5 for i in range(n)), float, n)
    return squares, np.fromiter((v for v in x[0] if v > 0.6), dtype=np.float32), np.fromiter(x[1], float, count=2)


CASES = [
    (windows, (GRID,)), (blocks, (GRID,)), (raised_diagonal, (GRID,)), (collected, (GRID, 7)),
    (flat_read, (GRID, 3)), (flat_sum, (GRID,)), (flat_written, (GRID, 6)), (flat_assigned, (GRID,)),
    (diagonal, (5, 2.0)), (exponents, (GRID,)), (written_bits, (-GRID,)),
    (pairs, (np.arange(8.0).reshape(2, 4) + 1j,)),
    (narrower, (GRID,)), (reshaped, (GRID,)), (wrong_shape, (GRID,)), (parts, (GRID + 1j,)),
    (steps, (GRID,)), (enumerated, (GRID,)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_is_staged(function, arguments):
    larger = [np.tile(value, (2, 1)) if isinstance(value, np.ndarray) else value for value in arguments]
    compiled = check_against_plain(function, arguments, tuple(larger), arguments)
    assert "plain Python:" not in compiled.explain(), compiled.explain()


PLAIN = [several_values, reshaped_argument, of_transposed, of_the_iterator, kept]


@pytest.mark.parametrize("function", PLAIN, ids=lambda function: function.__name__)
def test_runs_plain(function):
    check_against_plain(function, (GRID,), (GRID * 2,))


def test_bits_of_scalars():
    check_against_plain(inverse_root, (4.0,), (0.25,))
