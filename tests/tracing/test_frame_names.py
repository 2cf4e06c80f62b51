"""Functions that list the names of their frame see their own names, and none of this package."""

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
