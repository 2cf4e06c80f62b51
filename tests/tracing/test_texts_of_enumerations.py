"""Enumerations whose text conversions are compiled functions, and are keys of traces at the same time."""

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
