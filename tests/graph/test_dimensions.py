"""Arithmetic on dimensions that are symbols, against the same arithmetic on numbers."""

from __future__ import annotations

import itertools
import random

from autoconv.graph.dimensions import (
    atomic_symbols,
    evaluate_dimension,
    exact_quotient,
    floor_quotient,
    have_equal_element_counts,
    maximum,
    minimum,
    plus,
    product,
    slice_length,
    times,
)
from autoconv.graph.types import Symbol

N, M = Symbol("n"), Symbol("m")


def test_equal_dimensions_have_one_form():
    assert plus(plus(N, -1), 1) == N
    assert plus(N, times(N, -1)) == 0
    assert times(plus(N, 1), plus(N, -1)) == plus(times(N, N), -1)
    assert product([2, N, 3, M]) == times(M, times(6, N))
    assert str(plus(times(times(2, N), M), -1)) == "2*m*n-1"


def test_quotients():
    assert exact_quotient(times(N, 6), 3) == times(2, N)
    assert exact_quotient(product([N, M, 6]), times(2, M)) == times(3, N)
    assert exact_quotient(plus(times(4, N), 2), 4) is None
    assert exact_quotient(N, M) is None
    assert floor_quotient(plus(times(4, N), 2), 2) == plus(times(2, N), 1)
    assert evaluate_dimension(floor_quotient(plus(N, 1), 2), {"n": 6}) == 3
    assert list(atomic_symbols(floor_quotient(plus(N, M), 2))) == [M, N]


def test_minima():
    assert minimum(N, N) == N
    assert minimum(plus(N, 3), N) == N
    assert minimum(4, 7) == 4
    assert [minimum(0, N), minimum(N, 1)] == [0, 1]
    assert minimum(N, M) == minimum(M, N)
    assert maximum(N, M) == plus(plus(N, M), times(minimum(N, M), -1))
    for n, m in ((2, 5), (5, 2), (3, 3)):
        values = {"n": n, "m": m}
        assert evaluate_dimension(minimum(N, plus(M, 1)), values) == min(n, m + 1)
        assert evaluate_dimension(maximum(N, M), values) == max(n, m)
    assert set(atomic_symbols(minimum(times(2, N), M))) == {N, M}


def test_quotients_by_sizes_of_arguments():
    assert evaluate_dimension(floor_quotient(times(6, N), M), {"n": 4, "m": 5}) == 4
    assert floor_quotient(N, plus(M, -2)) is None  # which may be 0
    assert floor_quotient(N, 0) is None


def test_shapes_with_as_many_elements():
    half = floor_quotient(N, 2)
    assert have_equal_element_counts((N, 3), (times(3, N),))
    assert have_equal_element_counts((N,), (half, 2))
    assert have_equal_element_counts((times(2, half), M), (N, M))
    assert not have_equal_element_counts((N,), (half, 3))
    assert not have_equal_element_counts((N,), (M,))
    assert not have_equal_element_counts((None,), (None,))


def test_results_of_an_unknown_dimension_are_unknown():
    assert plus(None, N) is times(N, None) is product([N, None]) is None
    assert exact_quotient(None, 2) is floor_quotient(None, 2) is None


def test_random_expressions_have_the_values_of_their_numbers():
    draw = random.Random(1)
    for _ in range(200):
        values = {"n": draw.randint(2, 9), "m": draw.randint(2, 9)}
        found, expected = N, values["n"]
        for _ in range(5):
            operand, number = draw.choice([(N, values["n"]), (M, values["m"]), (3, 3), (-2, -2)])
            if draw.random() < 0.5:
                found, expected = plus(found, operand), expected + number
            elif draw.random() < 0.3:
                found, expected = floor_quotient(found, 2), expected // 2
            else:
                found, expected = times(found, operand), expected * number
        assert evaluate_dimension(found, values) == expected


def test_lengths_of_slices_are_python_s_where_the_preconditions_hold():
    """Preconditions that are numbers hold always: a bound beyond the end, as in x[n + 1 :], needs none."""
    bounds = [None, 0, 1, 3, -1, -4, N, M, *(plus(N, k) for k in (-3, -1, 1, 2, 9)), plus(N, times(M, -1))]
    sizes = [{"n": n, "m": m} for n, m in itertools.product((2, 3, 7, 12), (2, 5, 12))]
    for start, stop, step in itertools.product(bounds, bounds, (None, 2, 3, -1, -2)):
        preconditions = []
        length = slice_length(N, (start, stop, step), preconditions)
        for values in sizes:
            if all(evaluate_dimension(size, values) >= 0 for size in preconditions if isinstance(size, Symbol)):
                parts = [bound if bound is None else evaluate_dimension(bound, values) for bound in (start, stop)]
                expected = len(range(values["n"])[parts[0] : parts[1] : step])
                assert evaluate_dimension(length, values) == expected, (start, stop, step, values)
