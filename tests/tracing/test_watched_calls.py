"""Calls of unknown length run plain at first, and are traced where they take long: nothing of the plain run remains."""

from __future__ import annotations

import math
import sys

import pytest

import autoconv as ac
from autoconv.config import SETTINGS

LIMIT = 3
LOG = []


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def countdown(n):
    total = 0
    while n > 0:
        total += n % LIMIT
        n -= 1
    return total


def swept(xs, n):
    while n > 0:
        for i in range(len(xs)):
            xs[i] += n % 3
        n -= 1
    return sum(xs)


def logged(n):
    LOG.append(n)
    while n > 0:
        n -= 1
    return n


def guarded(n):
    try:
        while n > 0:
            n -= 1
        return 1 // n
    except ZeroDivisionError:
        return "none"


def roots(n):
    found = []
    while n > 0:
        found.append(round(math.sqrt(n), 3))
        n -= 1
    return [x for x in found if x > 1]


@ac.compile
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_short_loops_over_numbers_run_plain():
    compiled = ac.compile(collatz)
    assert [compiled(n) for n in range(1, 300)] == [collatz(n) for n in range(1, 300)]
    assert len(compiled.concrete_functions) == 0
    assert [ac.compile(roots)(n) for n in (3, 8)] == [roots(3), roots(8)]


def test_a_long_loop_is_traced_in_its_first_call():
    compiled = ac.compile(countdown)
    assert compiled(300_000) == countdown(300_000)
    assert len(compiled.concrete_functions) == 1


def test_items_of_lists_are_restored_before_the_call_runs_again():
    compiled = ac.compile(swept)
    for n in (2, 30_000, 5):
        ours, theirs = [1, 2, 3], [1, 2, 3]
        assert compiled(ours, n) == swept(theirs, n)
        assert ours == theirs
    assert len(compiled.concrete_functions) == 1


def test_items_of_defaults_are_restored_before_the_call_runs_again():
    @ac.compile
    def count(n, steps=[0], *, rounds=[0]):  # noqa: B006 the call changes them
        rounds[0] += 1
        while n > 0:
            n -= 1
            steps[0] += 1
        return steps[0], rounds[0]

    assert [count(n) for n in (30_000, 2, 30_000)] == [(30_000, 1), (30_002, 2), (60_002, 3)]


@pytest.mark.parametrize("function, n", [(logged, 50_000), (guarded, 50_000), (guarded, 3)])
def test_calls_with_effects_or_handlers_are_not_ended(function, n):
    LOG.clear()
    compiled = ac.compile(function)
    result, log = compiled(n), list(LOG)
    LOG.clear()
    assert (result, log) == (function(n), LOG)


def test_recursion_over_numbers():
    assert [fib(n) for n in (5, 9, 22)] == [5, 34, 17711]
    assert len(fib.concrete_functions) == 1


def test_exceptions_have_the_line_of_the_program():
    def checked(n):
        while n > 0:
            n -= 2
        raise ValueError(n)

    with pytest.raises(ValueError, match="-1") as caught:
        ac.compile(checked)(3)
    assert caught.traceback[-1].lineno + 1 == checked.__code__.co_firstlineno + 3


def test_trace_functions_of_the_program_stay():
    lines = []

    def note(frame, event, argument):
        lines.append(event)
        return note

    compiled = ac.compile(collatz)
    sys.settrace(note)
    try:
        assert compiled(27) == 111
        assert sys.gettrace() is note
    finally:
        sys.settrace(None)
    assert lines
