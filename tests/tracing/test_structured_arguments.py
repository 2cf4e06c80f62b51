"""Calls with tuples, lists, dicts, dataclasses and objects: plain Python's results, on each call path."""

import collections
import copy
import dataclasses
import enum

import numpy as np
import pytest

import autoconv

WARM = 4


@dataclasses.dataclass
class State:
    x: float
    steps: int = 0


@dataclasses.dataclass(frozen=True)
class Fixed:
    x: float


@dataclasses.dataclass(slots=True)
class Slotted:
    x: float
    y: float


class Letter(enum.StrEnum):
    A = "a"


class Point(collections.namedtuple("Point", "x y")):
    pass


class Backwards(tuple):
    def __getitem__(self, i):
        return tuple.__getitem__(self, -1 - i)


class Box:
    def __init__(self, v):
        self.v = v


def of_tuple(t, x):
    return t[0] * x + t[1]


def of_list(items, x):
    total = 0.0
    for item in items:
        total += item * x
    return total


def of_dict(d, x):
    return [v * x for v in d.values()], [type(k).__name__ for k in d], list(d)


def of_state(s, x):
    return s.x * x + getattr(s, "steps", 0), type(s).__name__


def of_nested(parts, x):
    (a, [b, c]), d = parts
    return a + b * x, c["k"] - d, c["name"] * 2


def of_names(x, name, scale=2.0, *, shift=1.0):
    return x * scale + shift if name == "linear" else -x


def of_box(box, x):
    return box.v * x


def of_function(x, f):
    return f(x) + 1


def of_two_lists(a, b, x):
    return a is b, a[0] * x + b[0]


def of_optional(pair, x):
    return x if pair is None else pair[0] + x


BOX, OTHER = Box(2.0), Box(5.0)
SHARED = [4.0]
double, negated = lambda x: 2 * x, lambda x: -x
CALLS = {
    of_tuple: [((1.0, 2.0), 3.0), ((1, 2.0), 3), ((1.0, 2.0, 3.0), 4.0), ([1.0, 2.0], 3.0), (Point(1.0, 2.0), 3.0),
               (Backwards((1.0, 2.0)), 3.0), ((np.arange(3.0), 1.0), 2.0), ((np.arange(3), 1.0), 2.0)],
    of_list: [([1.0, 2.0], 3.0), ([1.0, 2], 3.0), ([], 3.0), ((1.0, 2.0), 3.0), ([np.ones(2), 1.0], 2.0)],
    of_dict: [({"a": 1.0, "b": 2.0}, 3.0), ({"b": 2.0, "a": 1.0}, 3.0), ({Letter.A: 1.0, "b": 2.0}, 3.0),
              ({1: 1.0, 2: 2.0}, 3.0), ({True: 1.0, 2: 2.0}, 3.0), (collections.OrderedDict(b=1.0, a=2.0), 3.0),
              ({"a": 1.0}, 3.0)],
    of_state: [(State(1.0), 2.0), (State(1.0, 3), 2.0), (Fixed(1.0), 2.0), (Slotted(1.0, 2.0), 2.0)],
    of_nested: [(((1.0, [2.0, {"k": 3.0, "name": "n"}]), 4.0), 5.0), (((1.0, [2.0, {"k": 3, "name": "m"}]), 4.0), 5.0)],
    of_names: [(1.0, "linear"), (1.0, "other"), (1.0, "linear", 3.0), (2, "linear", 3), (1.0, None), (1.0, 2j)],
    of_box: [(BOX, 2.0), (OTHER, 2.0), (BOX, 3.0), (OTHER, np.ones(2))],
    of_function: [(1.0, double), (1.0, negated), (2.0, abs)],
    of_two_lists: [([1.0], [2.0], 3.0), (SHARED, SHARED, 3.0), ([5.0], [6.0], 3.0)],
    of_optional: [((1.0,), 2.0), (None, 2.0), ((2.0,), 3.0)],
}  # fmt: skip


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_mixed_calls(function):
    compute = autoconv.compile(function)
    for calls in (CALLS[function], CALLS[function][::-1]):
        for args in calls:
            for _ in range(WARM):
                arguments = args if function in (of_box, of_function, of_two_lists) else copy.deepcopy(args)
                assert repr(compute(*arguments)) == repr(function(*arguments))
    assert "plain Python" not in compute.explain()


