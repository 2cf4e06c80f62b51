"""Operators of frozensets whose right operand is a set that has moved into the graph."""

from __future__ import annotations

import operator

import pytest

import autoconv
from autoconv.operators.values import set_operators
from tests.tracing.plain_comparison import check_against_plain

KNOWN = frozenset({1, 5})


class Holder:
    allowed = frozenset({1, 5})

    def sizes(self, found):
        return len(self.allowed & found), len(self.allowed - found), len(self.allowed ^ found)


def of_a_global(n):
    found = set()
    while n > 0:
        found.add(n)
        n -= 2
    return [sorted(x) for x in (KNOWN | found, KNOWN & found, KNOWN - found, KNOWN ^ found, (KNOWN - {5}) | found)]


def of_an_attribute(n):
    found = {7}
    if n > 2:
        found.add(n)
    return Holder().sizes(found)


def by_other_names(n):
    found = set()
    while n > 0:
        found.add(n)
        n -= 2
    joined = KNOWN
    joined |= found
    less = KNOWN
    less -= found
    chosen = KNOWN if n < 0 else frozenset()
    return [sorted(x) for x in (joined, less, chosen & found, operator.sub(KNOWN, found))]


@pytest.mark.parametrize("program", [of_a_global, of_an_attribute, by_other_names])
def test_elements_of_the_set_are_found(program):
    compiled = check_against_plain(program, (1,), (3,), (5,), (2,))
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()


def test_outside_of_traces_the_operators_are_python_s():
    assert {getattr(autoconv.operators, name) for name in set_operators.PYTHON_FUNCTION_BY_OPERATOR} == {
        operator.or_, operator.and_, operator.xor, operator.sub,
    }  # fmt: skip
