"""NumPy scalars in ranges and arrays of Python's, and as elements of narrower arrays."""

import itertools
import warnings

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain


def counted(a):
    found = []
    for i in range(a[0], a[1]):
        found.append(i * 100 - 5)
    return found, [k * 2 for k in range(0, 9, a[0])], range(a[0], a[1])


def sparse_product(starts, columns, values, x):
    y = np.zeros(len(starts) - 1)
    seen = []
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
            seen.append(k)
    return y, seen


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "uint64"])
def test_range_counts_in_python_s_integers(dtype):
    check_against_plain(counted, (np.array([1, 4], dtype),), (np.array([2, 3], dtype),))
    starts, columns = np.array([0, 2, 3], dtype), np.array([0, 1, 1], dtype)
    check_against_plain(sparse_product, (starts, columns, np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0])))


def first_items(bounds, found):
    count = 0
    for i in range(bounds[0], bounds[1], bounds[2]):
        found[count % 4] = i
        count += 1
        if count == 6:
            break
    else:
        found[3] = -5
    return count


def test_a_range_between_any_two_integers_is_that_of_python():
    """The difference of the bounds may exceed 64 bits; the call stays native all the same."""
    ends = (-(2**63), -(2**63) + 1, -7, 0, 1, 10, 2**62, 2**63 - 1)
    compiled = autoconv.compile(first_items)
    for bounds in itertools.product(ends, ends, (-(2**63), -(2**62), -3, -1, 1, 2, 2**62, 2**63 - 1)):
        expected, found = np.zeros(4, np.int64), np.zeros(4, np.int64)
        assert compiled(np.array(bounds), found) == first_items(bounds, expected), bounds
        np.testing.assert_array_equal(found, expected, str(bounds))
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in str(compiled.explain())
    with pytest.raises(ValueError, match="arg 3 must not be zero"):
        compiled(np.array([0, 5, 0]), np.zeros(4, np.int64))


def counts_to(n):
    total = 0
    for i in range(n):
        total += i
    return total


def test_range_takes_integers_alone():
    numbers = (np.float64(2), np.bool_(True), np.complex128(2), 2.5, np.array([3.5]), True, np.int8(3), np.array(4))
    for number in numbers:
        check_against_plain(counts_to, (number,))


def ranges(a):
    return np.arange(a.max() + 1), np.arange(a.min(), a.max()), np.arange(a[0], a[1] + 3, a[0])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64"])
def test_arange_has_the_dtypes_of_python_s_numbers(dtype):
    check_against_plain(ranges, (np.array([1, 3], dtype),), (np.array([2, 5], dtype),))


def one_element(a, b):
    a[0] = b[0]
    return a


def a_slice(a, b):
    a[1:] = b[0]
    return a


def a_sum(a, b):
    a[0] = b.sum() + 1
    return a


def in_a_loop(a, b):
    for i in range(len(a)):
        a[i] += b[i % len(b)]
    return a


def caught(a, b):
    try:
        a[0] = b[0]
    except (OverflowError, ValueError) as error:
        return str(error), a
    return a


def by_a_mask(a, b):
    a[a > 0] = b[0]
    return a


def by_positions(a, b):
    a[[0, 1]] = b[0]
    return a


def a_list(a, b):
    a[:2] = [b[0], b[0]]
    return a


PROGRAMS = [one_element, a_slice, a_sum, in_a_loop, caught, by_a_mask, by_positions, a_list]


@pytest.mark.parametrize("kind", ["int64", "float64", "int16"])
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.search
def test_numbers_that_do_not_fit(function, kind):
    values = [3, 300, -200] + ([float("nan"), 1e10] if kind == "float64" else [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in ("int8", "int32", "int64") + ("uint8",) * (kind != "float64"):  # which floats leave to the machine
            check_against_plain(function, *((np.ones(3, dtype), np.array([value, 1], kind)) for value in values))


def assign_sequence_to_element(a, value):
    a[1] = value
    return a


def test_arrays_are_no_elements():
    for value in (np.ones(1), [1], [1, 2], np.ones((1, 1)), 3, np.array(4)):
        check_against_plain(assign_sequence_to_element, (np.zeros(3), value))
    check_against_plain(assign_sequence_to_element, (np.zeros((3, 2)), [1, 2]), (np.zeros((3, 1)), [1]))


def indexed(a, i):
    a[i] = 5
    a[i] += 1
    return a


def test_list_arguments_as_indices():
    a = np.arange(6.0).reshape(2, 3)
    indices = ([0, 1], (0, 1), np.array([True, False]), 1, slice(1), [1])
    check_against_plain(indexed, *[(a, index) for index in indices])


def roots(a):
    return a**0.5, (a + 1.0) ** np.float64(0.5), np.power(a, 0.5)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_arrays_to_the_power_of_a_half_are_roots():
    a = np.array([-np.inf, np.inf, -0.0, 4.0, 2.0, 1e-310])
    check_against_plain(roots, (a,), (a.astype(np.float32),))
