"""Python's floats beyond float32, and lists of Python's numbers of several kinds, as TensorFlow 2.21 converts them."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv

MESSAGE = "Can't convert Python sequence with out-of-range double to Tensor."


@pytest.mark.parametrize("value", [1e300, -1e39, 3.4028236e38, [1.0, 1e300], [[float("nan")], [1e39]]])
def test_floats_beyond_float32(value):
    for convert in (autoconv.constant, autoconv.Variable, autoconv.convert_to_tensor, autoconv.reduce_sum):
        with pytest.raises(ValueError, match=MESSAGE):
            convert(value)


def test_floats_that_fit_or_have_a_dtype():
    assert autoconv.constant(3.4028235e38).numpy() == np.finfo(np.float32).max
    assert np.isinf(autoconv.constant([1.0, float("inf")]).numpy()).tolist() == [False, True]
    assert np.isnan(autoconv.constant([float("nan")]).numpy()).all() and autoconv.constant([[]]).shape == (1, 0)
    assert autoconv.constant(1e300, autoconv.float64).numpy() == 1e300
    assert np.isinf((autoconv.constant([1.0]) * 1e300).numpy()).all()


def test_stacks_of_numbers():
    assert autoconv.stack([1, 2.5]).numpy().tolist() == [1.0, 2.5] and autoconv.stack([1, 2.5]).dtype == "float32"
    assert autoconv.stack([]).shape == (0,) and autoconv.stack([1, 2]).dtype == "int32"
    assert autoconv.function(lambda: autoconv.stack([3, 0.5]))().numpy().tolist() == [3.0, 0.5]
