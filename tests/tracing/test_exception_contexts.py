"""The `__context__` of exceptions that operations of a graph raise in handlers."""

from __future__ import annotations

import contextlib
import io

import pytest

import autoconv

LOG: list[int] = []


def _after_a_constant_error(x):
    LOG.append(x)
    try:
        raise ValueError("given")
    except ValueError:
        return [1, 2][x]


def _after_a_print(x):
    print("begin")
    try:
        y = 10 // (x - 5)
    except ZeroDivisionError:
        y = {"a": 1}["b" * x]
    return y


def _read_in_the_program(x):
    try:
        try:
            raise ValueError("given")
        except ValueError:
            y = [1, 2][x]
    except IndexError as error:
        return repr(error.__context__), error.__suppress_context__, error.__context__ is error.__cause__
    return y


def _of_a_nested_handler(x):
    LOG.append(x)
    for i in range(x):
        try:
            try:
                raise KeyError("outer")
            except KeyError:
                LOG.append(10 // (i - 2))
        except ZeroDivisionError as error:
            raise RuntimeError("inner") from error
    return x


def _from_none(x):
    LOG.append(x)
    try:
        try:
            return {0: 5}[x]
        except KeyError:
            raise IndexError(x) from None
    except IndexError as error:
        return repr(error.__context__), error.__suppress_context__, error.__cause__


@pytest.mark.parametrize(
    "program", [_after_a_constant_error, _after_a_print, _read_in_the_program, _of_a_nested_handler, _from_none]
)
def test_contexts_are_those_of_plain_python(program):
    compiled = autoconv.compile(program)
    for x in (1, 5, 5, 7):
        assert _outcome(compiled, x) == _outcome(program, x)
    assert compiled.concrete_functions


def _outcome(function, x):
    LOG.clear()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            found = function(x)
        except Exception as error:
            found = _chain(error)
    return found, printed.getvalue(), list(LOG)


def _chain(error):
    return None if error is None else (repr(error), vars(error), _chain(error.__cause__), _chain(error.__context__))
