"""Functions that return new arrays do so where their result equals an argument; the caller may change one of them."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv


@pytest.mark.parametrize("dtype", [float, int])
@pytest.mark.parametrize(
    "result",
    ["+y", "np.positive(y)", "np.conj(y)", "np.conjugate(y)", "np.abs(y)", "np.block(y)", "np.nan_to_num(y)",
     "np.floor(y)", "np.ceil(y)", "np.trunc(y)", "np.fix(y)", "np.rint(y)", "np.round(y)", "np.concatenate([y])",
     "y * 1", "y + 0", "np.maximum(y, y)", "np.roll(y, 0)", "np.tile(y, 1)", "np.copy(y)", "y.conj()", "np.asarray(y)",
     "y[...]", "y.reshape(y.shape)", "np.squeeze(y)", "np.diff(y, n=0)"],
)  # fmt: skip
def test_results_share_memory_as_in_numpy(result, dtype):
    names = {"np": np}
    exec(f"def f(x):\n    y = x * 2\n    return y, {result}", names)
    x = np.arange(1, 7).reshape(2, 3).astype(dtype)
    for _ in range(2):
        first, second = autoconv.compile(names["f"])(x)
        expected_first, expected_second = names["f"](x)
        assert np.shares_memory(first, second) == np.shares_memory(expected_first, expected_second)
        assert second.dtype == expected_second.dtype and second.tolist() == expected_second.tolist()


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (1, 1), (1, 3)])
def test_rows_of_a_copy_with_a_last_dimension(shape):
    def f(m):
        ends = m[:, [0, -1]]
        copy = np.copy(np.matrix_transpose(np.stack([ends])[None]))
        columns = np.expand_dims(copy[0], -1)
        columns[1:] = columns[:-1].copy()
        return ends, copy

    m = np.arange(float(np.prod(shape))).reshape(shape)
    compiled = autoconv.compile(f)
    compiled(np.ones((3, 4))), compiled(np.ones((4, 3)))
    for found, expected in zip(compiled(m), f(m), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_large_constants_are_made_in_each_call():
    compiled = autoconv.compile(lambda x: x * np.hamming(len(x)))
    for x in (np.arange(100.0), np.arange(100_000.0)):
        np.testing.assert_array_equal(compiled(x), x * np.hamming(len(x)))
    assert "plain Python" not in compiled.explain()
