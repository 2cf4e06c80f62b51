"""Contexts of exceptions that operations raise in handlers, inside of a graph and around the call."""

import numpy as np
import pytest

import autoconv as ac


def in_the_handler_of_a_known_error(x):
    try:
        raise ValueError("known")
    except ValueError:
        return 1 // x


def in_the_handler_of_an_operation(x):
    try:
        1 // x
    except ZeroDivisionError:
        return 2 // (x - x)


def in_a_finally(x):
    try:
        raise ValueError("first")
    finally:
        1 // x


def after_the_handler(x):
    try:
        raise ValueError("over")
    except ValueError:
        pass
    return 1 // x


def of_numpy(x):
    try:
        raise ValueError("known")
    except ValueError:
        return np.zeros(x + 2)[x + 3]


def in_a_called_function(x):
    def divided(y):
        return 1 // y

    try:
        raise KeyError("outer")
    except KeyError:
        return divided(x)


def from_another(x):
    try:
        1 // x
    except ZeroDivisionError as error:
        raise KeyError("raised") from error


FUNCTIONS = [
    in_the_handler_of_a_known_error, in_the_handler_of_an_operation, in_a_finally, after_the_handler, of_numpy,
    in_a_called_function, from_another,
]  # fmt: skip


def links(error):
    found = []
    while error is not None:
        found.append((type(error), str(error), error.__suppress_context__, type(error.__cause__)))
        error = error.__context__
    return found


def outcome(function, x):
    try:
        return function(x)
    except Exception as error:
        return links(error)


def inside_of_a_handler(function, x):
    try:
        raise OSError("around")
    except OSError:
        return outcome(function, x)


@pytest.mark.parametrize("call", [outcome, inside_of_a_handler])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_links(function, call):
    compiled = ac.compile(function)
    for x in (0, 0, 2, 0):
        assert call(compiled, x) == call(function, x)


class Answer:
    def __init__(self, raises):
        self.raises = raises
        self.truth_tests = 0

    def __bool__(self):
        self.truth_tests += 1
        if self.raises:
            raise ValueError("no truth")
        return True


def elif_of_an_object(x, truths):
    if x > 0:
        found = 1
    elif truths:
        found = 2
    else:
        found = 3
    return found


def one_after_another(x, truths):
    if x > 0:
        return 1
    if truths:
        return 2
    return 3


def either(x, truths):
    if x > 0 or truths:
        return 1
    return 2


@pytest.mark.parametrize("function", [elif_of_an_object, one_after_another, either])
@pytest.mark.parametrize("make_truths", [lambda: Answer(False), lambda: Answer(True), lambda: np.ones(2)])
def test_truth_is_tested_only_where_the_program_does(function, make_truths):
    """The truth of an object, which may raise or run code, is computed only where the program reaches the test."""

    def result(called, x):
        argument = make_truths()
        try:
            return called(x, argument), getattr(argument, "truth_tests", 0)
        except ValueError as error:
            return str(error), getattr(argument, "truth_tests", 0)

    compiled = ac.compile(function)
    for x in (1, -1, 1.5, -2, 3, np.float64(2), np.int64(-3)):
        assert result(compiled, x) == result(function, x)


def comparison(pair, x):
    return pair[0] < pair[1]


def greatest(pair, x):
    return max(*pair, 0)


def concatenation(pair, x):
    try:
        {}[x]
    except KeyError:
        return pair[0] + pair[1]


def item(pair, x):
    np.arange(3.0)[0] = x
    array = np.arange(3) + x
    array[0] = 1j
    return array


@pytest.mark.parametrize("function", [comparison, greatest, concatenation, item])
def test_type_errors_of_operators_have_the_context_of_plain_python(function):
    def links(called, x):
        with pytest.raises(TypeError) as raised:
            called(["a", 1], x)
        error = raised.value
        return str(error), repr(error.__cause__), repr(error.__context__), error.__suppress_context__

    compiled = ac.compile(function)
    for x in (1, 2, 3):
        assert links(compiled, x) == links(function, x)
