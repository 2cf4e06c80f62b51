"""Code that patterns, `dir`, finalisers, factories and generators run implicitly has its effects once per call."""

from __future__ import annotations

import collections
import dataclasses
import gc
import os

import pytest

import autoconv

N = 0


def bump(*_):
    global N
    N += 1
    return N


class Kept:
    def __init__(self):
        self.n = 0

    def hit(self, *_):
        self.n += 1
        return self.n


class Reading(collections.UserDict):
    def __getitem__(self, key):
        bump()
        return super().__getitem__(key)


class Sized(list):
    def __len__(self):
        bump()
        return super().__len__()


class Listed:
    __match_args__ = ("hits",)

    def __init__(self):
        self.n = 0

    @property
    def hits(self):
        self.n += 1
        return self.n

    def __dir__(self):
        self.n += 1
        return ["b", "a"]


LISTED = Listed()
LISTEDS = [Listed(), LISTED]


def matched_by_name(x):
    match LISTED:
        case Listed(hits=0):
            return x
        case Listed(hits=h) if x > 2:
            return h
        case Listed(h):
            return -h


def matched_in_a_list(x):
    match sorted(LISTEDS, key=lambda q: 1):
        case [Listed(h), Listed(hits=i)]:
            return h, i, x


def matched_mapping(x, given=None):
    match Reading(a=1, b=2):
        case {"a": 3}:
            return x
        case {"a": a, "b": b}:
            return a, b, N, x


def matched_sequence(x):
    match Sized([1, 2]):
        case [a]:
            return x
        case [a, b]:
            return a, b, N, x


def listed(x):
    return dir(LISTED), x


def listed_of_many(x):
    return len(dir(sorted(LISTEDS, key=lambda q: 1)[1])) + x


@pytest.mark.parametrize(
    "function", [matched_by_name, matched_in_a_list, matched_mapping, matched_sequence, listed, listed_of_many]
)
def test_patterns_and_dir_run_code_once(function):
    global N
    found = []
    for run in (function, autoconv.compile(function)):
        N = LISTED.n = LISTEDS[0].n = 0
        found.append(([run(x) for x in (1.5, 2.5, 3.5)], N, LISTED.n, LISTEDS[0].n))
    assert found[0] == found[1]


class Dropped:
    def __del__(self):
        bump()


@dataclasses.dataclass
class Defaults:
    n: int = dataclasses.field(default_factory=lambda: bump())
    kept: object = dataclasses.field(default_factory=Kept, init=False)
    items: list = dataclasses.field(default_factory=lambda: [bump()])
    last: int = dataclasses.field(default=3, kw_only=True)


class CountingMeta(type):
    def __getattr__(cls, name):
        return bump()


class OfCountingMeta(metaclass=CountingMeta):
    pass


def counted_yields():
    try:
        for i in range(3):
            bump()
            yield i
    finally:
        bump()


def dropped(x):
    Dropped()
    return x, N


def by_factories(x):
    defaults, with_arguments = Defaults(), Defaults(7, [x])
    defaults.items.append(x)
    return defaults.n, defaults.items, with_arguments.n, with_arguments.items, with_arguments.last, N


def of_a_metaclass(x):
    return OfCountingMeta.anything + x


def closed_explicitly(x):
    numbers = counted_yields()
    next(numbers)
    numbers.close()
    return x, N


def abandoned(x):
    numbers = counted_yields()
    first = next(numbers)
    os.getpid()
    return first, x, N


def left_early(x):
    for i in counted_yields():
        if i == 1:
            break
    return x, N


@pytest.mark.parametrize("function", [dropped, by_factories, of_a_metaclass, closed_explicitly, abandoned, left_early])
def test_implicitly_run_code_has_its_effects_once(function):
    global N
    found = []
    for run in (function, autoconv.compile(function)):
        N = 0
        found.append(([run(x) for x in (1.5, 2.5, 3)], N))
        gc.collect()
        assert found[-1][1] == N
    assert repr(found[0]) == repr(found[1])
