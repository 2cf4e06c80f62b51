"""Outer objects without a state, such as sentinels, are compared by identity."""

import re

import autoconv

MISSING = object()
PATTERN = re.compile("a+")


def default(x, other=MISSING):
    return x * 2 if other is MISSING else other


def looked_up(numbers, key, x):
    value = numbers.get(key, MISSING)
    return x if value is MISSING else value * x


def repeated(values):
    last, count = MISSING, 0
    for value in values:
        if last is not MISSING and value == last:
            count += 1
        last = value
    return count


def chosen(x):
    return MISSING if x > 2 else PATTERN if x < 0 else ...


def test_sentinels_are_part_of_graphs():
    calls = {
        default: [(1.0,), (2.0,)], looked_up: [({"a": 2.0}, "a", 3.0), ({"a": 2.0}, "b", 3.0), ({"a": 4.0}, "a", 1.0)],
        repeated: [([1.0, 1.0, 2.0],), ([2.0, 2.0, 2.0],)], chosen: [(1.0,), (3.0,), (-1.0,)],
    }  # fmt: skip
    for function, arguments in calls.items():
        compiled = autoconv.compile(function)
        for call in arguments * 2:
            assert compiled(*call) == function(*call)
        assert "plain Python" not in compiled.explain(), compiled.explain()


def test_another_sentinel_is_noticed(monkeypatch):
    compiled, first = autoconv.compile(default), MISSING
    assert compiled(1.0, first) == default(1.0, first) == 2.0
    monkeypatch.setitem(globals(), "MISSING", object())
    assert compiled(1.0, first) is default(1.0, first) is first
    assert compiled(1.0, MISSING) == compiled(1.0, MISSING) == 2.0
