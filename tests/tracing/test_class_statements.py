"""Class statements in compiled functions have their side effects on every call."""

import enum

import pytest

import autoconv

REGISTER = []
SUBCLASSES = []


class Base:

    def __init_subclass__(cls):
        SUBCLASSES.append(cls.__name__)


class Plain:
    scale = 3


class Meta(type):
    def __new__(cls, name, bases, body):
        REGISTER.append(name)
        return super().__new__(cls, name, bases, body)


class Named:
    def __set_name__(self, owner, name):
        REGISTER.append(name)


def registered(cls):
    REGISTER.append(cls.__name__)
    return cls


def of_base(x):
    class Made(Base):
        pass

    return len(SUBCLASSES) * x


def decorated(x):
    @registered
    class Made:
        value = x

    return len(REGISTER) + Made.value


def of_metaclass(x):
    class Made(metaclass=Meta):
        pass

    return len(REGISTER) * x


def with_body(x):
    class Made:
        REGISTER.append(x)

        def get(self):
            return x + 1

    return Made().get(), len(REGISTER)


def with_descriptor(x):
    class Made:
        value = Named()

    return len(REGISTER) * x


def returned(x):
    class Made:
        value = x

    return Made


def simple(x):
    class Point(Plain):
        """A point."""

        offset: float = 2.0

        def __init__(self, v):
            self.v = v

        @property
        def twice(self):
            return self.v * 2

    point = Point(x)
    if point.twice > 3:
        return point.twice * point.scale
    return point.offset


def of_library(x):
    class Kind(enum.Enum):
        ONE = 1
        TWO = 2

    class Problem(ValueError):
        pass

    try:
        if x > 2:
            raise Problem("large")
    except Problem:
        return x * Kind.TWO.value
    return x + Kind.ONE.value


def outcome(function):
    REGISTER.clear()
    SUBCLASSES.clear()
    return [function(x) for x in (1.0, 2.0, 3.0)], list(REGISTER), list(SUBCLASSES)


@pytest.mark.parametrize("function", [of_base, decorated, of_metaclass, with_body, with_descriptor, simple, of_library])
def test_class_statements_run_on_every_call(function):
    compiled = autoconv.compile(function)
    assert outcome(compiled) == outcome(function)
    assert ("plain Python" in compiled.explain()) == (function not in (simple, of_library))


def test_each_call_returns_a_class_of_its_own():
    compiled = autoconv.compile(returned)
    first, second = compiled(1.0), compiled(2.0)
    assert first is not second
    assert (first.value, second.value) == (1.0, 2.0)
