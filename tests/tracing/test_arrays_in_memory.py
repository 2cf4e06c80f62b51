"""Arrays that a compiled function changes in place: NumPy's own semantics, each against NumPy itself."""

import copy

import numpy as np
import pytest

import autoconv


def both(function, *arguments, memory=True):
    """What NumPy and the compiled function give, and leave in their arguments; all compared."""
    compiled = autoconv.compile(function)
    outcomes = []
    for run in (function, compiled):
        given = copy.deepcopy(arguments)
        try:
            with np.errstate(all="ignore"):
                result = run(*given)
        except Exception as error:
            result = type(error), str(error)
        outcomes.append((result, given))
    (expected, its), (found, mine) = outcomes
    assert repr(found) == repr(expected)
    for left, right in zip(mine, its, strict=True):
        if isinstance(right, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
    told = compiled.explain()
    assert ("in place" in told and "plain Python" not in told and "as Python objects" not in told) == memory, told
    return compiled


A = np.arange(20.0).reshape(5, 4)
B = np.linspace(0.5, 3, 20).reshape(5, 4)


def test_a_name_is_no_copy():
    def f(a):
        b = a
        b[0] = 1
        b += 2
        return a

    both(f, A)


def test_the_caller_s_array_is_returned_itself_and_views_share_its_memory():
    @autoconv.compile
    def f(a):
        a[0, 0] = 7
        return a, a[1:], a.T, a[2], a.copy()

    given = A.copy()
    whole, rows, turned, row, other = f(given)
    assert whole is given and rows.base is given and row.base is given and np.shares_memory(turned, given)
    assert rows.strides == given[1:].strides and turned.flags.f_contiguous and rows.flags.writeable
    given[:] = 5
    assert rows[0, 0] == turned[0, 0] == row[1] == 5
    assert other[0, 0] == 7 and not np.shares_memory(other, given)


def test_views_see_what_is_written():
    def f(a):
        row, column, block = a[1], a[:, 2], a[1:4, ::-1]
        row[:] = 0
        column += 10
        block[0, 0] = -1
        return block.sum(), row[3], column[0]

    both(f, A)


@pytest.mark.parametrize("turns", range(5))
def test_two_arrays_change_places_in_a_loop(turns):
    def f(u, v, n):
        for _ in range(n):
            v[1:-1] = (u[:-2] + u[2:]) / 2
            u, v = v, u
        return u[2], v

    both(f, np.arange(7.0), np.zeros(7), turns)


@pytest.mark.parametrize("number", (1, -1))
def test_a_condition_chooses_which_array_is_written(number):
    def f(a, b, c):
        v = a if c > 0 else b
        v[0] = 1
        w = a[0] if c > 0 else b[:, 1]
        w[:2] = 9
        return v

    square = np.arange(16.0).reshape(4, 4)
    both(f, square, square + 20, number)


def test_arguments_that_overlap():
    def f(a, b):
        a[:] = b * 2
        b[0] = 1
        a += b
        return a

    for first, second in ((slice(0, -1), slice(1, None)), (slice(1, None), slice(0, -1))):
        mine, its = np.arange(9.0), np.arange(9.0)
        compiled = autoconv.compile(f)
        f(its[first], its[second])
        compiled(mine[first], mine[second])
        np.testing.assert_array_equal(mine, its)
        apart = np.arange(5.0), np.arange(5.0)
        compiled(*apart)
        np.testing.assert_array_equal(apart[0], [1, 3, 6, 9, 12])


def test_one_array_given_twice():
    def f(a, b):
        a[0] = 5
        b[1] = a[0] + b[0]
        return a is b

    given = np.zeros(3)
    assert autoconv.compile(f)(given, given) is True
    np.testing.assert_array_equal(given, [5, 10, 0])


@pytest.mark.parametrize("written", [True, False])
def test_one_array_without_elements_given_twice(written):
    @autoconv.compile
    def f(a, b, k):
        if written:
            a[:1] = k
        return a is b

    some, empty = np.ones((2, 3)), np.zeros((0, 3))
    for a, b in [(empty, empty), (empty, empty.copy()), (some, some), (some, some.copy()), (empty, np.zeros((0, 2)))]:
        assert f(a, b, 3) is (a is b)
    assert [f(np.ones((n, 3)), np.ones((n, 3)), 3) for n in (3, 4, 5, 0)] == [False] * 4
    assert f(empty, empty, 3) is True


def test_overlapping_slices_of_one_array():
    def f(a, k):
        a[1:] = a[:-1] + 1
        a[::-1] = a
        a[k:] += a[: len(a) - k]
        a[:, 1:] = a[:, :-1]
        return a

    both(f, A, 2)


def test_what_was_written_before_an_error_stays():
    def f(a, i):
        a[0] = 1
        a[i, 2] = 3
        a[1] = 4

    compiled = both(f, A, 9)
    given = A.copy()
    with pytest.raises(IndexError, match="index -9 is out of bounds for axis 0 with size 5"):
        compiled(given, -9)
    assert given[0, 0] == 1 and given[1, 0] == A[1, 0]


def test_shapes_that_do_not_fit_raise_what_numpy_raises():
    def f(a):
        a[0] = 5
        a[1:3] = a[:, 0]

    def g(a):
        a[0] += np.zeros((2, 4))

    def h(a):
        a += a[:3]

    for function in (f, g, h):
        both(function, A)


def test_casting_is_that_of_assignments_and_of_operators():
    def f(a, b):
        a[0] = b[0]
        a[1] = 2.9
        a[2] += b[1]

    both(f, np.arange(9).reshape(3, 3), np.linspace(-1, 3.7, 9).reshape(3, 3))

    def g(a, x):
        a[0] = x
        a += 1
        return a

    both(g, np.zeros(3, np.int8), 100)
    both(g, np.zeros(3, np.int8), 300)
    both(g, np.zeros(3, np.float32), 300)
    both(g, np.zeros(3, np.int32), float("nan"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32"])
def test_every_dtype(dtype):
    def f(a, b):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > b[i, j]:
                    a[i, j] = b[j % 3, i % 3]
        a[1:] = a[:-1] | b[1:] if a.dtype != np.float32 else a[:-1] * b[1:]
        return a[0, 0]

    numbers = np.random.default_rng(1)
    both(f, numbers.integers(0, 2, (6, 5)).astype(dtype), numbers.integers(0, 2, (6, 5)).astype(dtype))


def test_masks_and_arrays_of_positions():
    def f(a, at):
        a[a > 7] = 0
        a[at] = a[at] + 1
        a[at, 1] += 5
        a[a[:, 0] == 4] = [1, 2, 3, 4]
        return a[at]

    both(f, A, np.array([1, 3]))


def test_arrays_that_the_function_makes():
    def f(a, n):
        table = np.zeros((n, a.shape[1]))
        ones = np.ones_like(a)
        full = np.full(n, 2.5)
        order = np.arange(n)
        for i in range(n):
            table[i] = a[i] * i
            order[n - 1 - i] = i
            full[i] += ones[i, 0]
        return table, full, order, np.array([a[0, 1], 2.0]), np.empty((2, 0))

    both(f, A, 4)


def test_helpers_change_what_they_are_given():
    def clear(part, value=0):
        part[:] = value

    def f(a):
        clear(a[1])
        clear(a[:, 0], value=a[0, 1])
        return a[1, 1]

    both(f, A)


def test_rows_are_views_in_a_loop():
    def f(a, b):
        total = 0.0
        for i, row in enumerate(a):
            row[0] = i
            total += row[1]
        for x, y in zip(a, b, strict=True):
            x[2] = y[3]
        return total

    both(f, A, B)


def test_slices_with_bounds_that_the_graph_knows():
    def f(a, i, j, k):
        a[i:j] = a[i:j] * 2 + 1
        a[i:j, 1] = -1
        a[::k] -= 3
        a[j:i:-1] += 1
        return a[i:j], a[i:].sum(), len(a[j:])

    compiled = both(f, A, 1, 3, 2)
    for bounds in ((0, 5, 1), (-3, -1, -2), (4, 2, 3), (2, 99, 7)):
        mine, its = A.copy(), A.copy()
        found, expected = compiled(mine, *bounds), f(its, *bounds)
        assert repr(found) == repr(expected)
        np.testing.assert_array_equal(mine, its)
    assert compiled.experimental_get_tracing_count() == 1


def test_transposes_and_reshapes_are_views():
    def f(a):
        a.T[1] = 5
        a.reshape(2, 10)[1, 3:] = 7
        a.ravel()[2] = -2
        np.swapaxes(a, 0, 1)[0, 0] = 8
        a[:, :2].reshape(-1)[0] = 99
        a.reshape(-1)[::3] += 1
        np.flip(a, 0)[0, 1] -= 4

    both(f, A)


def test_out_is_written_to():
    def f(a, b):
        np.add(a, b, out=a)
        np.multiply(a[0], 2.0, out=b[1])
        return a

    both(f, A, B)


def test_arrays_in_lists_and_attributes():
    def f(arrays):
        arrays[0][1] = 5
        first, second = arrays
        second[0] = first[1]
        return second

    both(f, [np.zeros(3), np.ones(3)])


def test_memory_that_does_not_lie_side_by_side():
    def f(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = a[i, j] + 10 * i
        a[1:] += a[:-1]
        return a

    for given in (np.asfortranarray(A), A[::2, ::-1], np.zeros((8, 8))[1:6, 2:6]):
        mine, its = given.copy(order="K"), given.copy(order="K")
        np.testing.assert_array_equal(autoconv.compile(f)(mine), f(its))
        view, other = np.lib.stride_tricks.as_strided(mine, mine.shape, mine.strides), its
        np.testing.assert_array_equal(autoconv.compile(f)(view), f(other))


def test_read_only_arrays_are_left_to_numpy():
    def f(a, b):
        b[0] = a[1]
        return b

    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    np.testing.assert_array_equal(autoconv.compile(f)(fixed, np.zeros(2)), [1, 0])
    with pytest.raises(ValueError, match="read-only"):
        autoconv.compile(f)(np.zeros(2), fixed)


def test_one_trace_for_one_layout():
    @autoconv.compile
    def f(a, x):
        a[0] = x
        return a

    for number in range(4):
        f(np.zeros(5), float(number))
    assert f.experimental_get_tracing_count() == 1
    f(np.zeros(10)[::2], 1.0)
    f(np.zeros(6), 1.0)
    assert f.experimental_get_tracing_count() == 3


def test_methods_that_change_an_array():
    def f(a, b):
        a.sort()
        b.sort(axis=0)
        a[0].fill(2)
        b.fill(a[1, 0])
        return a

    both(f, B[::-1], B.T)


def test_what_cannot_be_memory_runs_by_numpy_s_operations():
    def f(a):
        a[0] = 3
        a.partition(1)
        return a

    compiled = both(f, np.array([5.0, 2.0, 9.0]), memory=False)
    assert "as Python objects" in compiled.explain()


def test_views_that_numpy_makes_read_only():
    def f(a):
        a[0] = 1
        d = a.diagonal()
        a[1, 1] = 5
        d[0] = 2

    both(f, A)

    def g(a):
        a[0] = 1
        d = np.broadcast_to(a[0], (2, 4))
        a[0, 1] = 5
        return d.sum(), d.flags.writeable

    both(g, A, memory=False)


def test_functions_that_make_several_views():
    def f(a):
        upper, lower = np.split(a, [2])
        upper[0] = 7
        left, right = np.hsplit(lower, 2)
        right[:] = left
        np.atleast_2d(a[0])[0, 1] = 3
        return lower

    both(f, A)

    def g(a):
        d = np.diagonal(a)
        a[1, 1] = 5
        return d.sum()

    both(g, A)


def test_a_contiguous_copy_is_a_copy():
    def f(a):
        b, c = np.ascontiguousarray(a[:, 0]), np.ascontiguousarray(a)
        b[0] = 9
        c[1] = 8
        return b

    both(f, A)


def test_regions_that_run_by_themselves_see_views_of_one_array():
    def f(a, n):
        b = a[1:]
        try:
            a[:-1] = b * 2 + 1
            if n > 3:
                raise ValueError(n)
            b[0] = a[0] + b[1]
        except ValueError:
            a[2] = -1
        return a

    for number in (1, 5):
        both(f, np.arange(6.0), number)


def test_a_loop_that_begins_behind_its_end():
    def f(a, k):
        for i in range(k, 3):
            a[i] += 1
        for j in range(len(a) - 1, k, -2):
            a[j] -= a[j - 1]
        return a

    for number in (-3, 0, 2, 7):
        both(f, np.arange(5.0), number)
