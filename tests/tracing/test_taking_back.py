"""Calls with arrays that meet an int beyond 64 bits: Python's result, and every array as Python leaves it."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.ops.overlaps import written_parameters


def counts_places(values, bins):
    counts = np.zeros(3, dtype=np.int64)
    last = 0
    for value in values:
        last = int(value * bins)
        counts[last % 3] += 1
    return counts, last


def test_arrays_that_are_only_read_need_no_taking_back():
    f = ac.compile(counts_places)
    values = np.array([0.25, 0.5, 1.0])
    for bins in (8, 10, 2**62, 9):
        counts, last = f(values, bins)
        expected, other = counts_places(values, bins)
        assert counts.tolist() == expected.tolist() and last == other
    larger = np.array([0.25, 1e30, 1.0])  # int(1e30) has 100 bits
    counts, last = f(larger, 1)
    expected, other = counts_places(larger, 1)
    assert counts.tolist() == expected.tolist() and last == other
    assert larger.tolist() == [0.25, 1e30, 1.0]
    (trace,) = f.concrete_functions
    assert trace.can_run_again and f._straight, "calls go straight to native code"
    assert "one call:" in f.explain()


def test_an_array_that_was_written_is_written_once():
    def f(source, target, n):
        for i in range(4):
            target[i] += source[i]
            n = n * 10**6
        return n

    compiled = ac.compile(f)
    source = np.arange(1, 5)
    for n in (1, 5, 2**40, 3):
        ours, theirs = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
        assert compiled(source, ours, n) == f(source, theirs, n)
        assert ours.tolist() == theirs.tolist() == [1, 2, 3, 4]
    assert compiled.experimental_get_tracing_count() == 1
    assert written_parameters(compiled.concrete_functions[0].optimised) == [1]


def test_which_arrays_a_graph_writes_to():
    def f(a, b, c, either):
        target = b if either else np.zeros(3)
        view = target[1:]
        for i in range(c.shape[0]):
            view[0] += a[i] + c[i]
        return target

    compiled = ac.compile(f)
    for either in (True, False):
        ours, theirs = np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3)
        np.testing.assert_array_equal(compiled(*ours, either), f(*theirs, either))
        np.testing.assert_array_equal(ours, theirs)
    assert written_parameters(compiled.concrete_functions[0].optimised) == [1]


def test_a_number_of_another_class_in_a_list_behind_a_write_to_an_array():
    def summed(x, items):
        total = 0
        for i in range(len(items)):
            x[0] += 1.0
            total = total + (items[i] if x[0] > 0 else 1)
        return total

    compiled = ac.compile(summed)
    for items in ([1, 2], [3, 4, 5], [3, 2.5], [1, 1 + 2j], [True, 4]):
        mine, other = np.zeros(2), np.zeros(2)
        assert repr(compiled(mine, list(items))) == repr(summed(other, list(items)))
        assert mine.tolist() == other.tolist()


def test_a_scalar_of_another_class_behind_a_write_to_an_array():
    def masked(x, y, k):
        for _ in range(k):
            x &= 2.5 // y[x > 0]
        return x[1:]

    compiled = ac.compile(masked)
    for x, y in ((np.uint64(3), np.ones((2, 3), bool)), (np.uint64(5), np.ones((1, 4), bool))):
        for _ in range(2):
            with pytest.raises(TypeError) as expected:
                masked(x, y, 3)
            with pytest.raises(TypeError) as found:
                compiled(x, y, 3)
            assert str(found.value) == str(expected.value)
