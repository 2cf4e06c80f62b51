"""Attributes of objects in lists of unknown length, read, written and tested in all ways."""

import pytest

import autoconv


class Box:
    def __init__(self, n):
        self.n = n

    @property
    def far(self):
        return self.missing


def move_into_graph(count, box):
    items = [0]
    for _ in range(count):
        items.append(box)
    return items


def given_by_another_name(n):
    box = Box(n)
    move_into_graph(n, box)[-1].late = 3
    return box.late, hasattr(box, "late"), hasattr(box, "later"), getattr(box, "later", 7)


def given_in_a_loop(n):
    box = Box(n)
    items = move_into_graph(n, box)
    found = []
    for i in range(n):
        found.append(getattr(box, "late", -1))
        items[-1].late = i
    return found


def deleted(n):
    box = Box(n)
    move_into_graph(n, box)
    del box.n
    return hasattr(box, "n"), getattr(box, "n", 7)


def missing(n):
    box = Box(n)
    move_into_graph(n, box)
    try:
        return box.same
    except AttributeError as error:
        return str(error)


def looked_into(n):
    box = Box(n)
    move_into_graph(n, box)
    return len(vars(box)), sorted(box.__dict__), "n" in vars(box), {**vars(box)}, dict(box.__dict__), str(vars(box))


def looked_into_before(n):
    box = Box(n)
    attributes = vars(box)
    move_into_graph(n, box)[-1].n = 50
    return attributes["n"]


def written_into(n):
    box = Box(n)
    items = move_into_graph(n, box)
    vars(box)["late"] = 2
    return items[-1].late


def a_property_without_an_attribute(n):
    box = Box(n)
    move_into_graph(n, box)
    try:
        return box.far
    except AttributeError as error:
        return str(error), hasattr(Box(n), "far")


@pytest.mark.parametrize(
    "function",
    [
        given_by_another_name, given_in_a_loop, deleted, missing, looked_into, looked_into_before, written_into,
        a_property_without_an_attribute,
    ],
)  # fmt: skip
def test_attributes_are_those_of_plain_python(function):
    compiled = autoconv.compile(function)
    for n in (4, 1, 2):
        assert compiled(n) == function(n)


@pytest.mark.parametrize("function", [given_by_another_name, given_in_a_loop, deleted, missing])
def test_attributes_by_name_stay_in_the_graph(function):
    compiled = autoconv.compile(function)
    compiled(3)
    assert "plain Python" not in str(compiled.explain())


def test_the_class_is_unchanged_after_a_trace():
    autoconv.compile(given_by_another_name)(2)
    assert not hasattr(Box, "__getattr__")
    assert set(vars(Box)) >= {"__init__", "far"} and "late" not in vars(Box)
