"""The name of `except E as e` is unbound after the handler, also where it was bound before."""

from __future__ import annotations

import pytest

from tests.tracing.plain_comparison import check_against_plain


def read_afterwards(n):
    e = 5
    try:
        if n > 1:
            raise ValueError
    except ValueError:
        pass
    try:
        return e
    except UnboundLocalError as error:
        return str(error)


def read_in_the_else(n):
    e = 5
    try:
        if n > 1:
            raise ValueError(n)
        n += 1
    except ValueError:
        n += 10
    else:
        n += e
    return n if n > 10 else n + e


def in_a_branch(n):
    e = 5
    if n:
        try:
            n = 10 // (n - 2)
        except ZeroDivisionError:
            n = 100
    try:
        return n, e
    except UnboundLocalError:
        return n


def in_a_loop(n):
    last = total = 0
    for i in range(n):
        try:
            total += 10 // (i - 2)
        except ZeroDivisionError:
            total += 100
            continue
        last = i
    return last, total


def assigned_by_the_body(n):
    known = False
    try:
        y = 10 // n
    except ZeroDivisionError:
        known = True
    try:
        return y, known
    except UnboundLocalError as error:
        return str(error), known


@pytest.mark.parametrize("program", [read_afterwards, read_in_the_else, in_a_branch, in_a_loop, assigned_by_the_body])
def test_names_after_handlers_are_those_of_plain_python(program):
    compiled = check_against_plain(program, (1,), (2,), (0,), (4,))
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()
