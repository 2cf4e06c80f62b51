"""Reductions between positions: as NumPy computes them, in native loops for vectors of numbers."""

import numpy as np
import pytest

import autoconv


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
def test_vectors(name, dtype):
    ufunc = getattr(np, name)
    compiled = autoconv.compile(lambda v, places: ufunc.reduceat(v, places))
    draw = np.random.default_rng(1)
    for size in (50, 7, 1, 60, 50):
        v = (draw.normal(size=size) * 3).astype(dtype)
        v[size // 2] = np.nan if v.dtype.kind == "f" else 1
        places = draw.integers(0, size, 9)
        found, expected = compiled(v, places), ufunc.reduceat(v, places)
        np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-13)
        assert found.dtype == expected.dtype
        for outside in (size, -1):
            with pytest.raises(IndexError, match=f"index {outside} out-of-bounds"):
                compiled(v, np.array([0, 0, 0, 0, 0, 0, 0, outside, 0]))


def test_rows_of_a_sparse_matrix():
    def product(data, columns, starts, x):
        return np.add.reduceat(data * x[columns], starts)

    compiled = autoconv.compile(product)
    draw = np.random.default_rng(2)
    for rows in (5, 40):
        data, columns = draw.normal(size=4 * rows), draw.integers(0, rows, 4 * rows)
        arguments = data, columns, np.arange(0, 4 * rows, 4), np.ones(rows)
        np.testing.assert_allclose(compiled(*arguments), product(*arguments), rtol=1e-13)
    assert "kernels" not in compiled.explain()
