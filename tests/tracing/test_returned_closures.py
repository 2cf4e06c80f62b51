"""Under `compile`, functions, methods, partials, slices and classes that refer to values of a call and outlive it."""

import functools
import operator

import numpy as np
import pytest

import autoconv

LOG = []


class Box:
    def __init__(self, n):
        self.n = n

    def plus(self, k=0):
        return self.n + k


def functions_of_a_loop(n):
    found = []
    for i in range(n):
        found.append(lambda: i)  # noqa: B023
    return [f() for f in found[:1]], found


def functions_of_a_function(n):
    def times(k):
        def product():
            return k * n

        return product

    found = []
    for i in range(n):
        found.append(times(i))
    return found


def partials(n):
    found = {}
    for i in range(n):
        found[i] = functools.partial(operator.add, i, n)
    return list(found.values())


def methods(n):
    found = []
    for i in range(n):
        found.append(Box(i).plus)
    return found


def defaults(n):
    found = []
    for i in range(n):
        found.append(lambda k=i: k + 1)
    return found


def one_of_a_loop(n):
    last = None
    for i in range(n):
        if i == 1:
            last = lambda: i  # noqa: B023
    return [] if last is None else [last]


def stored_outside(n):
    for i in range(n):
        LOG.append(lambda: i)  # noqa: B023
    return LOG


def methods_of_a_class_of_the_call(n):
    class Inner:
        start = n

        def plus(self):
            return self.start + n

    return [Inner().plus]


def objects_of_a_class_of_the_call(n):
    class Inner:
        def __init__(self, k):
            self.k = k

        def __call__(self):
            return self.k + n

    found = []
    for i in range(n):
        found.append(Inner(i))
    return found


def arguments_of_an_exception(n):
    try:
        for i in range(n):
            if i == 2:
                raise ValueError(i, slice(i), lambda: i)  # noqa: B023
    except ValueError as error:
        bounds = error.args[1]
        return [error.args[2], lambda: (bounds.start, bounds.stop)]
    return []


def one_of_two_of_a_try(n):
    try:
        if n > 2:
            found = lambda: n
        else:
            found = lambda: -n
        10 // (n - 3)
    except ZeroDivisionError:
        return [found]
    return []


def the_last_that_a_try_bound(n):
    found = lambda: -n
    try:
        10 // (n - 2)
        found = lambda: n
        10 // (n - 3)
        found = abs
    except ZeroDivisionError:
        return [found]
    return []


def results(found):
    if isinstance(found, tuple):
        found = [*found[0], *found[1]]
    return [f() if callable(f) else f for f in found]


@pytest.mark.parametrize(
    "program",
    [
        functions_of_a_loop, functions_of_a_function, partials, methods, defaults, one_of_a_loop, stored_outside,
        methods_of_a_class_of_the_call, objects_of_a_class_of_the_call, arguments_of_an_exception, one_of_two_of_a_try,
        the_last_that_a_try_bound,
    ],
)  # fmt: skip
def test_closures_have_the_values_of_plain_python(program):
    compiled = autoconv.compile(program)
    for n in (3, 2, 0, 4):
        found = []
        for function in (program, compiled):
            LOG.clear()
            found.append(results(function(n)))
        assert found[0] == found[1]


def test_methods_of_arrays_and_numbers():
    def of_an_array(x, n):
        found = []
        if n > 1:
            found.append(x.sum)
        return found

    def of_a_new_array(x, n):
        found = {}
        for i in range(n):
            found[i] = (x * i).max
        return list(found.values())

    def of_a_number(x, n):
        found = []
        for _ in range(n):
            found.append(n.bit_length)
        return found

    for f in (of_an_array, of_a_new_array, of_a_number):
        compiled = autoconv.compile(f)
        for x, n in ((np.arange(3), 3), (np.arange(3) + 1, 1), (np.arange(3) - 5, 2)):
            found = [method() for method in compiled(x, n)]
            assert found == [method() for method in f(x, n)]
            assert {type(value) for value in found} <= {np.int64, int}


def test_each_call_makes_new_functions():
    def f(n):
        found = []
        for _ in range(n):
            found.append(lambda k: k + 1)
        return found

    compiled = autoconv.compile(f)
    first, second = compiled(1)[0], compiled(1)[0]
    assert first is not second
    assert (first(2), second(3), first.__qualname__) == (3, 4, f(1)[0].__qualname__)


def test_a_slice_in_an_exception():
    def f(n):
        try:
            for i in range(n):
                if i == 2:
                    raise ValueError(i, slice(i, n))
        except ValueError as error:
            return error.args
        return ()

    compiled = autoconv.compile(f)
    assert [compiled(n) for n in (3, 2, 5)] == [f(n) for n in (3, 2, 5)] == [(2, slice(2, 3)), (), (2, slice(2, 5))]


def test_functions_that_do_not_outlive_the_call_are_staged():
    def in_a_try(n):
        try:
            add = lambda k: k + n
            half = 10 // n
        except ZeroDivisionError:
            return add(1)
        return add(half)

    def one_of_two(n):
        a, b = (lambda: n), (lambda: n * 2)
        f = a
        for _ in range(n):
            f = b if f is a else a
        return f()

    def of_a_list(n):
        functions = []
        for i in range(3):
            functions.append(lambda k, i=i: k + i + n)
        return [f(1) for f in functions]

    for f in (in_a_try, one_of_two, of_a_list):
        compiled = autoconv.compile(f)
        assert [compiled(n) for n in (3, 2, 0, 4)] == [f(n) for n in (3, 2, 0, 4)]
        assert "plain Python" not in compiled.explain()


def test_keys_to_sort_by():
    def outside(n):
        LOG.sort(key=lambda v: -v)
        return LOG[0] + n

    def with_a_value(n):
        LOG.sort(key=lambda v: -v * n)
        return LOG[0] + n

    def grown(n):
        found = []
        for i in range(n):
            found.append(i)
        found.sort(key=lambda v: -v)
        return found, sorted(found, key=lambda v: v % 2)

    for f, is_staged in ((outside, True), (with_a_value, False), (grown, True)):
        compiled = autoconv.compile(f)
        for n in (3, -2, 4):
            LOG[:] = [3, 1, 2]
            expected = f(n), [*LOG]
            LOG[:] = [3, 1, 2]
            assert (compiled(n), LOG) == expected
        assert ("plain Python" not in compiled.explain()) == is_staged
