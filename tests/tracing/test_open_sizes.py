"""Under `compile`, arguments of many shapes: one trace and one compilation serve them, with Python's results."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autoconv

SIZES = (5, 7, 12, 9, 3, 2, 1, 0, 31)


def standardised(a):
    return (a - a.mean()) / (a.std() + 1)


def smoothed(a):
    for i in range(1, len(a) - 1):
        a[i] = (a[i - 1] + a[i + 1]) / 2
    return a


def shifted(a):
    found = np.zeros_like(a)
    found[1:] = a[:-1]
    return found


def changed_as_a_whole(a):
    a += 1
    a[1:-1] = (a[:-2] + a[2:]) * 0.5
    return a.sum()


def total(a):
    found = 0.0
    for x in a:
        found += x
    return found


def by_size(a):
    if a.shape[0] > 6:
        return a.sum()
    return a


def positive(a):
    found = np.zeros(len(a))
    for i in range(len(a)):
        if a[i] > 0:
            found[i] = a[i]
    return found


def describe(value):
    return (type(value), value.dtype, value.shape, value.tolist()) if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize(
    "function", [standardised, smoothed, shifted, changed_as_a_whole, total, by_size, positive]
)
def test_one_trace_serves_all_sizes(function):
    compiled = autoconv.compile(function)
    for size in SIZES:
        compiled_argument, plain_argument = (np.arange(size) * 0.5 - 1 for _ in "12")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            expected, found = function(plain_argument), compiled(compiled_argument)
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert describe(compiled_argument) == describe(plain_argument)
        if expected is plain_argument:
            assert found is compiled_argument
    report = compiled.explain()
    assert "one compilation for all sizes: (n0)" in report
    plain_lines = [line.strip() for line in report.splitlines() if "plain Python" in line]
    # NumPy warns of the mean of no elements, which is compared in a separate call.
    assert plain_lines == ["plain Python: one call: [the mean of too few elements]"] * (function is standardised)
    traces = int(report.split(": ")[1].split()[0])
    assert traces <= 4  # Two shapes have their own traces; one more finds out that arrays are changed in place.


def exchanged_rows(m):
    for i in range(m.shape[0] // 2):
        m[i], m[m.shape[0] - 1 - i] = m[m.shape[0] - 1 - i].copy(), m[i].copy()
    return m.sum(axis=0)


def heat(m):
    for _ in range(3):
        m[1:-1, 1:-1] = (m[:-2, 1:-1] + m[2:, 1:-1]) / 2
    return m.mean()


@pytest.mark.parametrize("function", [exchanged_rows, heat])
def test_two_sizes(function):
    compiled = autoconv.compile(function)
    for shape in ((5, 5), (7, 3), (9, 2), (3, 1), (1, 4), (6, 6), (31, 7), (8, 8)):
        compiled_argument, plain_argument = (np.arange(shape[0] * shape[1]).reshape(shape) * 0.5 for _ in "12")
        np.testing.assert_allclose(compiled(compiled_argument), function(plain_argument), rtol=1e-12)
        np.testing.assert_array_equal(compiled_argument, plain_argument)
    assert "one compilation for all sizes: (n0, n1)" in compiled.explain()


@pytest.mark.parametrize("step", [1, 2, -1])
def test_strides_that_are_known_at_the_call_only(step):
    compiled = autoconv.compile(smoothed)
    for size in (4, 6, 8, 10, 12):
        compiled_argument, plain_argument = (np.arange(3 * size)[::step] for _ in "12")
        compiled(compiled_argument.astype(float)[::2]), smoothed(plain_argument.astype(float)[::2])
        compiled(compiled_argument), smoothed(plain_argument)
        np.testing.assert_array_equal(compiled_argument, plain_argument)


def sum_of_products(a):
    b = a.copy()
    for i in range(1, len(b)):
        b[i] = b[i] * b[i - 1]
    return b.sum()


def test_the_gradient_of_a_function_that_changes_arrays():
    gradient = autoconv.grad(autoconv.compile(sum_of_products))
    for size in (3, 4, 5, 6, 2):
        x = np.arange(1, size + 1) * 0.5
        expected = [(sum_of_products(x + e) - sum_of_products(x - e)) / 2e-6 for e in np.eye(size) * 1e-6]
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-5)


def test_arrays_that_share_memory_are_recognised():
    def added(a, b):
        a[1:] += b[:-1]
        return a

    compiled = autoconv.compile(added)
    for size in (4, 5, 6, 7, 8):
        for overlapping in (False, True):
            pairs = []
            for _ in "12":
                base = np.arange(2.0 * size)
                pairs.append((base[:size], base[1 : size + 1] if overlapping else base[size:]))
            np.testing.assert_array_equal(compiled(*pairs[0]), added(*pairs[1]))


def test_where_sizes_cannot_stay_open_each_shape_has_a_trace():
    def as_text(a):
        return np.array2string(a)

    def spread(a):
        return list(map(float, a))

    for function in (as_text, spread):
        compiled = autoconv.compile(function)
        for size in SIZES[:5]:
            assert compiled(np.arange(size)) == function(np.arange(size))


def products(a, b):
    return a @ b


def added_in_place(a, b):
    a[0] = 1
    a += b
    return a


def stretched_in_place(a, b):
    a[0] = 1
    a[:1] += b
    return a


@pytest.mark.parametrize("function", [products, added_in_place, stretched_in_place])
def test_incompatible_shapes_raise_as_in_numpy(function):
    compiled = autoconv.compile(function)
    for first, second in ((5, 5), (6, 6), (7, 7), (8, 3), (3, 8), (4, 1), (1, 4), (2, 0), (9, 9)):
        found, expected = [], []
        for call, into in ((compiled, found), (function, expected)):
            a, b = np.arange(first) * 1.0, np.arange(second) * 2.0
            try:
                into.append(describe(call(a, b)))
            except ValueError as error:
                into.append(str(error))
            into.append(a.tolist())
        assert found == expected


def transposed(m):
    m.T[0] = 7
    m.swapaxes(0, 1)[1] += m.transpose()[0]
    return m.T


def squeezed(m):
    m[0] = 1
    return m.squeeze()


@pytest.mark.parametrize("function", [transposed, squeezed])
def test_views_by_other_orders(function):
    compiled = autoconv.compile(function)
    for shape in ((5, 5), (7, 3), (9, 2), (1, 4), (6, 6), (31, 7), (3, 1 if function is squeezed else 2)):
        compiled_argument, plain_argument = (np.arange(shape[0] * shape[1]).reshape(shape) * 0.5 for _ in "12")
        found, expected = compiled(compiled_argument), function(plain_argument)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(compiled_argument, plain_argument)
        assert np.shares_memory(found, compiled_argument)
    assert ("one compilation for all sizes" in compiled.explain()) is (function is transposed)


def at_the_ends(a, k):
    found = 0.0
    n = len(a)
    for i in range(n):
        found = found + a[(i + 1) % n] * a[n - 1 - i]
    for i in range(n - 1, -1, -1):
        a[i] = a[i - k]
    return found + a[-1]


def beyond(a, k):
    for i in range(len(a)):
        a[i + k] = a[i] + 1
    return a


@pytest.mark.parametrize("function", [at_the_ends, beyond])
def test_indices_are_checked_where_sizes_do_not_imply_that_they_fit(function):
    compiled = autoconv.compile(function)
    for size in (4, 5, 6, 7, 2, 9):
        for k in (0, 1, -1, 3):
            found, expected = [], []
            for call, into in ((compiled, found), (function, expected)):
                a = np.arange(size) * 1.0
                try:
                    into.append(describe(call(a, k)))
                except IndexError as error:
                    into.append(str(error))
                into.append(a.tolist())
            assert found == expected


def floats_as_ints(a, b):
    for i in range(len(b)):
        b[i] = a[i] / 2
    b[:2] = a.max()
    return b


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "bool"])
def test_floats_become_elements_of_integer_arrays_as_in_numpy(dtype):
    compiled = autoconv.compile(floats_as_ints)
    for last in (3.5, np.nan, -7.0, 300.0, 1e12, 1e30, np.inf):
        found, expected = [], []
        for call, into in ((compiled, found), (floats_as_ints, expected)):
            a, b = np.array([1.5, 2.5, last]), np.zeros(3, dtype)
            with np.errstate(all="ignore"):
                try:
                    into.append(describe(call(a, b)))
                except (ValueError, OverflowError) as error:
                    into.append((type(error), str(error)))
            into.append(b.tolist())
        if dtype != "uint8" or last <= 300:  # beyond its range the processor decides
            assert found == expected


def of_new_arrays(a):
    sums = np.zeros(len(a) + 1)
    for i in range(len(a)):
        sums[i + 1] = sums[i] + a[i] ** 2
    pairs = np.full((len(a), 2), 3.0)
    pairs[:, 0] *= a
    sums[1:] += a[::-1]
    return (sums * sums).sum() + pairs.sum() * a[0]


def test_the_gradient_of_a_function_that_makes_arrays_of_open_sizes():
    gradient = autoconv.grad(autoconv.compile(of_new_arrays))
    for size in (3, 4, 5, 6, 2):
        x = np.arange(1, size + 1) * 0.5
        expected = [(of_new_arrays(x + e) - of_new_arrays(x - e)) / 2e-6 for e in np.eye(size) * 1e-6]
        np.testing.assert_allclose(gradient(x), expected, rtol=1e-5)
