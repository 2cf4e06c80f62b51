"""Tracebacks through compiled functions that call each other have a frame for each caller, as plain Python's do."""

from __future__ import annotations

import itertools
import traceback

import pytest

import autoconv


def identity(function):
    return function


def chain(decorate_inner, decorate_middle, decorate_outer):
    @decorate_inner
    def check(value, kind):
        if not isinstance(value, kind):
            raise TypeError(f"{value!r} is not of the kind")
        if value < 0:
            raise ValueError("negative")

    @decorate_middle
    def check_twice(value, times):
        if times > 1:
            check_twice(value, times - 1)
        check(value, (int, float))
        return value

    @decorate_outer
    def scaled(value, times):
        checked = check_twice(value, times)
        return checked * 2

    return scaled


def frames_of(function, *arguments):
    try:
        function(*arguments)
    except (TypeError, ValueError) as error:
        entries = traceback.extract_tb(error.__traceback__)
        return [(entry.name, entry.lineno) for entry in entries if entry.filename == __file__][1:], str(error)
    return [], ""


@pytest.mark.parametrize("decorators", list(itertools.product([identity, autoconv.compile], repeat=3)))
def test_each_caller_has_a_frame(decorators):
    plain, compiled = chain(identity, identity, identity), chain(*decorators)
    for arguments in [("a", 1), (3, 1), (-2, 1), ("b", 1), (-2.5, 2), (4, 2), ("a", 2), ("a", 1), (-1, 3)]:
        assert frames_of(compiled, *arguments) == frames_of(plain, *arguments)
