"""Items of lists known only at run time, assigned to elements of arrays."""

import numpy as np
import pytest

import autoconv


def integers(a, b, v, data):
    u = v * 1
    data = [*data, a]
    if a > 3:
        data.append(4)
    if b > 1:
        data.append(2.75)
    if b == 6:
        data.append(None)
    u[2] = data.count(a)
    u[a % 3] = data[-1]
    u[0] += data[2]
    return u


def floats(a, b, v, data):
    u = v / 2
    if a > 3:
        data = [*data, 4]
    if b > 1:
        data = [*data, 2.75]
    if b == 6:
        data = [*data, [1, 2]]
    u[1] = data[-1]
    u[0:2] = data[0]
    return u


def bools(a, b, v, data):
    u = v > 1
    if a > 3:
        data = [*data, 0]
    if b > 1:
        data = [*data, 2.75]
    u[1] = data[-1]
    return u


def outcome(function, *arguments):
    try:
        found = function(*arguments, np.array([4, 5, 1]), [1, 2, 0])
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return found.dtype, found.tolist()


@pytest.mark.parametrize("program", [integers, floats, bools])
def test_items_are_elements(program):
    compiled = autoconv.compile(program)
    for arguments in [(1, 2), (5, 1), (0, 3), (0, 0), (3, 0), (6, 6), (-1, 1)]:
        assert outcome(compiled, *arguments) == outcome(program, *arguments), arguments
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("make", [list, tuple, lambda x: [np.sin, np.cos], lambda x: range(3)])
@pytest.mark.parametrize("index", [lambda x: x > 1, lambda x: x[:1], lambda x: x[0] > 1, lambda x: x[1] / 2])
def test_indices_that_are_not_integers(make, index):
    def item(x):
        return make(x)[index(x)]

    x = np.arange(3)
    with pytest.raises(TypeError) as expected:
        item(x)
    with pytest.raises(TypeError) as found:
        autoconv.compile(item)(x)
    assert str(found.value) == str(expected.value)
