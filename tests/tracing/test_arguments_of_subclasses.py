"""Arguments of subclasses: containers with attributes, subclasses of arrays, strings of NumPy."""

import collections
import dataclasses

import numpy as np
import pytest

import autoconv


class Pair(tuple):
    pass


class Row(list):
    pass


class Table(dict):
    pass


class Point(collections.namedtuple("Point", "x y")):
    pass


@dataclasses.dataclass
class Record:
    x: float
    y: float = 2.0


@dataclasses.dataclass
class Derived:
    x: float

    def __post_init__(self):
        self.more = self.x * 2


MAKERS = (
    lambda: Pair((1.0, 2.0)), lambda: Row([1.0, 2.0]), lambda: Table(x=1.0), lambda: Point(1.0, 2.0),
    lambda: Record(1.0), lambda: Derived(1.0),
)  # fmt: skip


@pytest.mark.parametrize("make", MAKERS)
def test_attributes_of_containers(make):
    compute = autoconv.compile(lambda items, x: (items.more * x if hasattr(items, "more") else x, items))
    plain = compute.python_function
    for container in (make(), make()):
        for value in (None, None, None, 3.0, 3.0, 3.0, 4, 5, 6.0, [1.0]):
            if value is not None:
                container.more = value
            for _ in range(2):
                (found, argument), (expected, _) = compute(container, 2), plain(container, 2)
                assert repr(found) == repr(expected)
                assert argument is container or (type(argument) is type(container) and argument == container)
                assert vars(argument) == vars(container)


@pytest.mark.parametrize("make", MAKERS[3:4])
def test_items_of_containers_without_attributes_are_inputs(make):
    compute = autoconv.compile(lambda container, x: container[0] * x)
    for _ in range(3):
        assert compute(make(), 2.0) == 2.0
    assert len(compute.concrete_functions) == 1


class Odd(np.ndarray):
    scale = 2.0

    def __getitem__(self, index):
        return super().__getitem__(index) * 2


def new_with_attribute(x):
    record = Record(x)
    record.more = x + 1
    return record, [record], record.more


def new_with_changed_attribute(x):
    derived = Derived(x)
    derived.more, derived.other = 5.0, x
    derived_in_list = [derived]
    derived_in_list[0].other += 1
    return derived, derived.other


@pytest.mark.parametrize("function", [new_with_attribute, new_with_changed_attribute])
def test_attributes_of_new_containers(function):
    compute = autoconv.compile(function)
    for x in (1.0, 2.0, 3.0, 4):
        found, expected = compute(x), function(x)
        assert repr(found) == repr(expected)
        assert vars(found[0]) == vars(expected[0])
    assert found[1] == found[0].other if function is new_with_changed_attribute else found[1][0] is found[0]


def arrays():
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    masked = np.ma.array(values, mask=[[0, 1], [0, 0]])
    texts = np.array([["ab", "c"], ["d", "e"]])
    return [values, np.asmatrix(values), masked, values.view(Odd), texts, values + 1, texts.astype("S")]


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a * a if a.dtype.kind == "f" else a[0], lambda a: a[0], lambda a: (a.T, len(a)),
        lambda a: (type(a[0]).__name__, a.shape), lambda a: [type(row).__name__ for row in a], lambda a: {"a": [a]},
    ],
)  # fmt: skip
def test_classes_of_arrays(function):
    compute = autoconv.compile(function)
    for _ in range(3):
        for array in arrays():
            found, expected = compute(array), function(array)
            assert (type(found), repr(found)) == (type(expected), repr(expected))


def test_classes_of_arrays_outside():
    for array in arrays():
        compute = autoconv.compile(lambda x, array=array: (x, array[0]))
        compute_outside = autoconv.compile(lambda x: (x, array[0]))  # noqa: B023
        for _ in range(3):
            for item in (compute, compute_outside):
                found = item(2.0)
                assert repr(found) == repr((2.0, array[0]))
                assert type(found[1]) is type(array[0])


def test_an_attribute_of_an_array():
    array = np.arange(3.0).view(Odd)
    array.by = 2.0
    compute = autoconv.compile(lambda x: x * array.by * array.scale)
    for value in (2.0, 3.0, 4.0):
        array.by, Odd.scale = value, value + 1
        for _ in range(3):
            assert compute(2.0) == 2.0 * value * (value + 1)
    Odd.scale = 2.0


@pytest.mark.parametrize("text", [np.str_("ab"), np.bytes_(b"ab"), np.str_(""), "ab", b"ab"])
def test_texts_of_numpy(text):
    compute = autoconv.compile(lambda text: text)
    for _ in range(3):
        assert (type(compute(text)), compute(text)) == (type(text), text)


class ByValue:
    def __init__(self, value, weight):
        self.value, self.weight = value, weight

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)


class ByIdentity:
    def __init__(self, weight):
        self.weight = weight


def weighed(parts, x):
    return sum([value * x * (key[0] if isinstance(key, tuple) else key).weight for key, value in parts.items()])


@pytest.mark.parametrize("make", [lambda k: ByValue(1, k), ByIdentity])
@pytest.mark.parametrize("wrapped", [False, True])
def test_keys_that_are_objects(make, wrapped):
    compute = autoconv.compile(weighed)
    first, second = make(2.0), make(5.0)
    arguments = [{(key, 1) if wrapped else key: 3.0} for key in (first, second, first)]
    for weight in (2.0, 7.0, 8.0):
        first.weight = weight
        for parts in arguments * 2:
            assert compute(parts, 2.0) == weighed(parts, 2.0)
        arguments[1][next(iter(arguments[1]))] = weight


def test_neither_hash_nor_equality_of_an_argument_is_called():
    calls = []

    class Watched:
        value = 3

        def __hash__(self):
            calls.append("hash")
            return 1

        def __eq__(self, other):
            calls.append("eq")
            return True

    compiled, objects = autoconv.compile(lambda o, x: o.value + x), [Watched(), Watched()]
    objects[1].value = 5
    for _ in range(3):
        assert [compiled(item, 1) for item in objects] == [4, 6]
    assert not calls
