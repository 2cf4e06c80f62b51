"""Compare tensors with figures, run functions eagerly and in graphs, and differentiate sums of squares."""

import numpy as np

import autoconv as ac


def assert_close(found, expected, tolerance=2e-4):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=tolerance)


def values(*tensors):
    return [tensor.numpy().tolist() for tensor in tensors]


def eager_and_staged(function):
    """Return the function itself, and as a graph."""
    return function, ac.function(function)


X = 2.0  # the argument of `everywhere`


def everywhere(body):
    """Return the results of `body(X)` eagerly, under `function` and under `compile`."""
    return [run(ac.constant(X)) for run in (body, ac.function(body), ac.compile(body))]


def gradients(function, *values):
    arguments = [ac.constant(value) for value in values]
    with ac.GradientTape() as tape:
        for value in arguments:
            tape.watch(value)
        found = ac.reduce_sum(function(*arguments) ** 2)
    return tape.gradient(found, arguments)
