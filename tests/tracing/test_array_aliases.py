"""Names, views and overlapping arguments of arrays that a compiled function changes in place, against NumPy."""

import numpy as np
import pytest

import autoconv
from tests.tracing.in_place import A, B, check_in_place


def test_a_name_is_no_copy():
    def f(a):
        b = a
        b[0] = 1
        b += 2
        return a

    check_in_place(f, A)


def test_the_caller_s_array_is_returned_itself_and_views_share_its_memory():
    @autoconv.compile
    def f(a):
        a[0, 0] = 7
        return a, a[1:], a.T, a[2], a.copy()

    argument = A.copy()
    same, rows, transposed, row, fresh = f(argument)
    assert same is argument and rows.base is argument and row.base is argument
    assert np.shares_memory(transposed, argument)
    assert rows.strides == argument[1:].strides and transposed.flags.f_contiguous and rows.flags.writeable
    argument[:] = 5
    assert rows[0, 0] == transposed[0, 0] == row[1] == 5
    assert fresh[0, 0] == 7 and not np.shares_memory(fresh, argument)


def test_views_see_what_is_written():
    def f(a):
        row, column, block = a[1], a[:, 2], a[1:4, ::-1]
        row[:] = 0
        column += 10
        block[0, 0] = -1
        return block.sum(), row[3], column[0]

    check_in_place(f, A)


@pytest.mark.parametrize("turns", range(5))
def test_two_arrays_are_swapped_in_a_loop(turns):
    def f(u, v, n):
        for _ in range(n):
            v[1:-1] = (u[:-2] + u[2:]) / 2
            u, v = v, u
        return u[2], v

    check_in_place(f, np.arange(7.0), np.zeros(7), turns)


@pytest.mark.parametrize("number", (1, -1))
def test_a_condition_chooses_which_array_is_written(number):
    def f(a, b, c):
        v = a if c > 0 else b
        v[0] = 1
        w = a[0] if c > 0 else b[:, 1]
        w[:2] = 9
        return v

    square = np.arange(16.0).reshape(4, 4)
    check_in_place(f, square, square + 20, number)


def test_arguments_that_overlap():
    def f(a, b):
        a[:] = b * 2
        b[0] = 1
        a += b
        return a

    for first, second in ((slice(0, -1), slice(1, None)), (slice(1, None), slice(0, -1))):
        compiled_array, plain_array = np.arange(9.0), np.arange(9.0)
        compiled = autoconv.compile(f)
        f(plain_array[first], plain_array[second])
        compiled(compiled_array[first], compiled_array[second])
        np.testing.assert_array_equal(compiled_array, plain_array)
        separate = np.arange(5.0), np.arange(5.0)
        compiled(*separate)
        np.testing.assert_array_equal(separate[0], [1, 3, 6, 9, 12])


def test_one_array_given_twice():
    def f(a, b):
        a[0] = 5
        b[1] = a[0] + b[0]
        return a is b

    argument = np.zeros(3)
    assert autoconv.compile(f)(argument, argument) is True
    np.testing.assert_array_equal(argument, [5, 10, 0])


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

    check_in_place(f, A, 2)


def test_rows_are_views_in_a_loop():
    def f(a, b):
        total = 0.0
        for i, row in enumerate(a):
            row[0] = i
            total += row[1]
        for x, y in zip(a, b, strict=True):
            x[2] = y[3]
        return total

    check_in_place(f, A, B)


def test_transposes_and_reshapes_are_views():
    def f(a):
        a.T[1] = 5
        a.reshape(2, 10)[1, 3:] = 7
        a.ravel()[2] = -2
        np.swapaxes(a, 0, 1)[0, 0] = 8
        a[:, :2].reshape(-1)[0] = 99
        a.reshape(-1)[::3] += 1
        np.flip(a, 0)[0, 1] -= 4

    check_in_place(f, A)


