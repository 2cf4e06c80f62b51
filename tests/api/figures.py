"""Figures of tensors compared within a tolerance, eagerly and in graphs, and gradients of sums of squares."""

import numpy as np

import autoconv as ac


def close(found, wanted, tolerance=2e-4):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=tolerance)


def both(function):
    """The function as it is, and as a graph."""
    return function, ac.function(function)


def gradients(function, *values):
    given = [ac.constant(value) for value in values]
    with ac.GradientTape() as tape:
        for value in given:
            tape.watch(value)
        found = ac.reduce_sum(function(*given) ** 2)
    return tape.gradient(found, given)
