"""Objects with a `__getattribute__` of the program are never examined: it runs as often as in the plain function."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.runtime.support.attribute_hooks import hooked_class


class Counting:
    reads: list[str] = []  # noqa: RUF012 - the program's counter

    def __init__(self, value):
        self.value = value

    def __getattribute__(self, name):
        Counting.reads.append(name)
        return object.__getattribute__(self, name)

    def times(self, x):
        return self.value * x


class Slots:
    __slots__ = ("count", "held")

    def __init__(self, held):
        self.held = held
        self.count = 0


class Items(list):
    pass


first = Counting(2.0)
listed = [Counting(3.0), 1.0]
mapped = {"k": (Counting(4.0),)}
holder = Slots(Counting(5.0))


def closure(held):
    return lambda x: held.value + x


def keyword(x, *, held=first):
    return held.value + x


FUNCTIONS_OF_GLOBALS = [
    lambda x: first.value * x,
    lambda x: first.times(x),
    lambda x: listed[0].value * x,
    lambda x: listed[1] * x,
    lambda x: mapped["k"][0].times(x),
    lambda x: holder.held.value * x,
    lambda x: holder.count + x,
    lambda x: isinstance(first, Counting) + x,
    lambda x: (first is listed[0]) + x,
    lambda x: sum([one.value for one in listed[:1]]) * x,
    lambda x: Counting(x).value,
    lambda x, held=first: held.value + x,
    closure(first),
    keyword,
]
FUNCTIONS_OF_ARGUMENTS = [
    (lambda held, x: held.value * x, lambda: Counting(1.0)),
    (lambda held, x: x, lambda: Counting(1.0)),
    (lambda held, x: held[1].times(x), lambda: [0, Counting(2.0)]),
    (lambda held, x: held["c"].times(x), lambda: {"c": Counting(2.0)}),
    (lambda held, x: held.held.times(x), lambda: Slots(Counting(2.0))),
    (lambda held, x: held(x), lambda: first.times),
    (lambda held, x: len(held) + x, lambda: Items([Counting(1.0)])),
]


def result_and_reads(function, *arguments, **named):
    Counting.reads.clear()
    return function(*arguments, **named), list(Counting.reads)


@pytest.mark.parametrize("function", FUNCTIONS_OF_GLOBALS)
def test_objects_reached_by_names(function):
    compiled = ac.compile(function)
    for i in range(6):
        assert result_and_reads(compiled, i + 0.5) == result_and_reads(function, i + 0.5)


@pytest.mark.parametrize("function, make", FUNCTIONS_OF_ARGUMENTS)
def test_objects_reached_by_arguments(function, make):
    compiled = ac.compile(function)
    for i in range(6):
        compiled_held, plain_held = make(), make()
        found = result_and_reads(compiled, compiled_held, i + 0.5)
        assert found == result_and_reads(function, plain_held, i + 0.5)
        found = result_and_reads(compiled, held=compiled_held, x=np.float64(i))
        assert found == result_and_reads(function, held=plain_held, x=np.float64(i))


def test_explain_names_the_class():
    compiled = ac.compile(FUNCTIONS_OF_GLOBALS[0])
    compiled(1.0)
    assert "Counting defines __getattribute__" in compiled.explain()


class Meta(type):
    calls: list[str] = []  # noqa: RUF012 - the program's list

    def __eq__(cls, other):
        Meta.calls.append("eq")
        return True

    def __hash__(cls):
        Meta.calls.append("hash")
        return 1


class First(metaclass=Meta):
    value = 2


class Second(metaclass=Meta):
    pass


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(lambda x, *_: (First == Second) + x, ()), (lambda x, one: one.value * x, (First(),)),
     (lambda x, one: (type(one) in [int, Second]) + x, (First(),)), (lambda x, *_: len({First: 1, Second: x}), ()),
     (lambda x, one: one == First, (Second,))],
)  # fmt: skip
def test_classes_are_compared_as_often_as_in_plain_python(function, arguments):
    compiled = ac.compile(function)
    Meta.calls.clear()
    expected = function(np.float64(3.0), *arguments)
    expected_calls = Meta.calls.copy()
    for _ in range(3):
        Meta.calls.clear()
        assert compiled(np.float64(3.0), *arguments) == expected
        assert Meta.calls == expected_calls


def test_the_search_does_not_enter_traces_of_compiled_functions():
    @ac.compile
    def total(x):
        return (x * 2.0).sum()

    total(np.ones(3))
    assert hooked_class([[first], total], limit=8) is Counting
