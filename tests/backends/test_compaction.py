"""The elements and positions that a mask selects, for sizes around those of the blocks that native code skips."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac

SIZES = (0, 1, 7, 8, 9, 63, 64, 65, 71, 128, 200, 1000)
SHARES = (0.0, 0.01, 0.3, 0.97, 1.0)  # of true elements


def masks(size: int):
    draw = np.random.default_rng(size)
    for share in SHARES:
        yield draw.random(size) < share
    if size:
        for position in {0, size // 2, size - 1}:
            yield np.arange(size) == position


@ac.compile
def selected(x, mask):
    y = x[mask]
    return y, len(y), y * 1


@ac.compile
def positions(mask):
    found = np.nonzero(mask)
    return [axis * 1 for axis in found]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u2", "i1", "?", "c16", "c8"])
def test_selected_elements(dtype, size):
    x = (np.random.default_rng(1).normal(size=size) * 50).astype(dtype)
    for mask in masks(size):
        found, count, times_one = selected(x, mask)
        assert found.dtype == x.dtype and count == mask.sum()
        np.testing.assert_array_equal(found, x[mask])
        np.testing.assert_array_equal(times_one, x[mask] * 1)


@pytest.mark.parametrize("size", SIZES)
def test_selected_rows_and_positions(size):
    x = np.random.default_rng(2).normal(size=(size, 3))
    for mask in masks(size):
        np.testing.assert_array_equal(selected(x, mask)[0], x[mask])
        np.testing.assert_array_equal(positions(mask), np.nonzero(mask))
        square = np.resize(mask, (size, 5))
        np.testing.assert_array_equal(positions(square), np.nonzero(square))


def test_numbers_of_selected_elements_without_the_elements():
    @ac.compile
    def means(x, edges):
        result = []
        for i in range(3):
            chosen = x[(x >= edges[i]) & (x < edges[i + 1])]
            result.append((len(chosen), chosen.size, chosen.mean() if chosen.size else -1.0))
        return result

    x, edges = np.linspace(0.0, 1.0, 101), np.array([0.0, 0.25, 0.25, 2.0])
    expected = [(25, 25, np.mean(x[:25])), (0, 0, -1.0), (76, 76, np.mean(x[25:]))]
    for _ in range(2):
        found = means(x, edges)
        assert [row[:2] for row in found] == [row[:2] for row in expected]
        np.testing.assert_allclose([row[2] for row in found], [row[2] for row in expected])


def test_the_mean_of_no_elements_warns_as_in_numpy():
    @ac.compile
    def mean(x, limit):
        return x[x > limit].mean()

    x = np.arange(5.0)
    assert mean(x, 2.5) == 3.5
    for function in (mean, lambda x, limit: x[x > limit].mean()):
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            assert np.isnan(function(x, 9.0))


def escapes(z, c, count):
    """Iterate the elements that have not escaped, as in `From Python to NumPy`."""
    rows, last = np.arange(len(c)), np.zeros(len(c), z.dtype)
    steps = np.zeros(len(c), int)
    for k in range(count):
        if not len(z):
            break
        z = z * z + c
        escaped = np.abs(z) > 2
        steps[rows[escaped]] = k + 1
        last[rows[escaped]] = z[escaped]
        z, c, rows = z[~escaped], c[~escaped], rows[~escaped]
    return steps, last, z


@pytest.mark.parametrize("is_complex", [False, True])
def test_arrays_that_shrink_in_a_loop_are_native(is_complex):
    draw = np.random.default_rng(6)
    c = draw.normal(size=300) + (1j * draw.normal(size=300) if is_complex else 0.0)
    compiled = ac.compile(escapes)
    for found, expected in zip(compiled(c * 0, c, 12), escapes(c * 0, c, 12), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert "kernel" not in compiled.explain()


def test_masks_that_do_not_fit_raise_as_in_numpy():
    def shorter(x, mask, count):
        total = 0.0
        for _ in range(count):
            mask = mask[1:]
            total += x[mask].sum()
        return total

    x, mask = np.arange(10.0), np.arange(11) % 3 == 0
    assert ac.compile(shorter)(x, mask, 1) == shorter(x, mask, 1)
    with pytest.raises(IndexError) as expected:
        shorter(x, mask, 2)
    with pytest.raises(IndexError) as found:
        ac.compile(shorter)(x, mask, 2)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_squares_of_selected_complex_numbers_are_native(shift):
    def power(z, mask):
        return (z[mask] + shift) ** 2

    z = np.random.default_rng(7).normal(size=40).view(complex)
    compiled = ac.compile(power)
    np.testing.assert_array_equal(compiled(z, z.real > 0), power(z, z.real > 0))
    assert "kernel" not in compiled.explain()
