"""`name % value` where the name refers to a string: Python's own result or error, also for a number of the graph."""

import pytest

import autoconv


def constant_template(n):
    form = "a"
    return form % n


def computed(n):
    form = "a %s"
    return form % (n + 1)


def of_bytes(n):
    form = b"a"
    try:
        return form % (n + 1)
    except TypeError as error:
        return str(error)


def in_place(n):
    form = "a"
    form %= n + 1
    return form


def filled_in_place(n):
    form = "%d-%%"
    form %= n
    form += "%s"
    form %= n + 1
    return form


def of_branches(n, short):
    form = "a" if short else "%d"
    return form % n


def in_a_loop(n):
    found = []
    for i in range(3):
        form = "b%d" if i else "%s"
        found.append(form % (n + i))
    return found


def a_number_in_the_end(n):
    form = "a"
    form = n + 3
    form %= 4
    return form % 3


def outcome(function, arguments):
    try:
        return function(*arguments)
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize(
    "function", [constant_template, computed, of_bytes, in_place, filled_in_place, in_a_loop, a_number_in_the_end]
)
def test_templates(function):
    compiled = autoconv.compile(function)
    assert [outcome(compiled, (n,)) for n in (3, 4, 3)] == [outcome(function, (n,)) for n in (3, 4, 3)]


def test_templates_of_branches():
    compiled = autoconv.compile(of_branches)
    for arguments in ((3, True), (3, False), (4, True), (4, False)):
        assert outcome(compiled, arguments) == outcome(of_branches, arguments)
