"""`numpy.polynomial`: its Python code is converted like the program's own."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial, chebyshev, hermite, legendre, polynomial

import autoconv
from autoconv.config import SETTINGS


def values(x, c):
    return polynomial.polyval(x, c), chebyshev.chebval(x, c), legendre.legval(x, c), hermite.hermval(x, c)


def value_of_an_object(x, c):
    return Polynomial([1.0, 2.0, 3.0])(x) * c[0]


def value_of_an_object_of_arguments(x, c):
    return Polynomial(c)(x), Polynomial(c[1:])(x).sum()


def values_beside_written_arrays(x, c):
    x += 1
    return polynomial.polyval(x, np.array(c[0], ndmin=1)), np.array(c, ndmin=2) + x[:1]


@pytest.mark.parametrize(
    "function", [values, value_of_an_object, value_of_an_object_of_arguments, values_beside_written_arrays]
)
def test_as_numpy(function, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = autoconv.compile(function)
    for size in (5, 5, 6, 9):
        x = np.linspace(-1.0, 1.0, size)
        found, expected = (call(x.copy(), np.array([0.5, -2.0, 1.5])) for call in (compiled, function))
        for part, expected_part in zip(np.atleast_1d(*found), np.atleast_1d(*expected), strict=True):
            np.testing.assert_allclose(part, expected_part, rtol=1e-12)
    assert "plain" not in compiled.explain() and "objects" not in compiled.explain()


def test_gradient():
    gradient = autoconv.value_and_grad(autoconv.compile(lambda c: polynomial.polyval(2.0, c)))(np.ones(4))[1]
    np.testing.assert_array_equal(gradient, [1.0, 2.0, 4.0, 8.0])
