"""Bytecode in one form for all versions of Python."""

from __future__ import annotations

import collections

import pytest

from autoconv.operators.support.read_only_methods import may_write, only_reads
from autoconv.runtime.support.bytecode import instructions_of
from autoconv.tracing.guards.attribute_reads import names_in_code
from autoconv.tracing.specialise.watched_call import may_be_watched


def pairs(a, b):
    c, d = a, b
    return a + b + c + d


def constant(x):
    x.f(1)
    if x.g:
        x.h = 2


class Log(collections.UserList):
    def add(self, x):
        super().append(x)
        return super().data


def test_instructions_are_those_of_python_3_11():
    steps = [(step.opname, step.argval) for step in instructions_of(pairs)]
    assert [name for operation, name in steps if operation == "LOAD_FAST"] == ["a", "b", "a", "b", "c", "d"]
    assert sorted(name for operation, name in steps if operation == "STORE_FAST") == ["c", "d"]
    steps = [(step.opname, step.argval) for step in instructions_of(constant)]
    assert ("LOAD_METHOD", "f") in steps and ("LOAD_ATTR", "g") in steps and ("STORE_ATTR", "h") in steps
    assert steps[-2:] == [("LOAD_CONST", None), ("RETURN_VALUE", None)]
    assert not any(operation in ("CACHE", "TO_BOOL", "PRECALL") for operation, _ in steps)


def test_attributes_of_super_are_attributes():
    assert {"append", "data"} <= names_in_code(Log.add.__code__).attributes
    assert may_write(Log.add, ()) and not only_reads(Log.add)
    assert not may_write(pairs, ())


def condition_of_attribute(n):
    while n % 7 and n:
        n -= 1
    return n


def comprehension(n):
    return [+i for i in range(n)]


def handler(n):
    try:
        return n
    except ValueError:
        return 0


@pytest.mark.parametrize(
    ("function", "is_watched"), [(condition_of_attribute, True), (comprehension, True), (pairs, True), (handler, False)]
)
def test_code_without_handlers_is_watched(function, is_watched):
    assert may_be_watched(function, (1, 2)[: function.__code__.co_argcount], {}) == is_watched
