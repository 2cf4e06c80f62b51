"""Arrays that a compiled function changes in place: NumPy's own semantics, each against NumPy itself."""

import numpy as np
import pytest

import autoconv
from tests.tracing.in_place import A, B, check_in_place


def test_what_was_written_before_an_error_stays():
    def f(a, i):
        a[0] = 1
        a[i, 2] = 3
        a[1] = 4

    compiled = check_in_place(f, A, 9)
    argument = A.copy()
    with pytest.raises(IndexError, match="index -9 is out of bounds for axis 0 with size 5"):
        compiled(argument, -9)
    assert argument[0, 0] == 1 and argument[1, 0] == A[1, 0]


def test_shapes_that_do_not_fit_raise_what_numpy_raises():
    def f(a):
        a[0] = 5
        a[1:3] = a[:, 0]

    def g(a):
        a[0] += np.zeros((2, 4))

    def h(a):
        a += a[:3]

    for function in (f, g, h):
        check_in_place(function, A)


def test_values_are_cast_as_by_assignments_and_operators():
    def f(a, b):
        a[0] = b[0]
        a[1] = 2.9
        a[2] += b[1]

    check_in_place(f, np.arange(9).reshape(3, 3), np.linspace(-1, 3.7, 9).reshape(3, 3))

    def g(a, x):
        a[0] = x
        a += 1
        return a

    check_in_place(g, np.zeros(3, np.int8), 100)
    check_in_place(g, np.zeros(3, np.int8), 300)
    check_in_place(g, np.zeros(3, np.float32), 300)
    check_in_place(g, np.zeros(3, np.int32), float("nan"))


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
    check_in_place(f, numbers.integers(0, 2, (6, 5)).astype(dtype), numbers.integers(0, 2, (6, 5)).astype(dtype))


def test_masks_and_arrays_of_positions():
    def f(a, at):
        a[a > 7] = 0
        a[at] = a[at] + 1
        a[at, 1] += 5
        a[a[:, 0] == 4] = [1, 2, 3, 4]
        return a[at]

    check_in_place(f, A, np.array([1, 3]))


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

    check_in_place(f, A, 4)


def test_called_functions_change_their_arguments():
    def clear(part, value=0):
        part[:] = value

    def f(a):
        clear(a[1])
        clear(a[:, 0], value=a[0, 1])
        return a[1, 1]

    check_in_place(f, A)


def test_slices_with_computed_bounds():
    def f(a, i, j, k):
        a[i:j] = a[i:j] * 2 + 1
        a[i:j, 1] = -1
        a[::k] -= 3
        a[j:i:-1] += 1
        return a[i:j], a[i:].sum(), len(a[j:])

    compiled = check_in_place(f, A, 1, 3, 2)
    for bounds in ((0, 5, 1), (-3, -1, -2), (4, 2, 3), (2, 99, 7)):
        compiled_array, plain_array = A.copy(), A.copy()
        found, expected = compiled(compiled_array, *bounds), f(plain_array, *bounds)
        assert repr(found) == repr(expected)
        np.testing.assert_array_equal(compiled_array, plain_array)
    assert compiled.experimental_get_tracing_count() == 1


def test_out_arguments():
    def f(a, b):
        np.add(a, b, out=a)
        np.multiply(a[0], 2.0, out=b[1])
        return a

    check_in_place(f, A, B)


def test_arrays_in_lists_and_attributes():
    def f(arrays):
        arrays[0][1] = 5
        first, second = arrays
        second[0] = first[1]
        return second

    check_in_place(f, [np.zeros(3), np.ones(3)])


def test_memory_with_gaps():
    def f(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = a[i, j] + 10 * i
        a[1:] += a[:-1]
        return a

    for argument in (np.asfortranarray(A), A[::2, ::-1], np.zeros((8, 8))[1:6, 2:6]):
        compiled_array, plain_array = argument.copy(order="K"), argument.copy(order="K")
        np.testing.assert_array_equal(autoconv.compile(f)(compiled_array), f(plain_array))
        view = np.lib.stride_tricks.as_strided(compiled_array, compiled_array.shape, compiled_array.strides)
        np.testing.assert_array_equal(autoconv.compile(f)(view), f(plain_array))


def test_read_only_arrays_run_plain():
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

    check_in_place(f, B[::-1], B.T)


def test_what_cannot_be_memory_runs_by_numpy_s_operations():
    def f(a):
        a[0] = 3
        a.partition(1)
        return a

    compiled = check_in_place(f, np.array([5.0, 2.0, 9.0]), is_in_place=False)
    assert "as Python objects" in compiled.explain()


def test_a_loop_whose_start_is_beyond_its_end():
    def f(a, k):
        for i in range(k, 3):
            a[i] += 1
        for j in range(len(a) - 1, k, -2):
            a[j] -= a[j - 1]
        return a

    for number in (-3, 0, 2, 7):
        check_in_place(f, np.arange(5.0), number)
