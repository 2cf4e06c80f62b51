"""The classes and functions of the programs of `fuzz/constructs.py`, which loads this text before each program."""

import dataclasses
import enum
import typing

import numpy as np

LOG = 0


class Vector:
    made = 0
    names = []  # noqa: RUF012

    def __init__(self, items, scale=1):
        self.items, self.scale = items, scale
        Vector.made += 1

    def __getitem__(self, index):
        return self.items[index] * self.scale

    def __setitem__(self, index, value):
        self.items[index] = value

    def __delitem__(self, index):
        self.items[index] = 0

    def __len__(self):
        return len(self.items)

    def __contains__(self, value):
        return bool((self.items == value).any())

    def __iter__(self):
        for item in self.items:
            yield item * self.scale

    def __add__(self, other):
        return Vector(self.items + (other.items if isinstance(other, Vector) else other), self.scale)

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, str):
            return NotImplemented
        return Vector(self.items * other)

    def __iadd__(self, other):
        self.items += other
        return self

    def __matmul__(self, other):
        return (self.items * other.items).sum()

    def __neg__(self):
        return type(self)(-self.items, self.scale)

    def __eq__(self, other):
        return isinstance(other, Vector) and self.scale == other.scale

    def __lt__(self, other):
        return self.scale < other.scale

    def __bool__(self):
        return len(self.items) > 1

    def __call__(self, value, *more, **named):
        return value + self.scale + len(more) + len(named)

    def __format__(self, specification):
        return f"<{len(self.items)}{specification}>"

    @property
    def total(self):
        return self.items.sum()

    @total.setter
    def total(self, value):
        self.items[...] = value
        self.scale += 1

    @classmethod
    def zeros(cls, size):
        return cls(np.zeros(size))

    @staticmethod
    def half(value):
        return value / 2


class Stack(Vector):
    depth = 0

    def __init__(self, items):
        super().__init__(items, scale=2)
        self.depth += 1

    def __getitem__(self, index):
        return super().__getitem__(index) + self.depth

    def push(self, value):
        self.items[self.depth % max(len(self.items), 1)] = value
        self.depth += 1
        type(self).depth += 1
        return self


@dataclasses.dataclass
class Point:
    a: object
    b: object = 0

    def moved(self, by):
        return Point(self.a + by, self.b)


class Pair(typing.NamedTuple):
    first: object
    second: object = 1


class Slots:
    __slots__ = ("other", "value")

    def __init__(self, value):
        self.value = value


class Mode(enum.Enum):
    UP = 1
    DOWN = 2


class Managed:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(kind and kind.__name__)
        return kind is IndexError


def remember(value, seen=[]):  # noqa: B006
    seen.append(value)
    return len(seen)


def known(key, table={}):  # noqa: B006
    if key not in table:
        table[key] = len(table) * 2
    return table[key]


def change(view, by=2, *more, where=0, **named):
    view += by
    view[where:where + 1] = len(more) + len(named)
    return view


def first_of(first, *rest, last=None):
    return first if last is None else (rest, last)


def running(values, start=0):
    for value in values:
        start = start + value
        sent = yield start
        if sent:
            start = sent


def search(values, limit):
    for position, value in enumerate(values):
        try:
            if value > limit:
                return position
            if value != value:
                raise ValueError(position)
        except ValueError as error:
            return error.args[0] + 100
        finally:
            limit = limit - 1
    return -1


def collatz(k, steps=0):
    return steps if k <= 1 or steps > 20 else collatz(k // 2 if k % 2 == 0 else 3 * k + 1, steps + 1)


def compose(*functions):
    def composed(value):
        for function in functions:
            value = function(value)
        return value
    return composed
