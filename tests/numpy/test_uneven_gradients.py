"""Differences at uneven coordinates, and Fourier transforms of parts whose size the program computes."""

import numpy as np
import pytest

import autoconv

DRAW = np.random.default_rng(4)
COORDINATES = [np.sort(DRAW.random(6)), np.arange(6.0), np.array([0, 0.5, 0.75, 2.0, 1.0, 9.0]), np.arange(6.0)[::-1]]


def differences(f, x):
    return np.gradient(f, x), np.gradient(f * 1j, x), np.gradient(np.float32(f), x)


def differences_of_rows(f, x):
    rows = np.outer(f, np.arange(5.0) ** 2)
    return *np.gradient(rows, x, 0.5), np.gradient(rows.T, x, axis=1), np.gradient(np.arange(6), x)


@pytest.mark.parametrize("program", [differences, differences_of_rows])
def test_differences(program):
    compiled = autoconv.compile(program)
    for x in COORDINATES:
        f = DRAW.normal(size=6)
        for found, expected in zip(compiled(f, x), program(f, x), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-5 if found.dtype == np.float32 else 1e-12)
    assert "kernels" not in compiled.explain() and "plain Python" not in compiled.explain()


def overlapping_blocks(x, h):
    spectrum, total = np.fft.fft(h, 8), np.zeros(len(x) + 8)
    for start in range(0, len(x), 5):
        block = np.fft.ifft(np.fft.fft(x[start : start + 5], 8) * spectrum).real
        total[start : start + 8] += block
    return total[: len(x) + len(h) - 1]


def test_transforms_of_parts():
    compiled = autoconv.compile(overlapping_blocks)
    for size in (40, 43, 41, 5):
        x, h = DRAW.normal(size=size), DRAW.normal(size=4)
        np.testing.assert_allclose(compiled(x, h), np.convolve(x, h), rtol=1e-9, atol=1e-12)
    assert "plain Python" not in compiled.explain()

    def padded(x, k):
        return np.fft.fft(x[:k], 6), np.fft.rfft(x[k:], 3), np.fft.fft(np.outer(x, x)[:k], 4, axis=0)

    compiled = autoconv.compile(padded)
    x = DRAW.normal(size=9)
    for k in (1, 8, 5, 3):
        for found, expected in zip(compiled(x, k), padded(x, k), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
