"""Histograms by ops: counts, densities and edges are NumPy's, also for elements at the edges of bins."""

import numpy as np

import autoconv as ac
from tests.numpy.agreement import outcome

RANDOM = np.random.default_rng(0)
SPREAD = (
    RANDOM.normal(size=100), RANDOM.normal(size=(30, 7)), np.arange(60) / 10, np.linspace(0, 1, 129), np.ones(4),
    RANDOM.integers(-5, 9, 90), RANDOM.integers(0, 200, 50).astype(np.uint8), RANDOM.normal(size=13)[::2],
)  # fmt: skip
OTHERS = (
    np.array([0.0, 5e-324]), np.zeros(0), np.float32([1, 2, 2.5]), np.array([2**60, 1, 2]), np.array([np.nan, 1.0]),
    np.array([1e308, -1e308]), np.array([np.inf, 1.0]),
)  # fmt: skip


def count(x):
    return np.histogram(x), np.histogram(x, bins=64), np.histogram(x, 7, density=True)


def count_within_bounds(x):
    counts, edges = np.histogram(x, bins=7, range=(-1, 0.7))
    return counts / 2, edges, np.histogram(x, 3, range=(1, 1))


def test_elements_are_counted_in_equal_bins():
    for function in (count, count_within_bounds):
        compiled = ac.compile(function)
        for x in SPREAD:
            assert outcome(compiled, [x]) == outcome(function, [x])
        assert "plain Python" not in compiled.explain() and "kernels" not in compiled.explain()
        for x in OTHERS:
            np.testing.assert_equal(outcome(compiled, [x]), outcome(function, [x]))
