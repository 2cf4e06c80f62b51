"""Operators of a set that has moved into the graph and a subclass of `set`, or a view of a dict."""

import pytest

from tests.tracing.plain_comparison import check_against_plain


class Names(set):
    """A set of the program's own class."""


OWN = Names({1, 9})
TABLE = {1: 0, 9: 0}


def of_a_subclass(n):
    found = {3}
    if n > 0:
        found.add(n)
    return [sorted(x) for x in (OWN | found, OWN & found, OWN - found, OWN ^ found)], len(OWN)


def of_a_branch(n):
    found = {3}
    if n > 0:
        found.add(n)
    chosen = OWN if n > 5 else frozenset({2})
    return len(chosen | found), len(chosen - found)


def of_views(n):
    found = {3}
    if n > 0:
        found.add(n)
    results = TABLE.keys() | found, TABLE.keys() - found, TABLE.keys() ^ found
    return [sorted(x) for x in results], len(TABLE.items() | found)


def of_views_of_changed_dicts(n):
    found, table = {3}, {1: 2}
    if n > 0:
        found.add(n)
    joined = table.keys() | found
    table[5] = 1
    return sorted(joined)


@pytest.mark.parametrize("program", [of_a_subclass, of_a_branch, of_views, of_views_of_changed_dicts])
def test_left_operands_that_read_sets_directly(program):
    compiled = check_against_plain(program, (1,), (9,), (0,), (7,))
    assert "plain Python" not in compiled.explain()


def joined_in_place(n):
    found = {3}
    if n > 0:
        found.add(n)
    before = found
    found |= TABLE.keys()
    return sorted(found), sorted(before)


def chosen_in_place(n):
    found, table = {3}, {1: n}
    if n > 0:
        found.add(n)
        table.setdefault(9, n)
    before = found
    found &= table.keys()
    return sorted(found), sorted(before)


def reduced_in_place(n):
    found = {3}
    if n > 0:
        found.add(n)
    before = found
    found -= TABLE.keys()
    found ^= TABLE.keys()
    return sorted(found), sorted(before)


@pytest.mark.parametrize("program", [joined_in_place, chosen_in_place, reduced_in_place])
def test_augmented_assignments_of_views_make_a_new_set(program):
    compiled = check_against_plain(program, (1,), (9,), (0,), (7,))
    assert "plain Python" not in compiled.explain()
