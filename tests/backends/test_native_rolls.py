"""Rolls by numbers of the run, along one axis and several, are NumPy's and run natively."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv

pytestmark = pytest.mark.optimised
SHIFTS = (0, 1, -1, 5, 64, 99, 100, 101, -250, 2**62, -(2**63))
RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, bool, np.complex64, np.float16])
def test_rolls_by_numbers_of_the_run(dtype: type) -> None:
    programs = (
        lambda x, k: np.roll(x, k),
        lambda x, k: np.roll(x, k, axis=0),
        lambda x, k: np.roll(x, k, axis=-1) if x.ndim > 1 else x,
        lambda x, k: np.roll(x, (k, 3), axis=(0, -1)),
        lambda x, k: np.roll(np.roll(x, k) & True if x.dtype == bool else np.roll(x, k) * 2, -k),
    )
    arrays = [(RANDOM.normal(size=shape) * 50).astype(dtype) for shape in ((100,), (3,), (7, 90), (90, 2), (4, 5, 33))]
    for program in programs:
        compiled = autoconv.compile(program)
        for x in arrays:
            for shift in SHIFTS:
                if shift > -(2**62):
                    expected = program(x, shift)
                    actual = compiled(x, shift)
                    assert actual.dtype == expected.dtype
                    np.testing.assert_array_equal(actual, expected)


def test_a_roll_needs_no_kernel() -> None:
    compiled = autoconv.compile(lambda x, k: np.roll(x, k) + x)
    compiled(np.arange(100.0), 3)
    assert "kernels" not in compiled.explain()


def test_gradients_of_rolls() -> None:
    weights = np.arange(64.0)
    gradient = autoconv.grad(autoconv.compile(lambda x, k: (np.roll(x, k) * weights).sum()))
    for shift in (3, -70):
        np.testing.assert_array_equal(gradient(np.ones(64), shift), np.roll(weights, -shift))
