"""Loops that make a new array in each iteration carry its elements; the identity of arrays is that of NumPy."""

import numpy as np
import pytest

import autoconv


def check(function, *calls):
    """Compare results, which of them are arguments, and the arguments afterwards with plain NumPy."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        report = []
        for run in (function, compiled):
            call_arguments = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
            result = run(*call_arguments)
            found = result if isinstance(result, tuple) else (result,)
            shared = [
                [isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.shares_memory(a, b) for b in found]
                for a in (*call_arguments, *found)
            ]
            report.append((repr(result), shared, repr(call_arguments)))
        assert report[0] == report[1]
    assert "plain Python" not in compiled.explain()
    return compiled


def arrays_in(compiled):
    (trace,) = compiled.concrete_functions
    return [node.op.name for node in trace.optimised.walk() if node.op.name.startswith("array_")]


X, Y = np.arange(6.0), np.linspace(-1, 1, 6)


def test_a_loop_without_iterations_returns_the_array_itself():
    def f(x, n):
        for _ in range(n):
            x = x * 2 + 1
        return x, x.sum()

    compiled = check(f, (X, 0), (X, 1), (X, 3))
    assert sorted(arrays_in(compiled)) == ["array_load", "array_of"]


def test_views_of_carried_arrays():
    def f(x, n):
        for _ in range(n):
            a, b = x[0], x[1:]
            x = np.concatenate([b * a, x[:1]])
        return x

    check(f, (X + 1, 0), (X + 1, 4))


def test_the_previous_array_is_carried_as_well():
    def f(x, y, n):
        for _ in range(n):
            x, y = y, x + y
        return x, y

    check(f, (X, Y, 0), (X, Y, 1), (X, Y, 2), (X, Y, 5))

    def last(x, n):
        old = x
        for _ in range(n):
            old = x
            x = x + 1
        return x, old

    check(last, (X, 0), (X, 1), (X, 2))


def test_writes_after_the_loop():
    def f(x, n):
        y = x
        for _ in range(n):
            y = y * 2
        x[0] = 50.0
        total = y.sum()
        y[1] = 70.0
        return y, total, x.sum()

    check(f, (X, 0), (X, 2))


def test_writes_in_the_loop():
    def f(x, y, n):
        total = 0.0
        for i in range(n):
            y = y + x
            x[i] = 10.0
            total = total + y.sum()
        return y, total

    check(f, (X, Y, 0), (X, Y, 3))

    def shifted(x, n):
        y = x[1:]
        for _ in range(n):
            y = y * 2
            x[1] = 9.0
        return y.sum()

    check(shifted, (X, 0), (X, 2))


def test_one_array_before_two_loops():
    def f(x, n, m):
        start = x + 1
        a = start
        for _ in range(n):
            a = a * 2
        b = start
        for _ in range(m):
            b = b * 3
        return a, b

    check(f, (X, 1, 0), (X, 0, 2), (X, 1, 1))


def test_one_array_under_two_names():
    def f(x, n):
        y = x
        for _ in range(n):
            y = x = x + 1
        return x, y

    check(f, (X, 0), (X, 2))


@pytest.mark.parametrize("limit", [0.0, 3.0, 100.0])
def test_loops_in_conditions_in_loops(limit):
    def f(x, y, limit):
        steps = 0
        while steps < 4:
            if x.sum() < limit:
                for _ in range(2):
                    y = y + 0.5
                x = x + y
            else:
                x = x * 0.5
            steps += 1
        return x, y, steps

    check(f, (X, Y, limit))


def test_conditions_that_read_arrays_of_the_loop():
    def f(x, board):
        while board[0] < 3.0:
            x = x + board[0]
            board[0] += 1.0
        return x

    check(f, (X, np.zeros(2)), (X, np.full(2, 5.0)))


def test_zeros_and_ones_that_are_added_to():
    def f(x, n):
        total, product = np.zeros(6), np.ones_like(x)
        for _ in range(n):
            total, product = total + x, product * 2
        return total, product

    check(f, (X, 0), (X, 3))
