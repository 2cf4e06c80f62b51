"""RuntimeWarnings of elements that a mask leaves out: NumPy computes them and warns, as does a compiled function."""

import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS

PROGRAMS = [
    lambda x: np.where(x > 0, 1 / x, 0),
    lambda x: np.where(x > 0, np.sqrt(x), -1.0).max(),
    lambda x: np.where(x > 0, x**0.5, x),
    lambda x: np.where(x > 0, 1 / x, 1 / (x - 1)).sum(),
    lambda x: (1 / x)[x > 0].sum(),
    lambda x: np.sum(1 / x, where=x > 0),
    lambda x: np.where(x > 0, np.log(x), 0),
]


@pytest.mark.optimised
@pytest.mark.parametrize("size", [3, 300])
def test_elements_that_a_mask_leaves_out(size, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    x = np.resize(np.array([2, 0, 3, -1, 5], np.float32 if size == 300 else float), size)
    for program in PROGRAMS:
        compiled = autoconv.compile(program)
        for _ in range(3):  # before NumPy's own call, which leaves the processor's flags as they are
            found, texts = _result_and_warnings(compiled, x)
            expected, expected_texts = _result_and_warnings(program, x)
            np.testing.assert_allclose(found, expected, rtol=1e-6)
            assert texts == expected_texts
            np.add(1.0, 1.0)  # clears the flags
        assert "1 trace" in compiled.explain()


def _result_and_warnings(function, x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        value = function(x)
    return value, [str(item.message) for item in found]


@pytest.mark.optimised
def test_quotients_of_16_bits_that_a_mask_leaves_out(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = autoconv.compile(lambda x: np.where(x > 0, 1 / x, np.sqrt(x)))
    for values in ([2, 0, 3], [2, -1, 3], [2, 1, 3]):
        x = np.array(values, np.float16)
        found, texts = _result_and_warnings(compiled, x)
        expected, expected_texts = _result_and_warnings(lambda x: np.where(x > 0, 1 / x, np.sqrt(x)), x)
        np.testing.assert_array_equal(found, expected)
        assert texts == expected_texts