def test_keyword_arguments_are_bound_as_by_python():
    compute = autoconv.compile(of_names)
    for _ in range(WARM):
        assert compute(1.0, "linear", shift=3.0) == 5.0
        assert compute(name="linear", x=1.0) == 3.0
        assert compute(1.0, name="linear", scale=4.0) == 5.0
    for args, named in [((1.0, "linear", 2.0, 1.0), {}), ((1.0,), {}), ((1.0, "linear"), {"other": 1})]:
        with pytest.raises(TypeError) as caught:
            compute(*args, **named)
        with pytest.raises(TypeError) as expected:
            of_names(*args, **named)
        assert str(caught.value) == str(expected.value)


def test_arguments_by_position_alone():
    def scaled(x, by=2.0, /):
        return x * by

    compute = autoconv.compile(scaled)
    for _ in range(WARM):
        assert (compute(3.0), compute(3.0, 4.0)) == (6.0, 12.0)
    with pytest.raises(TypeError):
        compute(3.0, by=4.0)


def test_arrays_in_tuples_are_changed_in_place():
    def moved(pair, by):
        positions, velocity = pair
        positions += velocity * by
        return positions.sum()

    compute, random = autoconv.compile(moved), np.random.default_rng(3)
    for _ in range(2 * WARM):
        positions, velocity = random.random(4), random.random(4)
        plain_positions = positions.copy()
        expected = moved((plain_positions, velocity), 0.5)
        assert np.isclose(compute((positions, velocity), 0.5), expected)
        np.testing.assert_array_equal(positions, plain_positions)
        base = random.random(6)
        plain_base = base.copy()
        expected = moved((plain_base[1:5], plain_base[:4]), 0.5)  # they overlap
        assert np.isclose(compute((base[1:5], base[:4]), 0.5), expected)
        np.testing.assert_array_equal(base, plain_base)


TABLE = np.arange(5.0)


def test_arrays_in_tuples_that_the_function_also_reads_by_name():
    def raised(pair):
        pair[0][:] += TABLE
        return TABLE.sum()

    global TABLE
    compute = autoconv.compile(raised)
    for _ in range(WARM):
        argument = np.ones(5)
        assert compute((argument, 1)) == 10.0
        np.testing.assert_array_equal(argument, TABLE + 1)
    expected = raised((TABLE.copy(), 1))
    assert expected == 10.0
    assert compute((TABLE, 1)) == 20.0  # it doubles what it reads
    np.testing.assert_array_equal(TABLE, 2 * np.arange(5.0))
    TABLE = np.arange(5.0)


def test_tuples_of_tensors_keep_tensorflows_contract():
    @autoconv.function
    def summed(parts, scale):
        return parts["a"] * scale + parts["b"][0]

    for scale in (2.0, 3.0):
        for _ in range(WARM):
            argument = {"a": autoconv.constant([1.0, 2.0]), "b": (autoconv.constant(1.0),)}
            np.testing.assert_array_equal(summed(argument, scale).numpy(), np.float32([1, 2]) * scale + 1)
    assert len(summed.concrete_functions) == 2


def test_objects_and_lists_are_told_apart_after_many_calls():
    compute = autoconv.compile(of_box)
    boxes = [Box(float(i)) for i in range(3)]
    for _ in range(3):
        for box in boxes:
            for _ in range(WARM):
                assert compute(box, 2.0) == box.v * 2.0
            box.v += 1.0


@dataclasses.dataclass
class Vertex:
    x: float
    y: float


def total_of_vertices(vertices):
    total = 0.0
    for vertex in vertices:
        vertex.x += 1.0
        total += vertex.x * vertex.y
    return total


def test_many_objects_of_which_two_may_be_one():
    compiled = autoconv.compile(total_of_vertices)
    for _ in range(4):
        distinct = [Vertex(float(i), 2.0) for i in range(12)]
        expected = total_of_vertices(copy.deepcopy(distinct))
        assert compiled(distinct) == expected
    repeated = [*distinct[:11], distinct[0]]
    expected = total_of_vertices(copy.deepcopy(repeated))
    assert compiled(repeated) == expected
