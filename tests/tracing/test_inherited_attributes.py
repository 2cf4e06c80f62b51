"""Attributes of classes, read through instances and subclasses until these have attributes of their own."""

import pytest

import autoconv


def make_classes():
    class Counter:
        n = 0

    class Sub(Counter):
        pass

    return Counter, Sub


def a_subclass(counter, sub, x):
    counter.n += 10
    if x > 0:
        sub.n += 1
    return sub.n


def an_instance(counter, sub, x):
    o = sub()
    for i in range(x):
        counter.n += 1
        if i == 2:
            o.n = 100
    return o.n


def both_ways(counter, sub, x):
    counter.n = counter.n + x
    if x > 2:
        sub.n = sub.n + 1
    return counter.n, sub.n


def one_after_the_other(counter, sub, x):
    if x > 1:
        sub.n = 5
    counter.n = x
    return sub.n, counter.n, sub().n


@pytest.mark.parametrize("program", [a_subclass, an_instance, both_ways, one_after_the_other])
def test_as_in_python(program):
    outcomes = []
    for decorate in (lambda f: f, autoconv.compile):
        counter, sub = make_classes()

        def call(x, counter=counter, sub=sub):
            return program(counter, sub, x)

        decorated = decorate(call)
        outcomes.append([(decorated(x), counter.n, sub.__dict__.get("n")) for x in (1, 3, 0, 4)])
    assert outcomes[0] == outcomes[1]


def test_defaults_of_a_class_stay_in_the_graph():
    class Account:
        balance = 0

        def add(self, x):
            if x > 0:
                self.balance += x
            return self.balance

    account, plain = Account(), Account()
    compiled = autoconv.compile(Account.add)
    assert [compiled(account, x) for x in (1, -2, 3)] == [plain.add(x) for x in (1, -2, 3)] == [1, 1, 4]
    assert "plain Python" not in compiled.explain()
