"""Lists that the running graph fills and NumPy makes arrays of: types, dtypes and values are plain Python's."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.tracing.list_arrays import A, check, check_staged, ops_of, outcome

# ---- numbers of one kind


def positive(a):
    out = []
    for x in a:
        if x > 0:
            out.append(x * 2)
    return np.array(out)


def comprehension(a):
    return np.array([x * 2 for x in a])


def squares(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return np.array(out)


def halves(n):
    return np.array([i / 2 for i in range(n)])


def bools(a):
    out = []
    for x in a:
        out.append(x > 0)
    return np.array(out)


def python_bools(n):
    out = []
    for i in range(n):
        out.append(i > 4)
    return np.array(out)


def assigned(n):
    out = [0.0] * n
    for i in range(n):
        out[i] = i * 0.5
    return np.array(out)


def slices(n):
    out = []
    for i in range(n):
        out.append((i * 7) % 11)
    return np.array(out[1:]), np.array(sorted(out)), np.array(out[::-1])


@pytest.mark.parametrize(
    "function, arguments",
    [
        (positive, A), (positive, A.astype(np.float32)), (positive, np.arange(-20, 60)), (comprehension, A), (bools, A),
        (comprehension, np.arange(2000.0)), (squares, 50), (halves, 50), (python_bools, 50), (assigned, 50),
        (slices, 50),
    ],
)  # fmt: skip
def test_numbers_of_one_kind_stay_numbers(function, arguments):
    """The list is never a Python object."""
    ops = ops_of(check_staged(function, (arguments,)))
    assert "typed_list_array" in ops
    assert not {"object_build", "object_method", "list_array"} & ops


def test_many_sizes():
    check_staged(squares, *((n,) for n in (1, 2, 5, 50, 1000)))
    check(comprehension, *((np.arange(float(n)),) for n in (0, 1, 2, 5, 33, 70)))
    check_staged(comprehension, (A[:5],))


def test_empty_lists():
    """An empty list becomes an array of float64, whatever items the program appends."""
    check_staged(positive, (A,), (-np.abs(A),))
    compiled = check(squares, (50,), (0,), (-3,))
    assert "where this graph expected int64[?]" in compiled.explain()
    assert len(compiled.concrete_functions) == 1
    check(positive, (-np.abs(A).astype(np.float32),))


def test_ints_beyond_64_bits():
    def powers(n):
        out = []
        x = 1
        for _ in range(n):
            x *= 3
            out.append(x)
        return np.array(out)

    check(powers, (20,), (40,), (41,), (50,))


def test_explicit_dtypes():
    def singles(n):
        out = []
        for i in range(n):
            out.append(i * 0.1)
        return np.asarray(out, dtype=np.float32), np.array(out, "f8")

    def bytes_(n):
        out = []
        for i in range(n):
            out.append(i)
        return np.array(out, dtype=np.int8), np.array(out, np.float32)

    def whole(a):
        out = []
        for x in a:
            out.append(x * 3)
        return np.array(out, dtype=int)

    check_staged(singles, (50,), (0,))
    compiled = check_staged(bytes_, (50,), (500,))
    assert "OverflowError" in str(outcome(compiled, (500,)))
    check_staged(whole, (A,))
    check(whole, (np.append(A, np.nan),))


def test_a_dtype_without_tensors():
    def objects(n):
        out = []
        for i in range(n):
            out.append(i)
        return np.array(out, dtype=object)

    check(objects, (40,))


# ---- items of several kinds, and items that hold items


def test_ints_and_floats():
    def mixed(n):
        out = [0]
        for i in range(n):
            out.append(i / 2)
        return np.array(out)

    compiled = check(mixed, (50,), (0,))  # one int is an array of ints
    assert len(compiled.concrete_functions) == 1

    def running(a):
        out = [0.0]
        for x in a:
            out.append(out[-1] + x)
        return np.array(out)

    check_staged(running, (A,))


def test_items_of_two_kinds_from_an_arm():
    def decided(a, flag):
        out = []
        if flag > 0:
            for x in a:
                out.append(x)
        else:
            for x in a:
                out.append(int(x * 3))
        return np.array(out)

    compiled = check(decided, (A, 1.0), (A, -1.0))
    assert len(compiled.concrete_functions) == 1


def test_tuples_and_lists_as_items():
    def pairs(n):
        out = []
        for i in range(n):
            out.append((i, i * 0.5))
        return np.array(out)

    def table(n):
        rows = []
        for i in range(n):
            row = []
            for j in range(4):
                row.append(i * j)
            rows.append(row)
        return np.array(rows), np.array(rows, dtype=np.float32)

    def ragged(n):
        rows = []
        for i in range(n):
            row = []
            for j in range(i):
                row.append(j)
            rows.append(row)
        return np.array(rows)

    compiled = check_staged(pairs, (50,))
    (concrete,) = compiled.concrete_functions
    assert concrete.optimised.outputs[0].type.shape == (None, 2)
    check(pairs, (0,))
    assert "list_array" not in ops_of(check_staged(table, (50,), (1,)))
    check(table, (0,))
    assert "inhomogeneous" in str(outcome(check(ragged, (50,), (1,), (0,)), (50,)))


def test_lists_three_deep():
    def cube(n, m, k):
        out = []
        for i in range(n):
            rows = []
            for j in range(m):
                cells = []
                for p in range(k):
                    cells.append(i * j + p * 0.5)
                rows.append(cells)
            out.append(rows)
        return np.array(out)

    check_staged(cube, (40, 6, 7), (1, 40, 50), (40, 1, 1), (40, 3, 0))
    check(cube, (40, 0, 3), (0, 3, 3))


def test_rows_of_arrays():
    def rows(a):
        out = []
        for i in range(len(a)):
            out.append(a[i] * 2)
        return np.array(out)

    def changed(a):
        out = []
        for i in range(len(a)):
            a[i] *= 2
            out.append(a[i].copy())
        found = np.array(out)
        found[0, 0] = 9.0
        return found

    check_staged(rows, (A.reshape(35, 2),))
    check_staged(changed, (A.reshape(35, 2),))


def test_several_lists():
    def both(a):
        xs, ys = [], []
        for x in a:
            if x > 0:
                xs.append(x)
                ys.append(x * x)
        return np.array([xs, ys]), np.array((xs, ys)), np.polyfit(xs, ys, 1), np.sqrt(xs), np.dot(xs, ys)

    # Whole numbers: processors add the products of `np.dot` in orders of their own, and these sums are exact.
    check_staged(both, (np.round(8 * A),))


def test_arrays_of_lists_have_no_gradient():
    compiled = autoconv.compile(positive)
    x = autoconv.constant(A)
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        compiled(x)
    assert tape is not None
    assert "has no gradient: it went through a list" in compiled.explain()
