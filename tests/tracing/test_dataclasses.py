"""Dataclass objects with their own constructors under `compile`: arguments, and new objects of each call."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


@dataclass
class Doubled:
    value: object

    def __post_init__(self):
        self.value = self.value * 2


@dataclass
class Raised:
    value: object

    def __init__(self, value):
        self.value = value + 1


@dataclass(slots=True)
class Slotted:
    value: object

    def __post_init__(self):
        self.value = self.value * 3


@dataclass(frozen=True)
class Fixed:
    value: object


@dataclass
class Linked:
    value: object
    links: list = field(default_factory=list)


class Negated(NamedTuple("Pair", [("one", object), ("other", object)])):
    def __new__(cls, one, other):
        return super().__new__(cls, -one, other)


class Sum(list):
    def __init__(self, items=()):
        super().__init__(items)
        self.append(sum(self))


class Total(Sum):
    pass


class Counted(OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)


class Zeros(defaultdict):
    pass


def read(given, k):
    return given.value + k


def changed(given, k):
    if k > 1:
        given.value += k
    return k


def carried(given, k):
    while given.value < 20:
        given = Raised(given.value + k)
    return given.value


def chosen(given, k):
    made = given
    if k > 1:
        made = Doubled(k)
    return made.value


@pytest.mark.parametrize("program", [read, changed, carried, chosen])
@pytest.mark.parametrize("kind", [Doubled, Raised, Slotted, Fixed])
def test_constructors_do_not_run_for_arguments(program, kind):
    compiled = autoconv.compile(program)
    for k in (1, 2, 3, 1):
        one, other = kind(4), kind(4)
        assert result_or_error(compiled, other, k) == result_or_error(program, one, k)
        assert other == one


def first(given, k):
    return given[0] + len(given) + k


def by_name(given, k):
    return given["a"] + len(given) + k


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (first, lambda: Negated(3, 4)),
        (first, lambda: Sum([1, 2])),
        (first, lambda: Total([1, 2])),
        (by_name, lambda: Counted(a=3)),
        (by_name, lambda: Zeros(int, a=3)),
    ],
)
def test_containers_with_their_own_constructors_keep_their_contents(program, make):
    compiled = autoconv.compile(program)
    for k in (1, 2, 3):
        assert compiled(make(), k) == program(make(), k)


def new(k):
    return Doubled(k)


def in_containers(k):
    return [Doubled(3)], {"a": Raised(4)}, (Fixed(1), Slotted(2))


def in_a_branch(k):
    made = Raised(k)
    if k > 1:
        made = Raised(k + 1)
    return made


def changed_in_a_loop(k):
    made = Linked(k)
    for i in range(k):
        made.value += i
    return [made]


def with_another_attribute(k):
    made = Linked(1)
    made.extra = k
    return made


def one_in_the_other(k):
    made = Linked(Fixed(1))
    if k > 1:
        made.value = Linked(2)
    return made, Linked([], [[]])


RESULTS = [new, in_containers, in_a_branch, changed_in_a_loop, with_another_attribute, one_in_the_other]


@pytest.mark.parametrize("program", RESULTS)
def test_each_call_makes_new_objects(program):
    compiled = autoconv.compile(program)
    known = []
    for k in (1, 2, 3, 1):
        found, expected = compiled(k), program(k)
        assert found == expected
        assert list(map(vars, _objects(found))) == list(map(vars, _objects(expected)))
        parts = [part for part in _parts(found) if not isinstance(part, tuple)]
        assert not any(part is other for part in parts for other in known)
        known += parts


def _parts(value):
    """Return the containers and objects in a result."""
    if isinstance(value, (list, tuple, dict)):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)
    elif hasattr(type(value), "__dataclass_fields__"):
        yield value
        for name in type(value).__dataclass_fields__:
            yield from _parts(getattr(value, name))


def _objects(value):
    return [part for part in _parts(value) if hasattr(part, "__dict__")]
