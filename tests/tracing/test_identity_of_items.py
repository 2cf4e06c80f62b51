"""Items taken out of containers that existed before the call are the same objects, not copies."""

# ruff: noqa: C416, C417, RUF005, RUF015
from __future__ import annotations

import copy
import functools
import operator

import pytest

import autoconv

MANY, TABLE, PAIR = [[1], [2]], {"a": [1], "b": {"n": 1}}, ([1], {3})


def made_by_nobody(items=MANY):
    return items


# Each returns a list that existed before the call.
ITEM_GETTERS = {
    "comprehension": lambda: [q for q in MANY][0],
    "condition": lambda: [q for q in MANY if len(q) < 9][0],
    "nested comprehension": lambda: [[q] for q in MANY][0][0],
    "dict comprehension": lambda: {i: q for i, q in enumerate(MANY)}[0],
    "generator expression": lambda: next(q for q in MANY),
    "map": lambda: list(map(lambda q: q, MANY))[0],
    "filter": lambda: list(filter(None, MANY))[0],
    "sorted": lambda: sorted(MANY)[0],
    "sorted by key": lambda: sorted(MANY, key=len)[0],
    "min": lambda: min(MANY),
    "max by key": lambda: max(MANY, key=len),
    "list": lambda: list(MANY)[0],
    "tuple": lambda: tuple(MANY)[0],
    "copy": lambda: MANY.copy()[0],
    "slice": lambda: MANY[:][0],
    "star": lambda: [*MANY][0],
    "added": lambda: (MANY + [[]])[0],
    "reversed": lambda: list(reversed(MANY))[-1],
    "zip": lambda: list(zip(MANY, "ab", strict=True))[0][0],
    "enumerate": lambda: list(enumerate(MANY))[0][1],
    "reduce": lambda: functools.reduce(lambda a, b: a, MANY),
    "itemgetter": lambda: operator.itemgetter(0)(MANY),
    "get": lambda: TABLE.get("a"),
    "values": lambda: list(TABLE.values())[0],
    "items": lambda: list(TABLE.items())[0][1],
    "dict": lambda: dict(TABLE)["a"],
    "double star": lambda: {**TABLE}["a"],
    "setdefault": lambda: dict(TABLE).setdefault("a", 3),
    "tuple item": lambda: PAIR[0],
    "unpacked": lambda: (lambda first, second: first)(*PAIR),
    "default": lambda: made_by_nobody()[0],
}


def _appends(take, x):
    take().append(x)
    return len(take()), take() is take()


def _stores_in_a_loop(take, x):
    for i in range(3):
        take()[0] = take()[0] + i * x
    return take()


def _changes_a_name(take, x):
    items = take()
    if x > 2:
        items.append(x)
    else:
        items += [x, x]
    return items[-1]


def _outcome(function, x):
    """Return the result of the call and the state after it."""
    found = function(x)
    return copy.deepcopy((found, MANY, TABLE, PAIR))


def _reset():
    MANY[:] = [[1], [2]]
    TABLE.update(a=[1], b={"n": 1})
    PAIR[0][:] = [1]


@pytest.mark.search("name")
@pytest.mark.parametrize("write", [_appends, _stores_in_a_loop, _changes_a_name])
@pytest.mark.parametrize("name", ITEM_GETTERS)
def test_items_are_the_same_objects(name, write):
    take = ITEM_GETTERS[name]
    _reset()
    expected = [_outcome(lambda x: write(take, x), x) for x in (1.5, 2.5, 3.5)]
    _reset()
    compiled = autoconv.compile(lambda x: write(take, x))
    assert [_outcome(compiled, x) for x in (1.5, 2.5, 3.5)] == expected


def test_items_of_new_containers():
    def program(n):
        found = list(range(3)) + sorted([3, 1]) + ["a", "b"]
        if n > 2:
            found.append(n)
        return found, len(found)

    compiled = autoconv.compile(program)
    assert [compiled(n) for n in (1, 3)] == [program(n) for n in (1, 3)]
    assert compiled.experimental_get_tracing_count() == 1
