"""Subscripts of NumPy's objects that make arrays, `np.mgrid[…]`: the arrays belong to the program."""

import numpy as np
import pytest

import autoconv as ac


def divergence(width, height, turns):
    y, x = np.ogrid[-1.4 : 1.4 : height * 1j, -2 : 0.8 : width * 1j]
    c = x + y * 1j
    z = c
    found = turns + np.zeros(z.shape, dtype=int)
    for i in range(turns):
        z = z**2 + c
        diverges = z * np.conj(z) > 2**2
        now = diverges & (found == turns)
        found[now] = i
        z[diverges] = 2
    return found


def returned(width, height, turns):
    return np.ogrid[0:width, 0:height], np.mgrid[0:1:3j], np.r_[0:4, 7]


def changed_where_made(width, height, turns):
    grid = np.mgrid[0:3, 0:4]
    rows, columns = grid
    rows[0] = width
    grid *= 2
    line = np.r_[0:4, 7]
    line[1:] += height
    return grid, columns, line, np.c_[0:3, 1:4]


def changed_and_read_again(width, height, turns):
    total = 0.0
    for i in range(turns):
        grid = np.ogrid[0:5]
        grid[i % 5] += i
        total += (grid * np.arange(5)).sum()
    return total


@pytest.mark.parametrize("function", [divergence, returned, changed_where_made, changed_and_read_again])
def test_grids_are_new_on_every_call(function):
    compiled = ac.compile(function)
    for arguments in ((6, 5, 7), (6, 5, 7), (4, 5, 9), (6, 5, 7)):
        expected, found = function(*arguments), compiled(*arguments)
        assert repr(found) == repr(expected)
        for part in found if isinstance(found, tuple) else ():
            if isinstance(part, np.ndarray):
                part[...] = -1  # the next call is unaffected
    description = compiled.explain()
    assert "plain Python:" not in description, description


def test_grids_under_function_are_arrays():
    @ac.function
    def f(x):
        return x + np.mgrid[0:3] + np.r_[1.0, 2.0, 3.0].astype(int)

    assert f(ac.constant(np.arange(3))).numpy().tolist() == [1, 4, 7]