def test_reshapes_of_complex_arrays_are_views_or_copies_as_in_numpy():
    def f(a):
        rows = a.T.reshape(-1)
        rows[0] = 5j
        a[1] += rows[:4]
        np.transpose(a).ravel()[2] = 7
        a[:, :2].reshape(2, 5)[0] = 9 - 1j
        a.reshape(2, 10)[1, 3:] = 7j
        return rows, a.T.flatten(), np.swapaxes(a, 0, 1).reshape(2, 10, order="F") * 2

    check_in_place(f, A + 1j * A[::-1])
    check_in_place(f, (A + 1j).astype(np.complex64))


@pytest.mark.parametrize(("radix", "count"), [(2, 6), (3, 3), (4, 1)])
def test_shapes_that_the_number_of_an_iteration_decides(radix, count):
    """As in a Stockham FFT: the numbers of the range become constants, so that it is unrolled."""

    def f(radix, count, y):
        size = radix**count
        for i in range(count):
            rows = np.reshape(y, (radix**i, radix, radix ** (count - i - 1)))
            moved = np.reshape(np.transpose(rows, axes=(1, 0, 2)), (size,)) * (i + 1)
            y[:] = moved[::-1] + y
        return size

    check_in_place(f, radix, count, np.linspace(0, 1, radix**count))
    check_in_place(f, radix, count, np.linspace(0, 1, radix**count) * (1 - 2j))


def test_views_that_numpy_makes_read_only():
    def f(a):
        a[0] = 1
        d = a.diagonal()
        a[1, 1] = 5
        d[0] = 2

    check_in_place(f, A)

    def g(a):
        a[0] = 1
        d = np.broadcast_to(a[0], (2, 4))
        a[0, 1] = 5
        return d.sum(), d.flags.writeable

    check_in_place(g, A, is_in_place=False)


def test_functions_that_make_several_views():
    def f(a):
        upper, lower = np.split(a, [2])
        upper[0] = 7
        left, right = np.hsplit(lower, 2)
        right[:] = left
        np.atleast_2d(a[0])[0, 1] = 3
        return lower

    check_in_place(f, A)

    def g(a):
        d = np.diagonal(a)
        a[1, 1] = 5
        return d.sum()

    check_in_place(g, A)


def test_a_contiguous_copy_is_a_copy():
    def f(a):
        b, c = np.ascontiguousarray(a[:, 0]), np.ascontiguousarray(a)
        b[0] = 9
        c[1] = 8
        return b

    check_in_place(f, A)


def test_separately_compiled_regions_see_views_of_one_array():
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
        check_in_place(f, np.arange(6.0), number)


def test_strides_of_dimensions_of_size_1_make_no_copy():
    @autoconv.compile
    def contiguous(y):
        found = np.ascontiguousarray(y)
        found[0] += 1
        return found

    for shape, strides in (((5, 2, 1), (16, 8, 64)), ((2, 3), (48, 8))):
        argument = np.lib.stride_tricks.as_strided(np.arange(40.0), shape, strides)
        assert (contiguous(argument) is argument) == (np.ascontiguousarray(argument) is argument)


@pytest.mark.parametrize("bound", [np.float64(1.0), 1, "a"], ids=repr)
def test_too_many_slices_are_refused_before_their_bounds(bound):
    """NumPy counts the entries of an index before it looks at what slices hold."""

    def f(y, k):
        y[k:] += 1
        return y

    for function in (f, autoconv.compile(f)):
        with pytest.raises(IndexError, match="array is 0-dimensional, but 1 were indexed"):
            function(np.array(3.0), bound)


@pytest.mark.parametrize("is_writeable", [True, False])
def test_views_of_one_new_array_share_its_memory(is_writeable):
    def f(x):
        rows = (x[:, None] * x)[::2].reshape(-1)
        new = np.ones((x.size, 2))
        return rows, np.reshape(rows, rows.shape), new, np.atleast_3d(new)

    compiled = autoconv.compile(f)
    for n in (4, 4, 3, 1, 0):
        x = np.arange(float(n))
        x.flags.writeable = is_writeable
        expected, actual = f(x), compiled(x)
        for first, second in zip(expected, actual, strict=True):
            assert np.array_equal(first, second)
        assert [np.shares_memory(a, b) for a in actual for b in actual] == (
            [np.shares_memory(a, b) for a in expected for b in expected]
        )
