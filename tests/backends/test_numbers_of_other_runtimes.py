"""Rounding, the order of complex numbers, and custom gradients by the backend `xla`, against Python and NumPy."""

import math
import random

import numpy as np
import pytest

import autoconv

pytest.importorskip("jaxlib")


@pytest.fixture(autouse=True)
def by_xla(monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "backend", "xla")
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")


def test_rounding_to_digits_is_exact():
    """Decimal digits are those of Python, also where the product with a power of ten rounds to a tie."""

    @autoconv.compile
    def rounded(x):
        return round(x, 1), round(x, 2), round(x, 5)

    draw = random.Random(0)
    ties = [round(draw.uniform(-100, 100), 1) + 0.05 for _ in range(60)] + [k / 1000 + 0.0005 for k in range(60)]
    for x in [*ties, 2.675, 1.115, 0.285, -0.04, -0.0, 1e300, 5e-324, 123456789.125, 2.5e15 + 0.25, math.inf]:
        assert repr(rounded(x)) == repr((round(x, 1), round(x, 2), round(x, 5))), x
    assert "compiled by XLA" in rounded.explain()


@pytest.mark.parametrize("shape", [(12,), (3, 4)])
def test_complex_numbers_are_sorted_as_numpy_sorts_them(shape):
    parts = (2, 1, np.nan)
    pairs = [*((a, b) for a in (1, 0, np.nan) for b in parts), (3, 0), (0, 1), (2, 0)]
    numbers = np.array([complex(*pair) for pair in pairs]).reshape(shape)
    ordered = autoconv.compile(lambda x: np.sort(x, axis=0))
    np.testing.assert_array_equal(ordered(numbers), np.sort(numbers, axis=0))
    assert "compiled by XLA" in ordered.explain()


def test_functions_with_custom_gradients_keep_their_results():
    """Only the gradient is another one: this held for native code, while other runtimes ran the gradient's function."""

    @autoconv.custom_gradient
    def doubled(x):
        return 2.0 * x, lambda upstream: 5.0 * upstream

    @autoconv.function
    def with_slope(x):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = doubled(x) + 1.0
        return y, tape.gradient(y, x)

    x = autoconv.constant([1.0, -3.0])
    for result in (autoconv.function(lambda x: doubled(x) + 1.0)(x), with_slope(x)[0]):
        np.testing.assert_array_equal(result, [3.0, -5.0])
    np.testing.assert_array_equal(with_slope(x)[1], [5.0, 5.0])
    assert "compiled by XLA" in with_slope.explain()
