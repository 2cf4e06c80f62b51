"""Arrays that a compiled function changes in place: arguments, results, and views of both."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import autoconv as ac


def check(function, *calls):
    """Compare results and changed arguments with plain Python, in one trace and without plain runs."""
    compiled = ac.compile(function)
    for arguments in calls:
        compiled_arguments, plain_arguments = copy.deepcopy(arguments), copy.deepcopy(arguments)
        found, expected = compiled(*compiled_arguments), function(*plain_arguments)
        np.testing.assert_equal(found, expected)
        for actual_part, expected_part in zip(compiled_arguments, plain_arguments, strict=True):
            np.testing.assert_array_equal(actual_part, expected_part)
    assert "plain Python" not in compiled.explain(), compiled.explain()
    assert compiled.experimental_get_tracing_count() == 1


A, B = np.arange(4.0), np.arange(4.0) * 2


def test_writes_in_a_loop():
    def f(a, n):
        for i in range(n):
            a[i] = a[i] * 2
        return a.sum()

    check(f, (A, 3), (A, 0), (A, 4))


def test_writes_of_computed_arrays():
    def f(a, n):
        b = a + 1
        b[0] = n
        for i in range(n):
            b[i] += 1
        return b

    check(f, (A, 3), (A, 0))


def test_views():
    def f(a, n):
        b = a * 2
        v = b[1:]
        if n > 1:
            v[0] = 7.0
        b += 1
        return b, v.sum()

    check(f, (A, 3), (A, 0))


def test_names_that_are_swapped():
    def f(a, b, n):
        u, v = a, b
        for _ in range(n):
            u[0] += 1
            u, v = v, u
        return u.sum() * 10 + v.sum()

    check(f, (A, B, 3), (A, B, 2), (A, B, 0))


def test_one_of_two_arrays_is_written():
    def f(a, b, n):
        v = a if n > 1 else b
        v[0] = 100
        return a.sum() - b.sum()

    check(f, (A, B, 3), (A, B, 1))


def test_a_condition_that_reads_an_array_written_in_the_body():
    def f(a, n):
        i = 0
        while a[i] < n:
            a[i] += 1.5
            if a[i] >= n:
                i += 1
            if i >= len(a):
                break
        return i, a * 2

    check(f, (A, 3), (A, 0))


def test_writes_before_an_error_stay():
    def f(a, n):
        for i in range(n):
            a[i] = -1.0
        return a[0]

    compiled = ac.compile(f)
    compiled_array, plain_array = A.copy(), A.copy()
    for function, array in ((compiled, compiled_array), (f, plain_array)):
        with pytest.raises(IndexError):
            function(array, 6)
    np.testing.assert_array_equal(compiled_array, plain_array)


def test_overlapping_arguments():
    def f(a, b, n):
        for i in range(n):
            b[i] += a[i]
        return a.sum()

    compiled = ac.compile(f)
    compiled_array, plain_array = np.arange(6.0), np.arange(6.0)
    assert compiled(compiled_array[:-1], compiled_array[1:], 5) == f(plain_array[:-1], plain_array[1:], 5)
    np.testing.assert_array_equal(compiled_array, plain_array)


def test_assigned_values_are_read_before_the_write():
    def spread(x):
        x[::2] = x[0:3]

    def column(x, rows):
        x[:] = rows[:, 1]

    line = np.arange(10, 16)
    ac.compile(spread)(line)
    assert line.tolist() == [10, 11, 11, 13, 12, 15]  # NumPy 2.4 reads the 11 that it has just written
    base = np.arange(42.0)
    ac.compile(column)(base[3:9], base[:36].reshape(6, 6))
    assert base[:10].tolist() == [0, 1, 2, 1, 7, 13, 19, 25, 31, 9]


def test_views_of_arguments_are_returned_as_views():
    def f(a, n):
        return a if n > 2 else a[1:]

    def g(a):
        return a, a[::-1], a.reshape(2, 2)

    for n in (3, 1):
        argument = A.copy()
        found = ac.compile(f)(argument, n)
        argument[2] = 50.0
        np.testing.assert_array_equal(found, f(argument, n))
    compiled, argument = ac.compile(g), A.copy()
    same, reversed_view, square = compiled(argument)
    assert same is argument and reversed_view.base is argument and np.shares_memory(square, argument)
    assert "plain Python" not in compiled.explain()


def test_lists_of_arrays_without_elements_have_the_dtype_of_the_arrays():
    def added(x):
        x += [x[0], x[1]]
        return x

    for call in (added, ac.compile(added)):
        with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(3,0\) \(2,0\) \(3,0\)"):
            call(np.ones((3, 0), np.uint64))
