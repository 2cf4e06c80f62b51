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


def read(record, k):
    return record.value + k


def changed(record, k):
    if k > 1:
        record.value += k
    return k


def carried(record, k):
    while record.value < 20:
        record = Raised(record.value + k)
    return record.value


def chosen(record, k):
    result = record
    if k > 1:
        result = Doubled(k)
    return result.value


@pytest.mark.parametrize("program", [read, changed, carried, chosen])
@pytest.mark.parametrize("kind", [Doubled, Raised, Slotted, Fixed])
def test_constructors_do_not_run_for_arguments(program, kind):
    compiled = autoconv.compile(program)
    for k in (1, 2, 3, 1):
        plain_argument, compiled_argument = kind(4), kind(4)
        assert result_or_error(compiled, compiled_argument, k) == result_or_error(program, plain_argument, k)
        assert compiled_argument == plain_argument


def first(items, k):
    return items[0] + len(items) + k


def by_name(items, k):
    return items["a"] + len(items) + k


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
    raised = Raised(k)
    if k > 1:
        raised = Raised(k + 1)
    return raised


def changed_in_a_loop(k):
    linked = Linked(k)
    for i in range(k):
        linked.value += i
    return [linked]


def with_another_attribute(k):
    linked = Linked(1)
    linked.extra = k
    return linked


def one_in_the_other(k):
    outer = Linked(Fixed(1))
    if k > 1:
        outer.value = Linked(2)
    return outer, Linked([], [[]])


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
        assert not any(part is known_part for part in parts for known_part in known)
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
