"""Under `compile`, what NumPy gives as a view comes out as one, and methods that change arrays do what NumPy's do."""

import numpy as np
import pytest

import autoconv


def diagonal(a):
    return np.diagonal(a)


def lower_diagonal(a):
    return np.diagonal(a, -1), a.diagonal(2).sum()


def broadcast(a):
    return np.broadcast_to(a[0], (2, 3))


def number(a):
    return np.array(5.0) + a[0, 0]


def resized(a):
    x = a[0].copy()
    x.resize(5)
    return x


def put(a):
    np.put(a, [0, 2], [-1.0, -2.0])
    return a


def partitioned(a):
    x = a[0].copy()
    x.partition(1)
    return x[1]


def of_kinds(a):
    return np.argsort(a[1], kind="mergesort"), np.sort(a[0], kind="heapsort")


def of_no_kind(a):
    return np.argsort(a[0], kind="nonsense")


def described(value, a):
    if isinstance(value, tuple):
        return [described(part, a) for part in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist(), value.flags.writeable, np.shares_memory(value, a)
    return type(value), value


@pytest.mark.parametrize(
    "function",
    [diagonal, lower_diagonal, broadcast, number, resized, put, partitioned, of_kinds, of_no_kind],
)
def test_results_are_what_numpy_makes_of_them(function):
    def outcome(called):
        a = np.array([[2.0, 1.0, 0.0], [5.0, 4.0, 3.0], [8.0, 7.0, 6.0]])
        try:
            return described(called(a), a), a.tolist()
        except Exception as error:
            return type(error), str(error), a.tolist()

    compiled = autoconv.compile(function)
    expected = outcome(function)
    assert outcome(compiled) == expected
    assert outcome(compiled) == expected


def test_arrays_that_may_not_be_written():
    def write(a):
        a[0] = 1.0
        return a

    compiled = autoconv.compile(write)
    for writable in (True, False, True):
        a = np.zeros(3)
        a.setflags(write=writable)
        if writable:
            assert compiled(a) is a
            assert a.tolist() == [1.0, 0.0, 0.0]
            continue
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            compiled(a)


@pytest.mark.parametrize("offset", range(-4, 5))
@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (1, 3), (2, 0), (2, 3, 4)])
def test_diagonals(shape, offset):
    x = np.arange(float(np.prod(shape))).reshape(shape)
    found = np.diagonal(autoconv.constant(x), offset)
    np.testing.assert_array_equal(found, np.diagonal(x, offset))
    assert found.shape == np.diagonal(x, offset).shape
