"""Special methods called by their names, and methods that subclasses of Python's own types override."""

import copy
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import autoconv as ac

SPECIAL = [
    (lambda q, a: q.__add__(a), (2, 3), (2, 2.5), (2.5, "a")),
    (lambda q, a: int.__add__(q, a), (2, 3), (2, 2.5), (5, "a")),
    (lambda q, a: q.__radd__(a), (2, 3), (2.5, 3), (True, 2)),
    (lambda q, a: q.__le__(a), ([1], 2), ([1], [2]), ({1}, {1, 2})),
    (lambda q, a: q.__eq__(a), ({"a": 1}, 2), ([1], [1]), (1, "a")),
    (lambda q, a: q.__round__(a), (2.567, 1), (25, -1), (2.5, 0)),
    (lambda q, a: q.__repr__(), (2, 0), ({1, 2}, 0), (2.5, 0)),
    (lambda q, a: q.__mul__(), (2, 0), ([1], 0), (2.5, 0)),
    (lambda q, a: (q.__iadd__(a), q), ([1], [2]), ([1], (2,)), (1, 2)),
    (lambda q, a: q.__getitem__(a), ([1, 2], 1), ({3: 4}, 3), ("ab", 0)),
    (lambda q, a: q.__contains__(a), ([1, 2], 1), ({3: 4}, 3), ({1}, 2)),
    (lambda q, a: list.append(q, a) or q, ([1], 2), ([2], 3), ({}, 1)),
    (lambda q, a: dict.update(q, a) or q, ({}, {"a": 1}), ({"b": 2}, {}), ([], {})),
]


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        return repr(function(*arguments)), repr(arguments)
    except Exception as error:
        return type(error), repr(arguments)


@pytest.mark.parametrize("number", range(len(SPECIAL)))
def test_special_methods_by_name(number):
    function, *calls = SPECIAL[number]
    compiled = ac.compile(function)
    for arguments in (*calls, *calls):
        assert outcome(compiled, arguments) == outcome(function, arguments)


class OverridesItemMethods(list):
    def __getitem__(self, at):
        return list.__getitem__(self, at) * 2

    def __len__(self):
        return list.__len__(self) + 1

    def __contains__(self, item):
        return item == 7


class OverridesDictMethods(dict):
    def __getitem__(self, key):
        return 9

    def get(self, key, default=None):
        return 8

    def __missing__(self, key):
        return key


class Pair(tuple):
    def __add__(self, other):
        return ("added", other)


class Bag(list):
    pass


@pytest.mark.parametrize(
    "function",
    [
        lambda q, k: q[0] + k, lambda q, k: (len(q), k in q, 7 in q), lambda q, k: q.count(k), lambda q, k: q.index(k),
        lambda q, k: [x + k for x in q], lambda q, k: sum(q) + k, lambda q, k: q[-1:], lambda q, k: sorted(q),
        lambda q, k: (q.append(k), q), lambda q, k: q + [k],  # noqa: RUF005
        lambda q, k: (q.sort(), q), lambda q, k: f"{q} {k}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [OverridesItemMethods, Bag])
def test_subclasses_of_list(kind, function):
    compiled = ac.compile(function)
    for items, k in (([3, 1, 2], 1), ([2, 2], 2), ([5], 5)):
        assert outcome(compiled, (kind(items), k)) == outcome(function, (kind(items), k))


@pytest.mark.parametrize(
    "function",
    [
        lambda q, k: q["a"] + k, lambda q, k: q.get("b", k), lambda q, k: [*q.items(), k],
        lambda q, k: (q.update(b=k), q), lambda q, k: q.pop("a", k), lambda q, k: ("a" in q, len(q), k),
        lambda q, k: f"{q!r} {k}",
        lambda q, k: (q.setdefault("c", k), q),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [OverridesDictMethods, OrderedDict, Counter, lambda **held: defaultdict(int, held)])
def test_subclasses_of_dict(make, function):
    compiled = ac.compile(function)
    for k in (1, 2, 3):
        assert outcome(compiled, (make(a=k, b=2), k)) == outcome(function, (make(a=k, b=2), k))


def test_methods_that_change_order_or_ends():
    def moves(q, items, pair, k):
        q.move_to_end("a", last=k > 1)
        items.rotate(k)
        items.appendleft(k)
        return q, items, pair + (k,), list(q)  # noqa: RUF005

    compiled = ac.compile(moves)
    for k in (1, 2):
        arguments = OrderedDict(a=1, b=2, c=3), deque([1, 2, 3]), Pair((1, 2)), k
        assert outcome(compiled, arguments) == outcome(moves, arguments)


class Unit(float):
    pass


@pytest.mark.parametrize("name", ["__pow__", "__rpow__", "__add__", "__eq__", "__lt__", "__divmod__"])
@pytest.mark.parametrize("kind", [float, int, complex, Unit, str, list])
def test_special_methods_of_pythons_types_by_name(name, kind):
    def f(q, a, k):
        found = 0
        if k > 1:
            found = getattr(kind, name)(q, a)
        return found, found is NotImplemented, q

    if not hasattr(kind, name):
        return
    compiled, q = ac.compile(f), kind("2") if kind is not list else ["2"]
    for a in (1, 2.5, True, 1j, 0):
        assert outcome(compiled, (q, a, 3)) == outcome(f, (q, a, 3))
