"""Under `compile`: augmented operators of arrays, and the identity of arrays from indices."""

import operator

import numpy as np
import pytest

import autoconv as ac
from tests.tracing.compared_arrays import ARRAYS, check, check_plain_run, check_up_to_rounding


def test_operators_that_change_their_operand():
    def f(n):
        xs, table = [1, 2, 3], {}
        for i in range(n):
            operator.setitem(xs, 0, xs[0] + i)
            operator.setitem(table, i % 2, i)
            xs = operator.iadd(xs, [i])
        if n > 3:
            operator.delitem(xs, 1)
            xs = operator.imul(xs, 2)
        return xs, table, operator.iadd(n, 1), operator.getitem(xs, 0)

    check(f, (0,), (2,), (5,), traces=1)


def test_operators_change_arguments():
    def f(xs, n):
        operator.setitem(xs, 0, n)
        ys = operator.iadd(xs, [n])
        return ys is xs

    compiled = ac.compile(f)
    compiled_list, plain_list = [1, 2], [1, 2]
    for n in (3, 4):
        assert compiled(compiled_list, n) == f(plain_list, n)
        assert compiled_list == plain_list


def test_operators_change_arrays():
    def f(x):
        operator.setitem(x, 0, 9.0)
        operator.iadd(x, 1.0)
        return x.sum()

    compiled_array, plain_array = np.ones(3), np.ones(3)
    assert ac.compile(f)(compiled_array) == f(plain_array)
    assert compiled_array.tolist() == plain_array.tolist()


@pytest.mark.parametrize(
    "view", [np.s_[:, :33], np.s_[::-1], np.s_[:, ::3], np.s_[3::2, 4:-4], np.s_[:, 5], np.s_[4:2]]
)
def test_arguments_that_are_views(view):
    base = np.random.default_rng(1).normal(size=(300, 70))
    check_up_to_rounding(lambda x: (x.sum(), x.T.sum(), x.T.copy()), (base[view],))
    if base[view].size:
        check_up_to_rounding(lambda x: (x.mean(), x.std()), (base[view],))
    check_up_to_rounding(lambda x: (x.sum(),), (np.broadcast_to(base[0], (5, 70)),))


def test_deviations_of_no_elements_are_left_to_numpy():
    check_plain_run(lambda x: (x.mean(), x.std()), np.ones((0, 7)), reason="warns of too few elements")


def test_elements_that_an_index_array_selects_are_a_copy():
    def f(x):
        return x[x > 0], x[[0, 1]], x[x.argmax(axis=0), [0, 1, 0]]

    check(f, (ARRAYS[0],), (ARRAYS[1],))
    compiled = ac.compile(f)
    assert not any(np.shares_memory(ARRAYS[0], found) for found in compiled(ARRAYS[0]))
    assert np.shares_memory(ARRAYS[0], ac.compile(lambda x: x[:, 1:])(ARRAYS[0]))
