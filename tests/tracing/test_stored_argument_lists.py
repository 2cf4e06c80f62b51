"""Lists that are stored in an object, and read by loops: the object refers to the argument itself."""

from __future__ import annotations

import copy

import pytest

import autoconv as ac
from autoconv.config import SETTINGS


class Plan:
    pass


def count(self, xs, ys):
    self.xs = xs
    self.count = 0
    for x in xs:
        for y in ys:
            if x == y:
                self.count += 1


def count_both(self, xs, ys):
    self.xs, self.ys, self.pairs = xs, ys, []
    for x, y in zip(self.xs, self.ys, strict=True):
        if x != y:
            self.pairs.append(x - y)


def appends_later(self, xs, ys):
    self.xs = xs
    for y in ys:
        if y not in xs:
            xs.append(y)
    self.total = sum(self.xs)


def appends_by_the_attribute(self, xs, ys):
    self.xs = xs
    for y in ys:
        self.xs.append(y)
    self.total = sum(xs)


def appends_to_another_attribute(self, xs, ys):
    self.xs = xs
    for y in ys:
        self.other.append(y)
    self.total = sum(xs) + len(self.xs)


def writes_items(self, xs, ys):
    self.xs = xs
    for i in range(len(xs)):
        self.xs[i] = xs[i] + ys[0]
    self.total = sum(self.xs) - sum(xs)


def stores_one_of_two(self, xs, ys):
    zs = xs if len(ys) > 20 else ys
    self.xs = zs
    self.total = 0
    for z in zs:
        self.total += z


def stores_twice_and_returns(self, xs, ys):
    self.xs = self.ys = xs
    total = 0
    for x in xs:
        total += x * ys[0]
    self.total = total
    return xs


def stores_rows(self, xs, ys):
    rows = [xs, ys]
    self.rows = rows
    self.xs = xs
    total = 0
    for row in rows:
        for x in row:
            total += x
    self.total = total


def stores_in_a_loop(self, xs, ys):
    total = 0
    for y in ys:
        self.xs = xs
        for x in xs:
            total += x * y
    self.total = total


def stores_and_fails(self, xs, ys):
    self.xs = xs
    total = 0
    for x in xs:
        total += x
    self.total = total
    return total // (len(ys) - 40)


FUNCTIONS = [
    count, count_both, appends_later, appends_by_the_attribute, appends_to_another_attribute, writes_items,
    stores_one_of_two, stores_twice_and_returns, stores_rows, stores_in_a_loop, stores_and_fails,
]  # fmt: skip


def outcome(function, shares_other):
    """Return what a call gives and changes, with which attributes and results are the arguments themselves."""
    plan, xs, ys = Plan(), [1, 2, 3, 2] * 10, [2, 5, 2, 7] * 10
    plan.other = xs if shares_other else []
    try:
        result = copy.copy(function(plan, xs, ys))
    except ZeroDivisionError as error:
        result = str(error)
    identities = [(name, value is xs, value is ys) for name, value in vars(plan).items()]
    attributes = copy.deepcopy(vars(plan))
    if "xs" in vars(plan):
        plan.xs.append(-1)
    return result, attributes, identities, xs, ys


@pytest.mark.parametrize("shares_other", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_object_refers_to_the_argument(function, shares_other, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(function)
    for _ in range(3):
        assert outcome(compiled, shares_other) == outcome(function, shares_other)


def test_loops_over_a_stored_list_read_numbers(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(count)
    compiled(Plan(), [1, 2] * 20, [2, 3] * 20)
    (trace,) = compiled._trace_cache.traces
    assert [node.op.name for node in trace.optimised.nodes].count("typed_list_of") == 2
    assert not trace.kernels
