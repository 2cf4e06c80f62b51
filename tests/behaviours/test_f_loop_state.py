"""The state of loops that tensors decide: names first set in the body, types that change, objects and containers."""

# ruff: noqa: B007, F841 - the programs are meant as they are written

import enum

import pytest

import autoconv as tf
from tests.behaviours.facts import values


class Obj:
    def __init__(self, value):
        self.value = value


def test_line_110_names_first_set_in_the_body():
    @tf.function
    def independent(n):
        for i in tf.range(n):
            x = i * 2
        return x

    assert independent(tf.constant(3)).numpy() == 4
    with pytest.raises(UnboundLocalError, match="'x'"):
        independent(tf.constant(0))

    @tf.function
    def dependent(n):
        for i in tf.range(n):
            if i == 0:
                x = 1
            x = x + i
        return x

    assert dependent(tf.constant(3)).numpy() == 4

    @tf.function
    def unbound(n):
        for i in tf.range(n):
            x = x + i  # noqa: F821
        return n

    assert unbound(tf.constant(0)).numpy() == 0
    with pytest.raises(UnboundLocalError, match="'x'"):
        unbound(tf.constant(2))

    @tf.function
    def an_object(n):
        for i in tf.range(n):
            x = Obj(i)
            n = n + x.value * 0
        return x.value

    assert an_object(tf.constant(3)).numpy() == 2

    @tf.function
    def target(n):
        for i in tf.range(n):
            pass
        return i

    assert target(tf.constant(4)).numpy() == 3
    with pytest.raises(UnboundLocalError, match="'i'"):
        target(tf.constant(0))


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def test_line_111_types_that_change_in_a_loop():
    @tf.function
    def widens(n):
        x = 0
        for _ in tf.range(n):
            x = x + 0.5
        return x

    assert values(widens(tf.constant(3)), widens(tf.constant(0))) == [1.5, 0.0]

    @tf.function
    def typed(n):
        x = tf.constant(1.5)
        for _ in tf.range(n):
            x = tf.constant(1)
        return x

    with pytest.raises(TypeError) as caught:
        typed(tf.constant(3))
    for fact in ("'x'", "float32", "int32", "test_f_loop_state.py"):
        assert fact in str(caught.value)

    @tf.function
    def shape(n):
        x = tf.zeros((0, 10))
        for _ in tf.range(n):
            x = tf.concat([x, tf.ones((1, 10))], axis=0)
        return x

    assert shape(tf.constant(4)).shape == (4, 10)
    assert shape(tf.constant(0)).shape == (0, 10)

    @tf.function
    def structure(n):
        x = (1, 2)
        for _ in tf.range(n):
            x = (1, 2, 3)
        return x

    assert values(*structure(tf.constant(0))) == [1, 2]
    assert values(*structure(tf.constant(1))) == [1, 2, 3]

    @tf.function
    def becomes_none(n):
        x = 1
        for _ in tf.range(n):
            x = None
        return x

    assert becomes_none(tf.constant(0)).numpy() == 1
    assert becomes_none(tf.constant(2)) is None

    @tf.function
    def was_none(n):
        x = None
        for i in tf.range(n):
            x = i
        return x

    assert was_none(tf.constant(0)) is None
    assert was_none(tf.constant(3)).numpy() == 2

    @tf.function
    def enums(n):
        color = Color.RED
        for _ in tf.range(n):
            color = Color.BLUE if color is Color.RED else Color.RED
        return color is Color.BLUE

    assert values(enums(tf.constant(0)), enums(tf.constant(3)), enums(tf.constant(4))) == [False, True, False]


def test_line_113_state_in_objects_dicts_and_lists():
    class Box:
        x = 0

    @tf.function
    def attribute(n):
        b = Box()
        b.x = 0
        for i in tf.range(n):
            b.x += i
        return b.x

    assert attribute(tf.constant(4)).numpy() == 6

    @tf.function
    def item(n):
        d = {"k": 1}
        for _ in tf.range(n):
            d["k"] *= 2
        return d["k"]

    assert item(tf.constant(4)).numpy() == 16

    @tf.function
    def of_a_list(n):
        l = [0]  # noqa: E741
        for _ in tf.range(n):
            l[0] += 1
        return l[0]

    assert of_a_list(tf.constant(4)).numpy() == 4
