"""Under `compile`: arrays of the program that a function reads from outside, small enough to look at each time."""

import numpy as np

import autoconv as ac

WEIGHTS = np.arange(4.0)
KERNEL = np.array([[1, 2], [3, 4]])
HALF = np.float32(0.5)
LARGE = np.ones(200_000)


def check(function, *calls, traces):
    compiled = ac.compile(function)
    for arguments in calls:
        found, expected = compiled(*arguments), function(*arguments)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
    assert "plain Python" not in compiled.explain(), compiled.explain()
    assert compiled.experimental_get_tracing_count() == traces, compiled.explain()


def test_they_are_part_of_the_graph():
    check(lambda x: np.dot(x, WEIGHTS) + WEIGHTS.sum(), (np.ones(4),), (np.zeros(4),), traces=1)
    check(lambda n: WEIGHTS * n, (2,), (3,), traces=1)
    check(lambda x: x * HALF, (np.ones(2, np.float32),), traces=1)


def test_elements_in_a_loop():
    def f(n):
        total = 0.0
        for i in range(n):
            total = total + WEIGHTS[i] * KERNEL[i % 2, 1]
        return total

    check(f, (2,), (4,), traces=1)


def test_what_is_written_to_them_is_seen():
    table = np.arange(3.0)

    def f(x):
        return x + table, table[1] * 2

    compiled = ac.compile(f)
    assert compiled(np.ones(3))[0].tolist() == [1.0, 2.0, 3.0]
    table[1] = 10.0
    found = compiled(np.ones(3))
    assert found[0].tolist() == [1.0, 11.0, 3.0] and found[1] == 20.0
    assert "plain Python" not in compiled.explain() and "changed" in compiled.explain()


def test_one_that_is_returned_is_itself():
    for function in (lambda n: WEIGHTS, lambda n: WEIGHTS[1:], lambda n: (n, WEIGHTS.T)):
        compiled = ac.compile(function)
        for _ in range(2):
            found = compiled(1)
            assert np.shares_memory(found[1] if isinstance(found, tuple) else found, WEIGHTS)
        assert "an array from outside, or a view of one, is returned" in compiled.explain()


def test_one_that_is_written_is_changed():
    board = np.zeros(3)

    @ac.compile
    def f(n, value):
        board[n] = value
        return board.sum()

    assert (f(0, 2.0), f(2, 3.0)) == (2.0, 5.0)
    assert board.tolist() == [2.0, 0.0, 3.0]


def test_large_ones_are_left_to_python():
    @ac.compile
    def f(n):
        return LARGE[n]

    assert f(2) == 1.0 and "LARGE (a ndarray) is read" in f.explain()
