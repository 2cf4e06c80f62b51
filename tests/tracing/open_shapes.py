"""Functions of open sizes, and whether one compilation serves all of their calls."""

from __future__ import annotations

import numpy as np

import autoconv
from autoconv.tracing.execute.symbolic_shapes import ByShape

LENGTHS = (7, 2, 3, 100, 16, 17, 5, 64, 1000, 33, 8, 4, 31, 250, 9, 12, 6, 77, 128, 19)


def spec(*shape, dtype=autoconv.float32):
    return autoconv.TensorSpec(shape, dtype)


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def by_shape(f) -> ByShape:
    run = f.get_concrete_function()._compiled
    assert isinstance(run, ByShape)
    return run


def compiled_once(f):
    """Whether one code served every call, all of it native."""
    assert f.experimental_get_tracing_count() == 1
    assert by_shape(f).compilations == 1
    assert not f.get_concrete_function().kernels


def close(found, expected, rtol=2e-5):
    found = found.numpy()
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-5)
