"""Compiled functions that a program creates anew in each call, from one definition: their traces have to amortise."""

from __future__ import annotations

import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")


def test_inner_functions():
    functions = []

    def scaled(n):
        @autoconv.compile
        def inner(x):
            return x * n + 1

        functions.append(inner)
        return inner(3) + inner(2.5)

    assert [scaled(n) for n in range(40)] == [5.5 * n + 2 for n in range(40)]
    assert sum(function.experimental_get_tracing_count() for function in functions) <= 8


def test_methods_of_inner_classes():
    classes = []

    def total(n):
        class Account:
            @autoconv.compile
            def __init__(self, balance):
                self.balance = balance

            @autoconv.compile
            def add(self, amount):
                self.balance += amount * n
                return self.balance

        classes.append(Account)
        return Account(3).add(2) + Account(1).add(0.5)

    assert [total(n) for n in range(30)] == [4 + 2.5 * n for n in range(30)]
    texts = [vars(kind)["add"].explain() for kind in classes[10:]]
    assert not any("graph, " in text for text in texts)


def test_functions_whose_calls_take_long_get_traces_of_their_own():
    def loop_of(step):
        @autoconv.compile
        def count(n):
            total = 0
            for i in range(n):
                total += i % step
            return total

        return count

    loops = [loop_of(step) for step in range(1, 7)]
    for loop, step in zip(loops, range(1, 7), strict=True):
        assert [loop(n) for n in [300_000] * 8] == [sum(i % step for i in range(300_000))] * 8
    assert all(loop.experimental_get_tracing_count() for loop in loops)
