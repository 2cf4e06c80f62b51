"""NumPy functions of arrays whose sizes only the call has: one compilation serves all sizes."""

import numpy as np
import pytest

import autoconv as ac

SHAPES = ((3, 3), (4, 4), (5, 5), (6, 6), (7, 5), (5, 8), (6, 4), (9, 9))


def filled_diagonal(a):
    np.fill_diagonal(a, 7.5)
    return a


def put_along_rows(a):
    np.put_along_axis(a, np.argmax(a, axis=1)[:, None], -1, axis=1)
    return a


FUNCTIONS = {
    "average": lambda a: np.average(a, weights=a * a + 1),
    "average of columns": lambda a: np.average(a[:, 0], weights=a[:, 1]),
    "average along an axis": lambda a: np.average(a, axis=0, weights=a[:, 0]),
    "array_equal": lambda a: (np.array_equal(a, a + 0), np.array_equal(a, a + 1), np.array_equal(a, a[0])),
    "fill_diagonal": filled_diagonal,
    "take_along_axis": lambda a: np.take_along_axis(a, np.argmax(a, axis=0)[None], 0),
    "put_along_axis": put_along_rows,
    "unravel_index": lambda a: np.unravel_index(np.argmax(a), a.shape),
    "element at an unravelled index": lambda a: a[np.unravel_index(a.argmin(), a.shape)],
}
# Programs in which sizes or indices do not fit: these calls run as plain Python.
MISFITS = {
    "average": lambda a: np.average(a[0], weights=a[:, 0]),
    "array_equal": lambda a: np.array_equal(a[0], a[:, 0]),
    "unravel_index": lambda a: np.unravel_index(np.argmax(a), (2, 2)),
}


def outcome(function, a):
    try:
        return repr(function(a)), repr(a)
    except (TypeError, ValueError) as error:
        return type(error), str(error)


def arrays():
    for rows, columns in SHAPES:
        yield np.round(np.random.default_rng(rows * columns).normal(size=(rows, columns)) * 64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_compilation_serves_the_sizes(name):
    compiled = ac.compile(FUNCTIONS[name])
    for a in arrays():
        assert outcome(compiled, a.copy()) == outcome(FUNCTIONS[name], a.copy())
    assert compiled.experimental_get_tracing_count() == 3 and "plain" not in compiled.explain()


@pytest.mark.parametrize("name", MISFITS)
def test_misfits(name):
    compiled = ac.compile(MISFITS[name])
    for a in arrays():
        assert outcome(compiled, a.copy()) == outcome(MISFITS[name], a.copy())
    assert compiled.experimental_get_tracing_count() == 3
