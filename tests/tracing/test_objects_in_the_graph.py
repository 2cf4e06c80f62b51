"""Objects that became part of a list of unknown length: their attributes, however they are asked for."""

import pytest

import autoconv


class Box:
    def __init__(self, n):
        self.n = n

    @property
    def far(self):
        return self.missing


def moved(count, box):
    items = [0]
    for _ in range(count):
        items.append(box)
    return items


def given_by_another_name(n):
    box = Box(n)
    moved(n, box)[-1].late = 3
    return box.late, hasattr(box, "late"), hasattr(box, "later"), getattr(box, "later", 7)


def given_in_a_loop(n):
    box = Box(n)
    items = moved(n, box)
    found = []
    for i in range(n):
        found.append(getattr(box, "late", -1))
        items[-1].late = i
    return found


def taken_away(n):
    box = Box(n)
    moved(n, box)
    del box.n
    return hasattr(box, "n"), getattr(box, "n", 7)


def not_there(n):
    box = Box(n)
    moved(n, box)
    try:
        return box.same
    except AttributeError as error:
        return str(error)


def looked_into(n):
    box = Box(n)
    moved(n, box)
    return len(vars(box)), sorted(box.__dict__), "n" in vars(box), {**vars(box)}, dict(box.__dict__), str(vars(box))


def looked_into_before(n):
    box = Box(n)
    held = vars(box)
    moved(n, box)[-1].n = 50
    return held["n"]


def written_into(n):
    box = Box(n)
    items = moved(n, box)
    vars(box)["late"] = 2
    return items[-1].late


def a_property_without_an_attribute(n):
    box = Box(n)
    moved(n, box)
    try:
        return box.far
    except AttributeError as error:
        return str(error), hasattr(Box(n), "far")


@pytest.mark.parametrize(
    "function",
    [
        given_by_another_name, given_in_a_loop, taken_away, not_there, looked_into, looked_into_before, written_into,
        a_property_without_an_attribute,
    ],
)  # fmt: skip
def test_attributes_are_those_of_plain_python(function):
    compiled = autoconv.compile(function)
    for n in (4, 1, 2):
        assert compiled(n) == function(n)


@pytest.mark.parametrize("function", [given_by_another_name, given_in_a_loop, taken_away, not_there])
def test_attributes_by_name_stay_in_the_graph(function):
    compiled = autoconv.compile(function)
    compiled(3)
    assert "plain Python" not in str(compiled.explain())


def test_the_class_is_what_it_was():
    autoconv.compile(given_by_another_name)(2)
    assert not hasattr(Box, "__getattr__")
    assert set(vars(Box)) >= {"__init__", "far"} and "late" not in vars(Box)
