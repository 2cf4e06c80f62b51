"""Enumerations as keys of traces: their text conversions may be compiled, and their members may be equal."""

from __future__ import annotations

import enum

import autoconv


def direction_class(decorate):
    class Direction(enum.Enum):
        LEFT = 1
        RIGHT = 2

        def __repr__(self):
            return f"{self.__class__.__name__}.{self.name}"

        def __str__(self):
            return f"to the {self.name.lower()}" * self.value

    Direction.__repr__ = decorate(Direction.__repr__)
    Direction.__str__ = decorate(Direction.__str__)
    return Direction


def test_representations_of_members():
    plain, compiled = direction_class(lambda f: f), direction_class(autoconv.compile)
    for _ in range(4):
        assert [repr(member) for member in compiled] == [repr(member) for member in plain]
        assert [str(member) for member in compiled] == [str(member) for member in plain]
        assert f"{list(compiled)}" == "[Direction.LEFT, Direction.RIGHT]"


def test_members_that_are_equal():
    class Unit(enum.Enum):
        METRE = 1
        FOOT = 2

        def __eq__(self, other):
            return isinstance(other, Unit)

        def __hash__(self):
            return 0

    @autoconv.compile
    def label(unit):
        return f"in {unit.name}"

    assert [label(unit) for unit in [*Unit, *Unit]] == ["in METRE", "in FOOT", "in METRE", "in FOOT"]


def test_members_that_refer_to_each_other():
    class Permission(enum.Flag):
        READ = 1
        WRITE = 2
        EXECUTE = 4

    def rest(granted, wanted):
        return "all" if wanted in granted else (wanted & ~granted).value, (~granted).value

    members = [Permission(number) for number in range(8)]
    compiled = autoconv.compile(rest)  # the complement is stored in each member, and leads back to it
    for granted in members:
        assert [compiled(granted, wanted) for wanted in members] == [rest(granted, wanted) for wanted in members]


def test_texts_that_refer_to_themselves():
    class Name(str):
        pass

    first, second = Name("a"), Name("b")
    first.other, second.other = second, first
    run = lambda name, n: name.other.other + name.other * n
    compiled = autoconv.compile(run)
    for n in range(3):
        assert [compiled(name, n) for name in (first, second)] == [run(name, n) for name in (first, second)]
