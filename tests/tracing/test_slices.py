"""Slices as arguments and outer names: constants of a trace, alone and among the entries of an index."""

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


INNER = slice(1, -1)
PARTS = {"first": slice(0, 2), "columns": (slice(None), slice(1, 3))}


def read_outer(x):
    rows = [x[i].sum() for i in range(*INNER.indices(4))]
    return x[INNER] * 2, x[PARTS["first"]].sum(), x[PARTS["columns"]], rows


def test_a_change_of_an_outer_slice_is_seen(monkeypatch):
    compiled = autoconv.compile(read_outer)
    x = np.arange(12.0).reshape(4, 3)

    def check():
        for _ in range(2):
            assert repr(compiled(x)) == repr(read_outer(x))

    check()
    monkeypatch.setitem(globals(), "INNER", slice(0, 1))
    check()
    monkeypatch.setitem(PARTS, "first", slice(0, 3))
    check()
    assert "plain Python" not in compiled.explain()


def test_a_list_in_an_outer_slice_is_compared():
    bounds = slice([1], 2)
    compiled = autoconv.compile(lambda x: (x + 1, len(bounds.start)))
    assert compiled(1) == (2, 1)
    bounds.start.append(2)
    assert compiled(1) == (2, 2)
