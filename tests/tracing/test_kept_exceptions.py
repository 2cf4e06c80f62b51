"""Exceptions that outlive their handlers have the traceback of plain Python, and no attribute of this package."""

import contextlib
import gc
import sys
import traceback
import weakref

import pytest

import autoconv
from autoconv.config import SETTINGS

kept_errors = []


def quotient(x, k):
    if x == k:
        raise ValueError("equal")
    return 10 // (x - k - 1)


def keep(x, k):
    try:
        return quotient(x, k)
    except ArithmeticError as error:
        kept_errors.append(error)
        return 0


def returned(x, k):
    try:
        return quotient(x, k)
    except ValueError as error:
        last = error
    return last, k


def within(x, k):
    return keep(x, k) + keep(x + 1, k), kept_errors[-1:]


def raised_again(x, k):
    try:
        return quotient(x, k)
    except ArithmeticError as error:
        kept_errors.append(error)
        raise


def raised_by_callee(x, k):
    return raised_again(x, k) + 1


def replaced(x, k):
    try:
        return quotient(x, k)
    except ValueError as error:
        try:
            return 1 // (x - k)
        except ZeroDivisionError as other:
            kept_errors.append(other)
            kept_errors.append(error)
    return k


def finished(x, k):
    try:
        for i in range(3):
            if i == k:
                return quotient(x, k)
    except (ValueError, ArithmeticError) as error:
        found = [error, k]
    else:
        found = [None, k]
    return found


class Marked(Exception):
    plain = ValueError("an attribute of the program's")
    is_fault = True
    place = "here"


def marked(x, k):
    if x == k:
        raise Marked(k)
    return k


def describe(value):
    if isinstance(value, BaseException):
        frames = traceback.extract_tb(value.__traceback__)
        places = [(item.name, item.lineno) for item in frames if item.filename == __file__ and item.name != "outcome"]
        context = value.__context__
        return type(value).__name__, value.args, places, vars(value), context if context is None else describe(context)
    return [describe(item) for item in value] if isinstance(value, (list, tuple)) else value


def outcome(function, arguments):
    try:
        result = function(*arguments)
    except Exception as error:
        result = error
    return describe(result), describe(kept_errors)


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize(
    "program", [keep, returned, within, raised_again, raised_by_callee, replaced, finished, marked]
)
def test_tracebacks_are_those_of_plain_python(program, backend, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    monkeypatch.setattr(SETTINGS, "backend", backend)
    found = []
    for function in (program, autoconv.compile(program)):
        kept_errors.clear()
        found.append([outcome(function, arguments) for arguments in [(5, 2), (2, 2), (3, 2), (4, 1), (2, 1), (1, 1)]])
    assert found[0] == found[1]
    assert "plain Python" not in function.explain(), function.explain()


class Local:
    pass


@pytest.mark.parametrize(
    "run", [lambda x: (value for value in [x]), lambda x: sys.getrecursionlimit() + x, lambda x: [x, 1][x + 5]]
)
def test_abandoned_traces_keep_no_variables_of_callers(run):
    compiled = autoconv.compile(run)

    def call(x):
        local = Local()
        with contextlib.suppress(IndexError):
            compiled(x)
        return weakref.ref(local)

    with_collection = gc.isenabled()
    gc.disable()
    try:
        assert [call(x)() for x in range(3)] == [None] * 3
    finally:
        if with_collection:
            gc.enable()
