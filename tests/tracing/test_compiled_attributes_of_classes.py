"""Compiled callables as attributes of classes: Python binds functions to instances, and other callables not."""

from __future__ import annotations

import functools
import operator

import pytest

import autoconv


def plain(function):
    return function


class Scaled:
    """A callable object that equals no others, as its comparison reads an attribute that these do not have."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def __eq__(self, other):
        return self.factor == other.factor

    __hash__ = None


def make_class(decorate):
    class Account:
        rate = 3

        @decorate
        @staticmethod
        def fee(amount):
            return amount * 2

        @decorate
        @classmethod
        def interest(cls, amount):
            return cls.rate * amount

        @decorate
        @property
        def double_rate(self):
            """Twice the rate."""
            return self.rate * 2

        @double_rate.setter
        def double_rate(self, value):
            self.rate = value / 2

        @decorate
        def total(self, amount):
            return self.rate + amount

        largest = decorate(functools.partial(max, 2))
        scaled = decorate(Scaled(5))
        negative = decorate(operator.neg)
        text = decorate(str)

    Account.of_another = decorate(Account().total)
    return Account


@pytest.mark.parametrize("argument", [1, 2, 2.5, 4])
def test_calls_through_classes_and_instances(argument):
    compiled, expected = make_class(autoconv.compile), make_class(plain)
    for _ in range(3):
        for name in ("fee", "interest", "largest", "scaled", "negative", "text", "of_another"):
            assert getattr(compiled, name)(argument) == getattr(expected, name)(argument)
            assert getattr(compiled(), name)(argument) == getattr(expected(), name)(argument)
        account = compiled()
        account.double_rate = argument
        assert account.double_rate == argument and account.total(1) == argument / 2 + 1
        assert account.fee(argument) == argument * 2 and account.scaled(argument) == argument * 5
    assert compiled.double_rate.__doc__ == "Twice the rate."
