"""Under `compile`, lists, dicts and objects that are arguments of exceptions are the objects that names refer to."""

import numpy as np
import pytest

import autoconv


class Box:
    def __init__(self, n):
        self.n = n


def changed_by_the_handler(b):
    items = [b]
    try:
        if b > 0:
            raise ValueError(items)
    except ValueError as error:
        error.args[0].append(5)
    return items


def of_constants(b):
    items = [1]
    try:
        if b > 0:
            raise ValueError(items)
    except ValueError as error:
        argument = error.args[0]
    else:
        argument = [b]
    return items, argument


def made_by_the_body(b):
    try:
        items = [b]
        if b > 0:
            raise ValueError(items)
    except ValueError as error:
        return items, error.args[0]
    return items


def of_a_body_that_always_raises(b):
    items = [b]
    try:
        raise ValueError(items)
    except ValueError as error:
        return items, error.args[0]


def changed_by_a_loop(b):
    items = [b]
    try:
        for i in range(3):
            items.append(i)
            if i == b:
                raise ValueError(items, i)
    except ValueError as error:
        error.args[0].append(7)
        return items, error.args
    return items


def with_a_cause(b):
    items = {"a": b}
    try:
        try:
            if b > 0:
                raise ValueError(items)
        except ValueError as error:
            raise KeyError(items) from error
    except KeyError as error:
        error.args[0]["b"] = 1
        return items, error.args[0] is items, error.__cause__.args[0] is items
    return items


def by_an_inner_function(b):
    def check(items):
        if b > 0:
            raise ValueError("bad", items)
        items.append(2)
        return items

    items = [b]
    try:
        return check(items), items
    except ValueError as error:
        error.args[1].append(4)
    return items


def in_a_tuple(b):
    pair = ([b], 2)
    try:
        if b > 0:
            raise ValueError(pair)
    except ValueError as error:
        error.args[0][0].append(5)
    return pair


def in_each_turn(b):
    items, found = [b], []
    for i in range(3):
        try:
            if i > b:
                raise ValueError(items)
        except ValueError as error:
            error.args[0].append(i)
            found.append(error.args[0])
    return items, found


def of_an_exception_made_before(b):
    items = [b]
    made = ValueError(items)
    try:
        if b > 0:
            raise made
    except ValueError as error:
        error.args[0].append(1)
    return items


def an_object(b):
    box = Box(b)
    try:
        if b > 0:
            raise ValueError(box)
    except ValueError as error:
        error.args[0].n += 1
    return box.n


@pytest.mark.parametrize(
    "function",
    [
        changed_by_the_handler, of_constants, made_by_the_body, of_a_body_that_always_raises, changed_by_a_loop,
        with_a_cause, by_an_inner_function, in_a_tuple, in_each_turn, of_an_exception_made_before, an_object,
    ],
)  # fmt: skip
def test_arguments_of_exceptions_keep_their_identity(function):
    compiled = autoconv.compile(function)
    for b in (2, -1, 0, 1, 3):
        found, expected = compiled(b), function(b)
        assert found == expected
        if isinstance(expected, tuple):
            assert [part is found[0] for part in found] == [part is expected[0] for part in expected]
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("dtype", [float, np.float32, np.int32, bool])
def test_scalars_of_numpy_keep_their_class(dtype):
    def program(x, k):
        raise ValueError(x[1], k, x.max() + k, k * 2.0, x[0] > 1)

    raised = []
    for called in (program, autoconv.compile(program)):
        with pytest.raises(ValueError) as error:
            called(np.array([0.1, 0.7]).astype(dtype), 3)
        raised.append([(type(argument), argument) for argument in error.value.args])
    assert raised[0] == raised[1]
