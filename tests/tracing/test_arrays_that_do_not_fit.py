"""Arrays of incompatible shapes or dtypes: the error is NumPy's, also where a call has several mistakes."""

import numpy as np
import pytest

import autoconv


def or_into(x, y):
    x |= y
    return x


def divided(x, y):
    x /= y
    return x


def element(x, y):
    x[0] = y
    return x


def into(x, y):
    np.multiply(y, y, out=x)
    return x


def trace_in_a_try(x, y):
    found = 0
    try:
        if y.all():
            found = y.trace()
    except IndexError:
        found = -1
    return found


CASES = [
    (or_into, (0, 1, 5), float, (2, 4), complex),
    (or_into, (3,), bool, (4,), float),
    (divided, (5, 3), int, (3, 0, 7), float),
    (divided, (5, 3), float, (3, 7), float),
    (element, (3,), complex, (2,), float),
    (element, (3,), np.int8, (2,), float),
    (element, (3,), bool, (1,), float),
    (element, (3,), bool, (2,), float),
    (into, (3,), complex, (1, 1), np.uint8),
    (into, (2, 3), float, (3,), float),
    (into, (1, 3), float, (2, 3), float),
    (trace_in_a_try, (3,), float, (3,), float),
    (trace_in_a_try, (3,), float, (3, 3), float),
]


@pytest.mark.parametrize(("function", "shape", "dtype", "other_shape", "kind"), CASES)
def test_the_error_is_numpys(function, shape, dtype, other_shape, kind):
    def outcome(called):
        x, y = np.ones(shape, dtype), np.ones(other_shape, kind)
        try:
            found = called(x, y)
        except Exception as error:
            return type(error), x.tolist()
        return str(found), x.tolist()

    compiled = autoconv.compile(function)
    for _ in range(2):
        assert outcome(compiled) == outcome(function)


def chosen(x, y, k):
    if k > 5:
        y = 1
    return x is y


def replaced(x, y, k):
    for _ in range(k):
        y = 1
    return x is y


@pytest.mark.parametrize("function", [chosen, replaced])
def test_operands_that_are_arrays_on_one_path_alone(function):
    compiled = autoconv.compile(function)
    x = np.ones(3)
    for arguments in ((x, x, 0), (x, x, 7), (x, np.ones(3), 0), (x, x, -1)):
        assert compiled(*arguments) is function(*arguments)
