"""Wrappers are called by the parameters of their own code, not by those that `functools.wraps` advertises."""

from __future__ import annotations

import functools
import inspect

import autoconv


def scaled(x, *, factor=2):
    return x * factor


def test_a_wrapper_that_passes_a_keyword_itself():
    @functools.wraps(scaled)
    def tripled(*args, **kwargs):
        return scaled(*args, factor=3, **kwargs)

    compiled = autoconv.compile(tripled)
    assert [compiled(n) for n in (1, 2, 2.5)] == [3, 6, 7.5]
    assert inspect.signature(compiled) == inspect.signature(scaled)


def test_a_wrapper_that_takes_fewer_arguments_than_its_function():
    def power(base, exponent):
        return base**exponent

    @functools.wraps(power)
    def square(base):
        return power(base, 2)

    compiled = autoconv.compile(square)
    assert [compiled(n) for n in (3, 4, 5)] == [9, 16, 25]
    assert autoconv.compile(functools.partial(square))(3) == 9


def test_a_method_with_an_advertised_signature():
    class Account:
        def __init__(self, balance):
            self.balance = balance

        def add(self, *amounts, sign=1):
            self.balance += sign * sum(amounts)
            return self.balance

        add.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)])
        compiled_add = autoconv.compile(add)

    account = Account(10)
    assert [account.compiled_add(1, 2), account.compiled_add(3), account.compiled_add(4, sign=-1)] == [13, 16, 12]


def test_a_recursive_function_inside_of_a_wrapper():
    def add_depth(function):
        @functools.wraps(function)
        def with_depth(*args):
            return function(*args, depth=1)

        return with_depth

    @add_depth
    def total(n, depth=0):
        return depth if n <= 0 else n + total(n - 1)

    assert [autoconv.compile(total)(n) for n in (0, 3, 5)] == [1, 7, 16]
