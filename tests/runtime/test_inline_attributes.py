"""Attributes read without `__dict__` are the same as those in it, and traces do not create it."""

from __future__ import annotations

import gc
import random
import sys
from typing import Any

import pytest

import autoconv
from autoconv.runtime.support.attributes import has_dict, instance_attribute, instance_attributes
from autoconv.runtime.support.inline_attributes import has_inline_attributes, inline_attributes

up_to_312 = pytest.mark.skipif(sys.version_info >= (3, 13), reason="a dict does not slow down reads from 3.13 on")


class Point:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def dot(self, other: Point) -> int:
        return self.x * other.x + self.y * other.y


class Cloud:
    def __init__(self, points: list[Point]) -> None:
        self.points, self.texts = points, list[str]()


@autoconv.compile
def total(cloud: Cloud) -> int:
    result = 0
    cloud.texts.append(repr(type(cloud)))
    for point in cloud.points[:20]:
        for other in cloud.points:
            result += point.dot(other)
    return result


def _has_dict_object(value: object) -> bool:
    return any(type(part) is dict for part in gc.get_referents(value))


@up_to_312
def test_examined_objects_have_no_dict() -> None:
    cloud = Cloud([Point(i, i + 1) for i in range(300)])
    expected = sum(point.dot(other) for point in cloud.points[:20] for other in cloud.points)
    assert [total(cloud) for _ in range(3)] == [expected] * 3
    assert not any(map(_has_dict_object, [cloud, *cloud.points]))


@pytest.mark.parametrize("seed", range(20))
def test_attributes_are_those_of_the_dict(seed: int) -> None:
    """Names are assigned in any order, deleted, assigned again, and more than Python keeps in the array."""
    draw = random.Random(seed)

    class Base:
        __slots__ = draw.choice([("slot",), ("slot", "__weakref__"), ("slot", "__dict__")])

    class Derived(draw.choice([object, int, Base, Point])):  # type: ignore[misc]
        shared = 1

    inline_count = 0
    for _ in range(20):
        value = Derived.__new__(Derived)
        expected: dict[str, Any] = {}
        for _ in range(draw.randrange(draw.choice([3, 12, 60]))):
            name = f"name{draw.randrange(60)}" if draw.random() < 0.2 else draw.choice("abcdefg")
            if name in expected and draw.random() < 0.3:
                del expected[name]
                delattr(value, name)
            else:
                expected[name] = object()
                setattr(value, name, expected[name])
        attributes = inline_attributes(value)
        inline_count += attributes is not None
        assert has_inline_attributes(value) == (attributes is not None)
        assert attributes is None or list(attributes.items()) == list(expected.items())
        assert list(instance_attributes(value).items()) == list(expected.items())
        assert has_dict(value) and instance_attribute(value, "a") is expected.get("a")
        assert instance_attribute(value, "shared", "no") == "no"
        assert list(vars(value).items()) == list(expected.items())
        assert inline_attributes(value) is None and not has_inline_attributes(value)
    assert inline_count or issubclass(Derived, (int, Base)) or sys.version_info >= (3, 13)


@pytest.mark.parametrize("value", [3, "text", [1], Point, sys, Point.dot, object(), range(3), ValueError("x")])
def test_other_values_have_none(value: object) -> None:
    assert inline_attributes(value) is None and not has_inline_attributes(value)


def test_reads_at_the_limit_of_recursion_raise_its_error():
    def descend(point: Point) -> None:
        inline_attributes(point)
        descend(point)

    with pytest.raises(RecursionError):
        descend(Point(1, 2))
