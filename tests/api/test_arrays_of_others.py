"""Objects of other libraries with `__array__`: the tensor has the dtype of their array."""

import numpy as np
import pytest

import autoconv as ac


class Series:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


@pytest.mark.parametrize("values", [[1e300, 2.0], [1, 2], np.array([1, 2], np.float32), [True, False], ["a", "b"]])
def test_the_dtype_is_the_arrays(values):
    series = Series(values)
    expected = ac.constant(series.values)
    for tensor in (ac.constant(series), ac.convert_to_tensor(series), ac.function(lambda: ac.constant(series))()):
        assert tensor.dtype == expected.dtype and tensor.numpy().tolist() == expected.numpy().tolist()
    assert ac.constant([series, series]).dtype == expected.dtype


def test_a_tensor_stays_what_it_is():
    series = Series([1.5])
    tensor = ac.constant(series)
    series.values[0] = 7
    assert tensor.numpy().tolist() == [1.5]
    assert ac.constant(series, ac.float32).numpy() == np.float32(7)


@pytest.mark.parametrize("run", [lambda f: f, ac.function])
def test_arrays_of_two_dtypes(run):
    wide, narrow = np.full(2, 0.1), np.full(2, 0.5, np.float32)
    assert run(lambda: ac.add(wide, narrow))().dtype is ac.float64
    assert run(lambda: ac.maximum(narrow, wide))().dtype is ac.float32
    assert run(lambda: ac.tensor_scatter_nd_update(wide, [[0]], narrow[:1]))().numpy().tolist() == [0.5, 0.1]
