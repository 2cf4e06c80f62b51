"""Arrays that NumPy makes of lists, in functions, indices, loops and writes, and after wrong guesses of dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.tracing.list_arrays import INTS, A, check, check_staged, ops_of, outcome


def test_functions_that_take_lists():
    def statistics(a):
        out = []
        for x in a:
            if x > 0:
                out.append(x)
        extremes = np.max(out), np.min(out), np.argmax(out), np.argmin(out)
        others = np.any(out), np.all(out), np.prod(out[:3]), np.sort(out), np.median(out)
        return extremes, others, np.diff(out), np.unique(out), np.clip(out, None, 1.0), np.cumsum(out)

    def sums(n):
        out = []
        for i in range(n):
            out.append(i * 0.25)
        return np.sum(out), np.mean(out), np.std(out), np.var(out), np.linalg.norm(out), np.where(out, 1, 2)

    check_staged(statistics, (A,))
    check_staged(sums, (50,))


def test_functions_of_empty_lists():
    def most(n):
        out = []
        for i in range(n):
            out.append(i * 0.5)
        return np.max(out)

    compiled = check(most, (50,), (0,))
    assert "zero-size array" in str(outcome(compiled, (0,)))


def test_arrays_of_lists_as_operands():
    def chosen(a):
        keep = []
        for i in range(len(a)):
            if a[i] > 0:
                keep.append(i)
        return a[np.array(keep)] * 2 + 1

    check_staged(chosen, (A,))


def test_the_list_afterwards():
    def before_and_after(a):
        out = []
        for x in a:
            if x > 0:
                out.append(x)
        before = np.array(out)
        out.append(x)
        out[0] = x
        return before, out

    check_staged(before_and_after, (A,))


def test_arrays_of_lists_in_a_loop():
    def before(a):
        out = []
        total = 0.0
        for x in a:
            total += np.array(out).sum()
            out.append(x)
        return total

    def windows(a):
        out = []
        total = 0.0
        for x in a:
            out.append(x)
            if len(out) > 3:
                total += np.mean(out)
                out = []
        return total

    check_staged(before, (INTS * 0.5,))  # sums of so few halves are exact
    check_staged(windows, (INTS * 0.5,))


def test_called_functions():
    def add(out, x):
        if x > 0:
            out.append(x)

    def program(a):
        out = []
        for x in a:
            add(out, x)

        def mean(values):
            return np.max(values)

        return mean(out), np.array(out)

    check_staged(program, (A,))


def test_lists_as_arguments():
    def doubled(xs):
        return np.array(xs) * 2

    check_staged(doubled, ([*range(40)],))
    check_staged(doubled, ([0.5] * 40,))
    check_staged(doubled, ([[1.0, 2.0]] * 40,))
    calls = (([[[1, 2, 3], [4, 5, 6]]] * 40,), ([[[1, 2]]] * 40,), ([[[1], [2]], [[3], [4]]] * 20,))
    compiled = check_staged(doubled, *calls)
    assert "typed_list_array" in ops_of(compiled)
    check(doubled, ([[[1, 2, 3], [4, 5]]] * 40,), ([[[1, 2, 3], []]] * 40,), ([[[], []]] * 40,))
    check(doubled, ([*range(40)],), ([*range(20), 0.5, *range(20, 40)],))


def test_arrays_that_are_changed():
    def program(a):
        out = []
        for i in range(len(a)):
            a[i] += 1
            if a[i] > 0.5:
                out.append(a[i] * 2)
        found = np.array(out)
        found[0] = 7.0
        a[0] = found[1]
        return found

    check_staged(program, (A,), (A + 1,))
    with pytest.raises(IndexError):
        program(A - 100)
    check(program, (A - 100,))


def test_a_wrong_guess_leaves_nothing_behind():
    """Writes to an argument are undone before the call runs again."""

    def counted(a, n):
        out = []
        for i in range(n):
            out.append(i)
        a += 1
        return np.array(out)

    check(counted, (A.copy(), 50), (A.copy(), 0))


def test_a_wrong_guess_after_iterators_of_its_own():
    """The arguments are arrays as Python objects, and the loop iterates over an iterator that the call makes."""

    def program(a, t):
        out = []
        a[0] += 1
        for _i, x in enumerate(a):
            if x > t:
                out.append(x * 2)
            else:
                out.append([x, 1.0])
            if len(out) > 7:
                break
        return np.array([v for v in out])  # noqa: C416

    def zipped(xs, n):
        out = []
        for i in range(n):
            out.append(i)
        total = 0
        for x, y in zip(xs, out):  # noqa: B905
            total += x * y
        xs[0] += 1
        return np.array(out), total

    check(program, (A, -5.0), (A, 5.0), (A, 0.0))
    check(zipped, ([*range(40)], 50), ([*range(40)], 0))


def test_after_a_print(capsys):
    """A call that runs again prints no line twice."""

    def ints(n):
        out = []
        for i in range(n):
            out.append(i)
        print(len(out))
        return np.array(out)

    def floats(n):
        out = []
        for i in range(n):
            out.append(i * 0.5)
        print(len(out))
        return np.array(out)

    compiled = check(ints, (50,), (0,))
    assert "one call: a list became an array" in compiled.explain()
    check_staged(floats, (50,), (0,))
    assert capsys.readouterr().out == ("50\n" * 3 + "0\n" * 3) * 2


def test_texts_stay_plain():
    def texts(n):
        out = []
        for i in range(n):
            out.append(str(i))
        return np.array(out)

    compiled = check(texts, (40,))
    assert "numpy.array is given an object that is known only at run time" in compiled.explain()


def test_lists_as_indices():
    def taken(a):
        keep = []
        for i in range(len(a)):
            if a[i] > 0:
                keep.append(i)
        return a[keep], a[sorted(keep)], a[keep[1:]]

    def masked(a):
        keep = []
        for x in a:
            keep.append(x > 0)
        return a[keep]

    def written(a):
        keep = []
        for i in range(len(a)):
            if a[i] > 0:
                keep.append(i)
        a[keep] = 0.0
        a[keep] += 2
        return a.min()  # a sum may be added up in another order

    def places(a):
        rows, columns = [], []
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > 0:
                    rows.append(i)
                    columns.append(j)
        return a[rows, columns], a[:, columns[:2]]

    check_staged(taken, (A,), (-np.abs(A),))
    check_staged(masked, (A,))
    check_staged(written, (A,), (-np.abs(A),))
    check_staged(places, (A.reshape(7, 10),))

    def outside(a):
        keep = []
        for i in range(len(a)):
            keep.append(i * 2)
        return a[keep]

    assert "out of bounds" in str(outcome(check(outside, (A,)), (A,)))


def numbers_of_several_kinds(x, n):
    floats, ints, are_large = [], [], []
    for i in range(n):
        value = x[i]
        if value > 0.25:
            floats.append(value)
            ints.append(i * 3)
            are_large.append(i > 2)
    return np.array(floats), np.array(ints), np.array(are_large), np.array(floats).sum()


def test_arrays_of_typed_lists_are_copies_of_their_bytes():
    compiled = autoconv.compile(numbers_of_several_kinds)
    for dtype in (np.float64, np.float32):
        for n in (6, 1, 2):  # 1: nothing is gathered, and the arrays of empty lists are of float64
            x = np.array([0.0, 0.5, 1.0, 0.1, 2.0, 3.0], dtype)
            for found, expected in zip(compiled(x, n), numbers_of_several_kinds(x, n), strict=True):
                np.testing.assert_array_equal(found, expected, strict=True)
    assert "typed_list_array" not in compiled.explain()
