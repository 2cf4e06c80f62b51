"""Attributes that programs set on compiled functions, and compiled wrappers of compiled functions."""

from __future__ import annotations

import functools
import inspect
import time

import pytest

import autoconv


@autoconv.compile
def remembered(n):
    if not hasattr(remembered, "_cache"):
        remembered._cache = {}
    if n in remembered._cache:
        return "known", remembered._cache[n]
    remembered._cache[n] = n * n
    return "new", n * n


def test_results_in_an_attribute():
    calls = [remembered(n) for n in (1, 2, 1, 2, 3, 1)]
    assert calls == [("new", 1), ("new", 4), ("known", 1), ("known", 4), ("new", 9), ("known", 1)]
    assert remembered._cache == {1: 1, 2: 4, 3: 9}


@pytest.mark.parametrize("name", ["name", "options", "_cache", "_call", "_options", "_run", "_store"])
def test_a_name_that_commands_and_handlers_have(name):
    @autoconv.compile
    def command(n):
        return n + 1

    assert [command(n) for n in range(3)] == [1, 2, 3]
    setattr(command, name, "mine")
    assert getattr(command, name) == "mine"
    assert [command(n) for n in (3, 4, 1.5)] == [4, 5, 2.5]


def counted(function):
    @functools.wraps(function)
    @autoconv.compile
    def with_count(*args):
        with_count.calls += 1
        return "counted", with_count.calls, function(*args)

    with_count.calls = 0
    return with_count


@autoconv.compile
def tripled(x: int) -> int:
    """Return three times the number."""
    return x * 3


def test_a_compiled_wrapper_of_a_compiled_function():
    tripled.topic = "arithmetic"
    wrapped = counted(tripled)
    assert [wrapped(n) for n in (1, 2, 2.5)] == [("counted", 1, 3), ("counted", 2, 6), ("counted", 3, 7.5)]
    assert wrapped.__name__ == "tripled" and wrapped.__doc__ == tripled.__doc__ and wrapped.__wrapped__ is tripled
    assert wrapped.topic == "arithmetic" and wrapped.calls == 3 and not hasattr(tripled, "calls")
    assert inspect.signature(wrapped) == inspect.signature(tripled)
    twice = counted(wrapped)
    assert [twice(n) for n in (1, 2)] == [("counted", 1, ("counted", 4, 3)), ("counted", 2, ("counted", 5, 6))]


def test_a_tensor_function_that_wraps_another():
    @autoconv.function
    def inner(x):
        return x * 3

    @functools.wraps(inner)
    @autoconv.function
    def outer(x):
        return inner(x) + 1

    assert [int(outer(autoconv.constant(n))) for n in (1, 2)] == [4, 7]


def test_documentation_of_methods_that_run_plain():
    class Clock:
        @autoconv.compile
        def read(self, x):
            """Return the time."""
            return time.time() > x

    for clock in [Clock() for _ in range(4)]:
        assert clock.read(0) is True and clock.read.__doc__ == "Return the time."
        assert inspect.getdoc(clock.read) == "Return the time."
