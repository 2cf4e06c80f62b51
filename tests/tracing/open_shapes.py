"""Compare results of functions of open sizes, and check that one compilation served all calls."""

from __future__ import annotations

import numpy as np

import autoconv
from autoconv.tracing.execute.symbolic_shapes import MultiShapeGraph

LENGTHS = (7, 2, 3, 100, 16, 17, 5, 64, 1000, 33, 8, 4, 31, 250, 9, 12, 6, 77, 128, 19)


def spec(*shape, dtype=autoconv.float32):
    return autoconv.TensorSpec(shape, dtype)


def random_floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def by_shape(function) -> MultiShapeGraph:
    run = function.get_concrete_function().executable.compiled
    assert isinstance(run, MultiShapeGraph)
    return run


def assert_compiled_once(function):
    """Assert that one compilation served every call, without kernels."""
    assert function.experimental_get_tracing_count() == 1
    assert by_shape(function).compilations == 1
    assert not function.get_concrete_function().kernels


def assert_close(found, expected, rtol=2e-5):
    found = found.numpy()
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-5)
