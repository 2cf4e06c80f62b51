"""Arrays that NumPy returns read-only stay read-only in compiled functions: a write to one raises, as in NumPy."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS


def of_a_constant(x):
    v = np.broadcast_to(1.0, (2, 3))
    v *= x
    return v


def of_an_argument(x):
    v = np.broadcast_to(x, (2, 3))
    v[0, 0] = 2
    return v


def of_a_computed_array(x):
    v = np.broadcast_to(np.arange(3) * x, (2, 3))
    v[0] += 2
    return v


def of_a_row(x):
    v = np.broadcast_to(1.0, (2, 3))[0]
    v[0] = x
    return v


def of_another_view(x):
    v = np.broadcast_to(1.0, (2, 3))
    v.T[0] = x
    return v


def by_a_method(x):
    v = np.broadcast_to(x, (2,))
    v.fill(3.0)
    v.sort()
    return v


def by_a_function(x):
    v = np.broadcast_to(x, (2,))
    np.put(v, 0, x)
    return v


def in_a_loop(x):
    v = np.broadcast_to(1.0, (2, 3))
    for i in range(2):
        v[i] += x
    return v


def in_a_branch(x):
    v = np.broadcast_to(1.0, (2,))
    if x > 2:
        v = np.zeros(2)
    v[0] = 1
    return v


def carried_by_a_loop(x):
    v = np.zeros(2)
    for _ in range(3):
        v = np.broadcast_to(v * x + 1, (2,))
        w = np.zeros(3)
        w[0] = v[1]
    return v


def in_a_handler(x):
    v = np.broadcast_to(1.0, (2,))
    try:
        v[0] = x
    except ValueError:
        return x
    return 0


def a_copy(x):
    v = np.broadcast_to(x, (2,)).copy()
    v[0] = 1
    return v


def returned(x):
    w = np.zeros(2)
    w[0] = x
    return np.broadcast_to(1.0, (2, 2)), np.broadcast_to(x, (3,))[1:]


def _outcome(function, x):
    try:
        found = function(x)
    except ValueError as error:
        return str(error).rpartition(" is ")[2]
    parts = found if isinstance(found, tuple) else (found,)
    return [(part.tolist(), part.flags.writeable) if isinstance(part, np.ndarray) else part for part in parts]


@pytest.mark.parametrize("function", [
    of_a_constant, of_an_argument, of_a_computed_array, of_a_row, of_another_view, by_a_method, by_a_function,
    in_a_loop, in_a_branch, carried_by_a_loop, in_a_handler, a_copy, returned,
])  # fmt: skip
def test_as_in_numpy(function):
    compiled = ac.compile(function)
    for x in (2.5, 1.5, 2.5, 1.5):
        assert _outcome(compiled, x) == _outcome(function, x)


def returned_without_write(x):
    return np.broadcast_to(1.0, (2, 2)), np.broadcast_to(x, (3,))[1:], np.imag([1, 2]), np.imag([])


def test_results_without_writes():
    compiled = ac.compile(returned_without_write)
    for x in (2.5, 1.5):
        assert _outcome(compiled, x) == _outcome(returned_without_write, x)


def broadcast_row(a):
    rows = np.broadcast_to(a[0], (3, a.shape[1]))
    a[0] += 1
    return rows, rows + 0, a


def broadcast_column(a):
    columns = np.broadcast_to(a[:, :1], a.shape)
    a += 1
    return columns * a, columns[1:]


def written_broadcast_row(a):
    rows = np.broadcast_to(a[0], (3, a.shape[1]))
    rows[0] = a[1]
    return rows


def broadcast_to_a_shape_that_does_not_fit(a):
    a += 1
    return np.broadcast_to(a, (5, 3, 3))


@pytest.mark.parametrize("function", [
    broadcast_row, broadcast_column, written_broadcast_row, broadcast_to_a_shape_that_does_not_fit,
])  # fmt: skip
def test_broadcast_views_of_memory(function, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(function)
    for size in (4, 4, 5, 6, 7):
        arguments = [np.arange(4.0 * size).reshape(4, size) for _ in range(2)]
        found, expected = _outcome(compiled, arguments[0]), _outcome(function, arguments[1])
        assert found == expected
        np.testing.assert_array_equal(*arguments)
    assert "plain" not in compiled.explain()
