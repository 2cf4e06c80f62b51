"""Results of one call that are the same array, and arrays that a loop makes and returns."""

import numpy as np

import autoconv


def test_an_array_of_constants_that_is_returned_twice_is_one():
    def f(b):
        ones = np.ones(len(b))
        return ones, [ones]

    compiled = autoconv.compile(f)
    for _ in range(3):
        first, (second,) = compiled(np.zeros(4))
        assert first is second
        np.testing.assert_array_equal(first, np.ones(4))
        first[0] = 7.0  # which the next call does not see


def test_an_array_that_a_loop_makes_before_it_returns_it():
    """The array does not exist before the first iteration, where nothing reads it."""

    def f(A):
        for _ in range(A.shape[0]):
            return A * 2
        return A[0].tolist()

    compiled = autoconv.compile(f)
    for shape in ((6, 6), (3, 12), (5, 3), (5, 3), (12, 3)):
        np.testing.assert_array_equal(compiled(np.ones(shape)), np.full(shape, 2.0))


def test_copies_share_nothing():
    def f(x, turns):
        sums, grid = x + 1.0, np.broadcast_to(x, (3, len(x)))
        copies = [sums.copy(), (x * 2.0).copy(), x.copy(), x[1:].copy(), grid.copy(), sums.flatten()]
        total = np.copy(x)
        for _ in range(turns):
            total = (total + copies[1]).copy()
        return [sums, *copies, total]

    compiled = autoconv.compile(f)
    for size in (4, 4, 40_000, 5, 6, 7):
        x = np.arange(size, dtype=np.float64)
        found, expected = compiled(x, 3), f(x, 3)
        for i, array in enumerate(found):
            np.testing.assert_array_equal(array, expected[i])
            assert array.flags.owndata == expected[i].flags.owndata and array.flags.writeable
            assert not any(np.shares_memory(array, array_before) for array_before in [x, *found[:i]])
