"""Chains of row reductions over open rows: values are kept in the memory of results that are stored later."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac


def row_sums(x):
    return np.sum(x, axis=-1, keepdims=True)


def stored_before_a_read(x):
    tripled, powers = x * 3, np.exp(x)
    return tripled, powers - powers * row_sums(powers) + tripled * tripled


def three_results(x):
    tripled, powers, roots = x * 3, np.exp(x), np.sqrt(np.abs(x))
    shares = powers / row_sums(powers)
    return tripled, roots + tripled, shares * row_sums(roots) - tripled + roots


def softmax_with_gradient(x):
    squares = (x - 1) * (x - 1)
    shifted = x - np.max(x, axis=-1, keepdims=True)
    logarithms = shifted - np.log(row_sums(np.exp(shifted)))
    gradient = 2 * logarithms - np.exp(logarithms) * row_sums(2 * logarithms)
    return squares, logarithms, gradient + squares * squares


@pytest.mark.parametrize("program", [stored_before_a_read, three_results, softmax_with_gradient])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("open_shape", [(4, None), (None, None), (2, None, None)])
def test_results_are_those_of_numpy(program, dtype, open_shape):
    spec = ac.TensorSpec(open_shape, ac.as_dtype(dtype))
    graph = ac.function(lambda x: program(x), input_signature=[spec])
    for length in (1, 3, 5, 40, 700):
        shape = tuple(size or length for size in open_shape)
        x = np.random.default_rng(length).normal(size=shape).astype(dtype)
        for found, expected in zip(graph(x), program(x), strict=True):
            tolerance = 1e-3 if dtype is np.float32 else 1e-11
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * length)


SCANS_WITHOUT_STEPS = """
import autoconv as ac

scan = ac.function(
    lambda x, first: [ac.math.cumprod(x[first:], axis=0), ac.cumsum(x[first:], axis=0, exclusive=True), x + 1.0],
    input_signature=[ac.TensorSpec([None, None]), ac.TensorSpec([], ac.int32)],
)
for _ in range(20):
    for first in (0, 3):
        results = scan(ac.ones([3, 5000]), ac.constant(first))
        assert [result.numpy().shape for result in results] == [(3 - first, 5000)] * 2 + [(3, 5000)]
"""


def test_scans_of_open_length_write_nothing_where_there_are_no_steps(forker, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(SCANS_WITHOUT_STEPS)
    completed = forker.run([file])
    assert completed.returncode == 0, completed.stderr
