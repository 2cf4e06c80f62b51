"""Gradients at edge points: zeros, ties, infinities and ends of domains, beside TensorFlow's values."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv

POINTS = ([0.0], [1.0], [-1.0], [np.inf], [2.0, 2.0, 1.0], [0.0, -2.0, 0.0])

# The gradients of the sum of the results at POINTS, by TensorFlow 2.21.
EXPECTED = {
    "norm": (autoconv.norm, "nan | 1 | -1 | nan | 0.666667 0.666667 0.333333 | 0 -1 0"),
    "norm, order 1": (lambda x: autoconv.norm(x, ord=1), "0 | 1 | -1 | 1 | 1 1 1 | 0 -1 0"),
    "norm, order inf": (lambda x: autoconv.norm(x, ord=np.inf), "0 | 1 | -1 | 1 | 0.5 0.5 0 | 0 -1 0"),
    "sqrt": (autoconv.sqrt, "inf | 0.5 | nan | 0 | 0.353553 0.353553 0.5 | inf nan inf"),
    "abs": (autoconv.abs, "0 | 1 | -1 | 1 | 1 1 1 | 0 -1 0"),
    "pow 1": (lambda x: autoconv.pow(x, 1.0), "1 | 1 | 1 | 1 | 1 1 1 | 1 1 1"),
    "pow -1": (lambda x: autoconv.pow(x, -1.0), "-inf | -1 | -1 | -0 | -0.25 -0.25 -1 | -inf -0.25 -inf"),
    "pow 3": (lambda x: x**3, "0 | 3 | 3 | inf | 12 12 3 | 0 12 0"),
    "0 to the power": (lambda x: autoconv.pow(0.0, x), "0 | 0 | nan | 0 | 0 0 0 | 0 nan 0"),
    "log": (autoconv.math.log, "inf | 1 | -1 | 0 | 0.5 0.5 1 | inf -0.5 inf"),
    "log1p": (autoconv.math.log1p, "1 | 0.5 | inf | 0 | 0.333333 0.333333 0.5 | 1 -1 1"),
    "reciprocal": (autoconv.math.reciprocal, "-inf | -1 | -1 | -0 | -0.25 -0.25 -1 | -inf -0.25 -inf"),
    "relu": (autoconv.nn.relu, "0 | 1 | 0 | 1 | 1 1 1 | 0 0 0"),
    "relu6": (autoconv.nn.relu6, "0 | 1 | 0 | 0 | 1 1 1 | 0 0 0"),
    "elu": (autoconv.nn.elu, "1 | 1 | 0.367879 | 1 | 1 1 1 | 1 0.135335 1"),
    "selu": (autoconv.nn.selu, "1.0507 | 1.0507 | 0.646769 | 1.0507 | 1.0507 1.0507 1.0507 | 1.0507 0.237933 1.0507"),
    "leaky_relu": (autoconv.nn.leaky_relu, "0.2 | 1 | 0.2 | 1 | 1 1 1 | 0.2 0.2 0.2"),
    "softplus": (autoconv.nn.softplus, "0.5 | 0.731059 | 0.268941 | 1 | 0.880797 0.880797 0.731059 | 0.5 0.119203 0.5"),
    "asin": (autoconv.asin, "1 | inf | inf | nan | nan nan inf | 1 nan 1"),
    "acosh": (autoconv.acosh, "nan | inf | nan | 0 | 0.57735 0.57735 inf | nan nan nan"),
    "atanh": (autoconv.atanh, "1 | inf | inf | -0 | -0.333333 -0.333333 inf | 1 -0.333333 1"),
    "erfinv": (autoconv.math.erfinv, "0.886227 | inf | inf | nan | nan nan inf | 0.886227 nan 0.886227"),
    "reduce_max": (autoconv.reduce_max, "1 | 1 | 1 | 1 | 0.5 0.5 0 | 0.5 0 0.5"),
    "reduce_min": (autoconv.reduce_min, "1 | 1 | 1 | 1 | 0 0 1 | 0 1 0"),
    "reduce_prod": (autoconv.reduce_prod, "1 | 1 | 1 | 1 | 2 2 4 | 0 0 -0"),
    "reduce_std": (
        autoconv.math.reduce_std,
        "nan | nan | nan | nan | 0.235702 0.235702 -0.471405 | 0.235702 -0.471405 0.235702",
    ),
    "reduce_variance": (
        autoconv.math.reduce_variance,
        "0 | 0 | 0 | nan | 0.222222 0.222222 -0.444444 | 0.444444 -0.888889 0.444444",
    ),
    "reduce_euclidean_norm": (
        autoconv.math.reduce_euclidean_norm,
        "nan | 1 | -1 | nan | 0.666667 0.666667 0.333333 | 0 -1 0",
    ),
    "logsumexp": (
        autoconv.reduce_logsumexp,
        "1 | 1 | 1 | nan | 0.422319 0.422319 0.155362 | 0.468311 0.0633789 0.468311",
    ),
    "l2_normalize": (autoconv.math.l2_normalize, "1000000 | 0 | 0 | nan | -0.0370371 -0.0370371 0.148148 | 0.5 0 0.5"),
    "clip_by_value": (lambda x: autoconv.clip_by_value(x, -1.0, 1.0), "1 | 1 | 1 | 0 | 0 0 1 | 1 0 1"),
    "clip_by_norm": (
        lambda x: autoconv.clip_by_norm(x, 1.0),
        "1 | 0 | 0 | nan | -0.037037 -0.037037 0.148148 | 0.5 0 0.5",
    ),
    "maximum(x, 0)": (lambda x: autoconv.maximum(x, 0.0), "1 | 1 | 0 | 1 | 1 1 1 | 1 0 1"),
    "minimum(x, 0)": (lambda x: autoconv.minimum(x, 0.0), "1 | 0 | 1 | 0 | 0 0 0 | 1 1 1"),
    "maximum(0, x)": (lambda x: autoconv.maximum(0.0, x), "0 | 1 | 0 | 1 | 1 1 1 | 0 0 0"),
    "xlogy": (lambda x: autoconv.math.xlogy(x, x), "0 | 1 | nan | nan | 1.69315 1.69315 1 | 0 nan 0"),
    "xlog1py": (lambda x: autoconv.math.xlog1py(x, x), "0 | 1.19315 | -inf | nan | 1.76528 1.76528 1.19315 | 0 nan 0"),
    "divide_no_nan": (lambda x: autoconv.math.divide_no_nan(x, x), "0 | 0 | 0 | nan | 0 0 0 | 0 0 0"),
    "unsorted_segment_max": (
        lambda x: autoconv.math.unsorted_segment_max(x, [0] * len(x), 1),
        "1 | 1 | 1 | 1 | 0.5 0.5 0 | 0.5 0 0.5",
    ),
    "max_pool1d": (
        lambda x: autoconv.nn.max_pool1d(autoconv.reshape(x, [1, -1, 1]), 2, 1, "SAME"),
        "1 | 1 | 1 | 1 | 1 1 1 | 1 0 2",
    ),
    "sigmoid cross entropy": (
        lambda x: autoconv.nn.sigmoid_cross_entropy_with_logits(labels=autoconv.ones_like(x), logits=x),
        "-0.5 | -0.268941 | -0.731059 | 0 | -0.119203 -0.119203 -0.268941 | -0.5 -0.880797 -0.5",
    ),
    "abs of a complex number": (
        lambda x: autoconv.abs(autoconv.complex(x, x)),
        "0 | 1.41421 | -1.41421 | nan | 1.41421 1.41421 1.41421 | 0 -1.41421 0",
    ),
}


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("name", EXPECTED)
def test_gradient_at_edges(name, in_graph):
    function, expected = EXPECTED[name]

    def gradient(x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            total = autoconv.reduce_sum(function(x))
        return tape.gradient(total, x)

    compute = autoconv.function(gradient) if in_graph else gradient
    for point, numbers in zip(POINTS, expected.split("|"), strict=True):
        found = compute(autoconv.constant(point)).numpy()
        np.testing.assert_allclose(found, [float(number) for number in numbers.split()], 3e-5, 1e-7, err_msg=f"{point}")


def test_extremes_of_segments_of_infinities():
    infinities = autoconv.constant([-np.inf, np.inf])
    assert autoconv.math.segment_max(infinities, [0, 2]).numpy().tolist() == [-np.inf, 0, np.inf]
    assert autoconv.math.segment_min(infinities, [0, 2]).numpy().tolist() == [-np.inf, 0, np.inf]


def test_gradient_of_nextafter():
    x, y = autoconv.constant([1.0, 2.0]), autoconv.constant(3.0)
    with autoconv.GradientTape() as tape:
        tape.watch([x, y])
        following = autoconv.math.nextafter(x, y)
    assert tape.gradient(following, x).numpy().tolist() == [1, 1]
