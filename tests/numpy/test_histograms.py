"""Histograms by ops: counts, densities and edges are NumPy's, also for elements at the edges of bins."""

import numpy as np

import autoconv as ac
from autoconv.config import SETTINGS
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


def test_float32_is_counted_in_bins_of_float32():
    compiled = ac.compile(count)
    for x in SPREAD:
        x = (np.asarray(x) * 37.3).astype(np.float32)
        assert outcome(compiled, [x]) == outcome(count, [x])
    assert "plain Python" not in compiled.explain() and "kernels" not in compiled.explain()


def test_bins_that_are_narrower_than_numbers_are_apart(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(count)
    for unit, dtype in ((2.0**-23, np.float32), (2.0**-52, np.float64)):
        for width in (1, 2, 30, 63, 64, 65, 200, 1000, 10**6):
            x = np.array([1, 1 + unit, 1 + width * unit], dtype)
            assert outcome(compiled, [x]) == outcome(count, [x])
            assert outcome(compiled, [-x]) == outcome(count, [-x])


def count_between_edges(x):
    edges = np.array([-1.0, -0.5, 0.0, 0.0, 2.0, 2.0])
    return np.histogram(x, edges), np.histogram(x, bins=[-3, 0, 4]), np.histogram(x, edges[:3], density=True)


def add_weights(x):
    weights = x * 0.25 - 1
    counts, edges = np.histogram(x, bins=5, range=(-2, 2), weights=weights)
    return counts.round(9), edges, np.histogram(x, [-1.0, 0.5, 3.0], weights=weights)[0].round(9)


def count_in_cells(x):
    y = x[::-1] * 2.0
    counts, *edges = np.histogram2d(x, y, bins=[3, np.array([-1.0, 0.0, 5.0])])
    return counts, edges, np.histogram2d(x, y), np.histogram2d(x, y, bins=4, density=True)[0].round(9)


def count_in_cells_within_bounds(x):
    y = x[::-1] * 0.5
    mixed = np.histogram2d(x, y, bins=[np.array([-1.0, 0.0, 5.0]), 7], range=[[8, 9.0], None])
    weighted = np.histogram2d(x, y, 3, [(0, 2), (-0.5, 0.5)], weights=x * 0.5)[0].round(9)
    return np.histogram2d(x, y, bins=20, range=[[-1, 0.7], [0, 0.3]]), mixed, weighted


def test_elements_are_counted_in_given_bins_and_cells():
    vectors = [x for x in SPREAD if x.ndim == 1 and x.dtype != np.uint8]
    for function in (count_between_edges, add_weights, count_in_cells, count_in_cells_within_bounds):
        compiled = ac.compile(function)
        for x in vectors:
            np.testing.assert_equal(outcome(compiled, [x]), outcome(function, [x]))
        assert "plain Python" not in compiled.explain() and "kernels" not in compiled.explain()
        for x in OTHERS:
            np.testing.assert_equal(outcome(compiled, [x]), outcome(function, [x]))


def test_edges_that_decrease():
    def count_between(x, edges):
        return np.histogram(x, edges)[0]

    compiled = ac.compile(count_between)
    for edges in (np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 1.0]), np.array([0.0, np.nan, 1.0])):
        for x in (np.arange(4.0), np.array([0.5, np.nan, np.inf, 2.0])):
            np.testing.assert_equal(outcome(compiled, [x, edges]), outcome(count_between, [x, edges]))
