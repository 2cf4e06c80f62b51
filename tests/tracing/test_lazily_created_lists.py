"""A name that is None until a loop or a branch on a tensor binds it to a new list."""

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


def lists_of_lists(a, b):
    out = None
    for i in range(b):
        row = [i]
        if out is None:
            out = []
        out.append(row)
    return out


def numbers(a, b):
    out = None
    for i in range(b):
        if out is None:
            out = []
        out.append(i)
    return out


def without_a_loop(a, b):
    out = None
    if a > 2:
        out = []
    if out is None:
        out = [1]
    out.append(5)
    return out


def another_name(a, b):
    out = None
    keep = []
    for i in range(b):
        if out is None:
            out = []
        alias = out
        out.append(i)
        alias.append(-1)
        keep.append(alias)
    return out, keep, len(keep) and keep[0] is out


def none_again(a, b):
    out = None
    while b > 0:
        b -= 1
        if out is None or len(out) > 2:
            out = [a]
        elif b == a:
            out = None
            continue
        out.append(b)
    return out


def a_dict_of_an_outer_function(a, b):
    cache = None
    total = 0

    def get():
        nonlocal cache
        if cache is None:
            cache = {}
        return cache

    while b > 0:
        b -= 1
        get()[b] = a
        total += len(get())
    return cache, total


def two_names(a, b):
    x = None
    y = None
    while b > 0:
        b -= 1
        if x is None:
            x = [a]
            y = x
        x.append(b)
        y.append(7)
    return x, y, x is y


def a_list_from_before(a, b):
    x = None
    rows = [a, 5]
    while b > 0:
        b -= 1
        if x is None:
            x = rows
        x.append(b)
        rows.append(7)
    return x, rows, x is rows


def the_best_row(a, b):
    best = None
    while b > 0:
        b -= 1
        row = [b, a]
        if best is None or best[0] < row[0]:
            best = row
        row.append(3)
        if b == 2:
            best.append(4)
    return best


def in_a_tuple(a, b):
    t = None
    while b > 0:
        b -= 1
        if t is None:
            t = (a, [b])
        t[1].append(b)
    return t


PROGRAMS = [
    lists_of_lists, numbers, without_a_loop, another_name, none_again, a_dict_of_an_outer_function,
    two_names, a_list_from_before, the_best_row, in_a_tuple,
]  # fmt: skip
INPUTS = [(1, 2), (5, 1), (0, 3), (0, 0), (3, 0), (6, 6), (3, 3)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_list_made_on_demand(program):
    compiled = autoconv.compile(program)
    for arguments in INPUTS:
        assert result_or_error(compiled, *arguments) == result_or_error(program, *arguments), arguments
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()
