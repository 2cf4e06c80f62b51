"""Numbers that decide sizes: after calls with equal numbers, a trace for these stands beside the general one."""

import numpy as np
import pytest

import autoconv


def trapezoids(a, b, n):
    h = (b - a) / n
    inside = np.arange(1, n)
    return h * (0.5 * (a * a + b * b) + ((a + inside * h) ** 2).sum())


def bell(n, scale):
    x = np.linspace(-3.0, 3.0, n)
    rows, columns = np.meshgrid(x, x)
    return np.exp(-(rows**2 + columns**2)) * scale


def nearest(points, k, turns):
    centres = points[:k].copy()
    for _ in range(turns):
        labels = ((points[:, None, :] - centres[None]) ** 2).sum(-1).argmin(1)
        for j in range(k):
            members = labels == j
            if members.any():
                centres[j] = points[members].mean(0)
    return centres, labels


def solved(n, right):
    return np.linalg.solve(2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1), np.full(n, right))


POINTS = np.random.default_rng(0).random((50, 2))
# A function, arguments of calls that have the same sizes, and those of a last call, which has others.
CALLS = [
    (trapezoids, [(0.0, float(i), 100) for i in range(9)], (0.0, 2.0, 77)),
    (bell, [(12, float(i)) for i in range(9)], (7, 2.0)),
    (nearest, [(POINTS + i, 3, i + 1) for i in range(9)], (POINTS, 4, 3)),
    (solved, [(6, float(i)) for i in range(9)], (5, 2.0)),
]


def check(function, compiled, arguments):
    for found, expected in zip(
        *(x if isinstance(x, tuple) else (x,) for x in (compiled(*arguments), function(*arguments))), strict=True
    ):
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def open_sizes(trace):
    """Return the number of open sizes among the values of the trace."""
    types = [value.type for node in trace.optimised.walk() for value in node.results]
    return sum(size is None for type_ in types for size in getattr(type_, "shape", None) or ())


def test_one_trace_is_enough_where_loops_take_any_size():
    function, calls, last_call = CALLS[0]
    compiled = autoconv.compile(function)
    for arguments in (*calls, last_call):
        check(function, compiled, arguments)
    assert compiled.experimental_get_tracing_count() == 1


@pytest.mark.parametrize(("function", "calls", "last_call"), CALLS[1:], ids=lambda x: getattr(x, "__name__", ""))
def test_a_number_that_stays_the_same_gets_a_trace_of_its_own(function, calls, last_call):
    compiled = autoconv.compile(function)
    for arguments in calls:
        check(function, compiled, arguments)
    wide, narrow = compiled.concrete_functions
    assert len(narrow.fallback_kernel_calls) <= len(wide.fallback_kernel_calls)
    assert open_sizes(narrow) < open_sizes(wide)
    assert "again, and sizes depend on it" in compiled.explain()
    for _ in range(3):
        for arguments in (last_call, calls[-1]):
            check(function, compiled, arguments)
    assert compiled.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(("function", "calls", "last_call"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_a_number_that_changes_shares_one_trace(function, calls, last_call):
    compiled = autoconv.compile(function)
    check(function, compiled, last_call)
    for arguments in calls:
        check(function, compiled, arguments)
    assert compiled.experimental_get_tracing_count() == 1


def test_arguments_that_decide_no_size_are_no_part_of_the_key():
    compiled = autoconv.compile(solved)
    for i in range(9):
        compiled(6, 1.0)
        compiled(6, 1.0 + i)
    assert compiled.experimental_get_tracing_count() == 2
    assert "right is" not in compiled.explain()


def test_true_is_not_1():
    def ones(n):
        return np.arange(n) + 1.0, type(n).__name__

    compiled = autoconv.compile(ones)
    for _ in range(9):
        assert compiled(1)[1] == "int"
    found, kind = compiled(True)
    assert found.tolist() == [1.0]
    assert kind == "bool"


def test_functions_that_call_themselves():
    def halves(x, n):
        return x[:n].sum() if n < 2 else halves(x, n // 2) + x[:n].sum()

    compiled, x = autoconv.compile(halves), np.arange(9.0)
    for _ in range(9):
        assert compiled(x, 7) == halves(x, 7)
