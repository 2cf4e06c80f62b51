"""Functions that list the names of their frame see their own names, and none of this package."""

import inspect
import sys

import autoconv


def names(x):
    y = 3
    if x > 1:
        y = 4
    found = locals()
    return sorted(found), sorted(vars()), dir(), locals()["y"] == y, len(dir())


def nested(x):
    def inner(y):
        return sorted(locals()), x

    return inner(x + 1)


def test_names_of_a_frame_are_the_users():
    for function in (names, nested):
        for convert in (autoconv.autograph.to_graph, autoconv.compile, autoconv.function):
            assert convert(function)(2) == function(2)


def test_all_attributes_of_an_object_are_listed():
    class Held:
        ag__ = 3

    def listed(x):
        return sorted(vars(Held)), dir(Held)

    assert autoconv.autograph.to_graph(listed)(2) == listed(2)


def test_values_of_a_frame_are_those_of_its_names():
    """The loop ends before the frame is read, and no code reads y by its name."""

    def read_directly(x):
        y = x
        while y < 5:
            y += 1
        frame = sys._getframe()
        return frame.f_locals["y"], frame.f_locals["x"]

    def read_by_inspect(x):
        y = x
        for i in range(4):
            y += i
        return inspect.currentframe().f_locals["y"]

    for function in (read_directly, read_by_inspect):
        compiled = autoconv.compile(function)
        assert [compiled(1), compiled(1)] == [function(1)] * 2
