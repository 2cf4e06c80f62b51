"""Under `compile`: global arrays that a function reads; small ones are compared on every call."""

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


def test_small_arrays_are_part_of_the_graph():
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


def test_writes_to_them_are_noticed():
    table = np.arange(3.0)

    def f(x):
        return x + table, table[1] * 2

    compiled = ac.compile(f)
    assert compiled(np.ones(3))[0].tolist() == [1.0, 2.0, 3.0]
    table[1] = 10.0
    found = compiled(np.ones(3))
    assert found[0].tolist() == [1.0, 11.0, 3.0] and found[1] == 20.0
    assert "plain Python" not in compiled.explain() and "changed" in compiled.explain()


def test_a_returned_array_is_the_array_itself():
    for function in (lambda n: WEIGHTS, lambda n: WEIGHTS[1:], lambda n: (n, WEIGHTS.T)):
        compiled = ac.compile(function)
        for _ in range(2):
            found = compiled(1)
            assert np.shares_memory(found[1] if isinstance(found, tuple) else found, WEIGHTS)
        assert "an array from outside, or a view of one, is returned" in compiled.explain()


def test_a_written_array_is_changed():
    board = np.zeros(3)

    @ac.compile
    def f(n, value):
        board[n] = value
        return board.sum()

    assert (f(0, 2.0), f(2, 3.0)) == (2.0, 5.0)
    assert board.tolist() == [2.0, 0.0, 3.0]


def test_large_arrays_are_inputs():
    @ac.compile
    def f(n):
        return LARGE[n] + LARGE.sum()

    for value in (1.0, 5.0, -2.0):
        LARGE[2] = value
        assert f(2) == value + LARGE.sum()
    assert "plain Python" not in f.explain() and f.experimental_get_tracing_count() == 1


def test_arrays_that_change_become_inputs():
    class Holder:
        pass

    holder = Holder()
    holder.w, holder.part = np.ones(3), Holder()
    holder.part.t, holder.rate = np.zeros(3), 0.5

    @ac.compile
    def f(x):
        return x * holder.w + holder.part.t * holder.rate

    for step in range(6):
        holder.w = holder.w * 1.5  # another array
        holder.part.t += step  # the same one
        np.testing.assert_array_equal(f(np.arange(3.0)), np.arange(3.0) * holder.w + holder.part.t * 0.5)
    assert f.experimental_get_tracing_count() == 2, f.explain()


def test_numbers_that_change_become_inputs_the_third_time():
    rate, count = 0.5, 1

    @ac.compile
    def f(x):
        total = x * rate
        for i in range(count):
            total = total + i
        return total

    for _ in range(8):
        rate, count = rate * 0.5, count + 1
        assert f(2.0) == 2.0 * rate + sum(range(count))
    assert f.experimental_get_tracing_count() == 3, f.explain()


def test_values_that_python_needs_stay_part_of_the_trace():
    table = np.array([2, 3])

    @ac.compile
    def f(x):
        return np.zeros(int(table[0])), x

    for size in (2, 3, 4, 2):
        table[0] = size
        assert f(1.0)[0].shape == (size,)
