"""Under `compile`: NumPy functions that return an argument or a view of it do so."""

import numpy as np

import autoconv
from tests.tracing.plain_comparison import check_against_plain


def test_trimmed_zeros_are_a_view():
    def written(a):
        trimmed = np.trim_zeros(a)
        if len(trimmed) > 0:
            trimmed[0] = 7.0
        return a.sum(), trimmed

    def of_one_that_changes(a):
        a[1] = 0
        trimmed = np.trim_zeros(a, "f")
        trimmed[:] = 9
        return np.trim_zeros(a, "b")

    arrays = [([0, 0, 1, 2, 0.0],), ([0, 3, 1, 0.0],), ([0, 0.0],), ([3, 0, 1, 2.0, 0, 0],), ([0.0, 0, 0],)]
    for function in (written, of_one_that_changes):
        check_against_plain(function, *[(np.array(values),) for (values,) in arrays])
    check_against_plain(lambda a: np.trim_zeros(a * 2), *[(np.zeros(size),) for size in (2, 3, 4, 0, 1)])


def test_edges_of_a_histogram_are_the_argument():
    def written(a, edges):
        counts, returned_edges = np.histogram(a, bins=edges)
        returned_edges[0] = -1.0
        return counts, edges, returned_edges is edges

    def of_one_that_changes(a, edges):
        edges[0] = -1
        counts, returned_edges = np.histogram(a, bins=edges)
        edges[1] = 0.5
        return counts, returned_edges, np.histogram(a, bins=5)

    for function in (written, of_one_that_changes):
        check_against_plain(function, *[(np.array(a), np.arange(4.0)) for a in ([0.1, 0.2, 3], [0.5, 1, 2, 2.5])])


def test_returned_parts_of_complex_arrays_are_views():
    def both(z, n):
        return z.imag, z.T.real[1:]

    def one_of_two(z, n):
        return z.real if n > 1 else z.imag

    def of_a_loop(z, n):
        part = z.imag
        for _ in range(n):
            part = z.real
        return part

    def used(z, n):
        return z.real + n, z.imag.sum(), (z * n).real

    for f in (both, one_of_two, of_a_loop, used):
        compiled = autoconv.compile(f)
        for n in (0, 1, 2):
            plain_argument, compiled_argument = np.arange(3) + 1j, np.arange(3) + 1j
            expected, found = f(plain_argument, n), compiled(compiled_argument, n)
            pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
            for plain_result, compiled_result in pairs:
                np.testing.assert_array_equal(compiled_result, plain_result, strict=True)
                is_view = np.shares_memory(plain_result, plain_argument)
                assert np.shares_memory(compiled_result, compiled_argument) == is_view
        assert "plain Python" not in compiled.explain()
