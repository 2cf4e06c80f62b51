"""Under `compile`: raise statements where an argument decides which exception is raised."""

import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


class UserError(Exception):
    def __init__(self, number):
        super().__init__(f"own {number}")
        self.number = number


KINDS = (KeyError, OSError, UserError)


def in_the_statement(k):
    raise KeyError("a") if k > 2 else IndexError("x") if k < 0 else StopIteration


def classes(k):
    raise KeyError if k > 2 else ValueError


def held_by_a_name(k):
    kind = KeyError if k > 2 else ValueError("v")
    raise kind


def made_in_branches(k):
    if k > 2:
        error = ValueError(f"v{k}")
    else:
        error = UserError(k)
    try:
        raise error
    except UserError as found:
        return found.number, "own"


def called(k):
    kind = KeyError if k > 2 else OSError
    raise kind(k)


def called_without_arguments(k):
    kind = KeyError if k > 2 else OSError
    raise kind()


def of_a_table(k):
    raise KINDS[k % 3](k)


def linked(k):
    kind = KeyError if k > 2 else OSError
    raise kind from ZeroDivisionError("z")


def linked_call(k):
    raise (KeyError if k > 2 else OSError)(k) from None


def linked_to_a_chosen_one(k):
    cause = KeyError if k > 2 else OSError("o")
    raise ValueError("v") from cause


def caught_and_raised_again(k):
    kind = KeyError if k > 2 else ValueError
    try:
        raise kind("x")
    except KeyError:
        raise RuntimeError from None


def without_context(k):
    if k > 2:
        raise KeyError(f"a{k}") from None
    return k


def nothing(k):
    error = KeyError("q")
    if k > 2:
        error = None
    raise error


def not_assigned(k):
    if k > 2:
        error = KeyError
    raise error


def outcome(function, k):
    try:
        return function(k)
    except Exception as error:
        links = [(type(item), getattr(item, "args", None)) for item in (error.__cause__, error.__context__)]
        return type(error), error.args, links, error.__suppress_context__


PROGRAMS = (
    in_the_statement, classes, held_by_a_name, made_in_branches, called, called_without_arguments, of_a_table, linked,
    linked_call, linked_to_a_chosen_one, caught_and_raised_again, without_context, nothing, not_assigned,
)  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_the_raised_exception_is_that_of_plain_python(function):
    compiled = autoconv.compile(function)
    for k in (1, 3, -1, 9, 2):
        assert outcome(compiled, k) == outcome(function, k)
