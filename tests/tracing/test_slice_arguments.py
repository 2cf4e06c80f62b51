"""Slices as arguments: constants of a trace, alone and among the entries of an index."""

import numpy as np
import pytest

import autoconv

INDICES = (
    slice(1, 3), slice(None), slice(None, None, -1), (slice(None), None), (slice(0, 2), slice(1, None, 2)),
    (..., slice(-2, None)), (1, slice(3, 0, -2)),
)  # fmt: skip


def read(x, index):
    return x[index]


def write(x, index):
    x[index] = x[index] * 2
    return x


def describe(x, bounds):
    return bounds.start, bounds.step, bounds, isinstance(bounds, slice), bounds == slice(1, 3), x[bounds.stop or 0]


@pytest.mark.parametrize("function", [read, write])
def test_arrays_are_read_and_written_by_slices_that_are_given(function):
    compiled = autoconv.compile(function)
    for index in (*INDICES, *reversed(INDICES)):
        found, expected = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
        result, plain_result = compiled(found, index), function(expected, index)
        assert result.tolist() == plain_result.tolist() and found.tolist() == expected.tolist()
        assert np.shares_memory(result, found) and result.strides == plain_result.strides
    assert "plain Python" not in compiled.explain()


def test_bounds_are_attributes_and_the_slice_is_returned():
    compiled = autoconv.compile(describe)
    for bounds in (slice(1, 3), slice(0, 2, 5), slice(None), slice(1, 3)):
        result = compiled([5, 6, 7, 8], bounds)
        assert result == describe([5, 6, 7, 8], bounds)
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("bounds", [slice(True, 3), slice(np.int64(1), 3), slice([], 3), slice("a", None)], ids=repr)
def test_other_bounds_than_ints_run_plain(bounds):
    compiled = autoconv.compile(lambda bounds: (bounds, type(bounds.start)))
    for _ in range(3):
        assert compiled(bounds) == (bounds, type(bounds.start))
    assert "plain Python" in compiled.explain()
