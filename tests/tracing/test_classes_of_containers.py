"""Changes between calls of attributes of classes of containers, numbers and texts, of enum members and of methods."""

import collections
import enum
import types

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error

WARM = 5


def make_classes():
    """Return new classes, one of each kind."""
    classes = [
        type(f"A{base.__name__}", (base,), {"by": 2.0, "scaled": scaled})
        for base in (list, tuple, dict, set, frozenset, int, float, str, collections.OrderedDict)
    ]
    named = type("Named", (collections.namedtuple("Named", "x y"),), {"by": 2.0, "scaled": scaled})
    return [kind(VALUES.get(kind.__mro__[1], ())) for kind in classes] + [named(1.0, 2.0)]


def scaled(self, x):
    return x * self.by


def otherwise(self, x):
    return x - self.by


VALUES = {int: 3, float: 3.5, str: "text", list: [1.0, 2.0], tuple: (1.0, 2.0)}
COUNT = len(make_classes())


@pytest.mark.parametrize("which", range(COUNT))
def test_changed_attributes_of_classes_are_noticed(which):
    outer, argument = make_classes()[which], make_classes()[which]
    for owner, function, arguments in (
        (outer, lambda x: x * outer.by + outer.scaled(x), (2.0,)),
        (outer, lambda x: [x, outer][1].scaled(x), (2.0,)),
        (argument, lambda owner, x: x * owner.by, (argument, 2.0)),
        (argument, lambda owner, x: owner.scaled(x), (argument, 2.0)),
        (argument, lambda owner, x: owner["a"][0].scaled(x), ({"a": [argument]}, 2.0)),
    ):
        compute = autoconv.compile(function)
        kind = type(owner)
        changes = [lambda: None, lambda: setattr(kind, "by", kind.by + 1)]  # noqa: B023
        changes += [lambda: setattr(kind, "scaled", otherwise)]  # noqa: B023
        if hasattr(owner, "__dict__"):
            changes += [lambda: setattr(owner, "by", owner.by + 5)]  # noqa: B023
            changes += [lambda: setattr(owner, "scaled", lambda x: x)]  # noqa: B023
        for change in changes:
            change()
            for _ in range(WARM):
                assert compute(*arguments) == function(*arguments)


@pytest.mark.parametrize("kind", [int, float, str])
def test_equal_numbers_and_texts_with_attributes(kind):
    number_class = type("Made", (kind,), {"by": 1.0})
    compute = autoconv.compile(lambda thing, held, x: (thing.by * x, held[0].by))
    first, second, third = number_class(3), number_class(3), number_class(3)
    first.by, second.by = 5.0, 6.0
    for _ in range(3):
        for left, right in ((third, third), (first, third), (second, first), (third, second)):
            assert compute(left, [right], 2.0) == (left.by * 2.0, right.by)
        third.by = third.by + 1


def test_members_of_enums():
    class Colour(enum.Enum):
        RED = 1
        GREEN = 2

        def scale(self):
            return 2.0

    scaled_sum = autoconv.compile(lambda colour, x: x * colour.scale() + colour.value)
    scaled_by_more = autoconv.compile(lambda colour, x: x * colour.more)
    Colour.more = 3.0
    for change in (
        lambda: None, lambda: setattr(Colour, "scale", lambda self: 7.0), lambda: setattr(Colour, "more", 4.0),
        lambda: setattr(Colour.RED, "more", 9.0), lambda: setattr(Colour.RED, "_value_", 5),
    ):  # fmt: skip
        change()
        for colour in (Colour.RED, Colour.GREEN) * 3:
            assert scaled_sum(colour, 3.0) == 3.0 * colour.scale() + colour.value
            assert scaled_by_more(colour, 3.0) == 3.0 * colour.more


def test_a_changed_function_of_a_method_is_noticed():
    class Thing:
        pass

    def free(self, x, by=2.0):
        return x * by

    method = types.MethodType(free, Thing())
    compute = autoconv.compile(lambda x: method(x))
    for change in (
        lambda: None, lambda: setattr(free, "__defaults__", (5.0,)),
        lambda: setattr(free, "__code__", (lambda self, x, by=0: x - by).__code__),
    ):  # fmt: skip
        change()
        for _ in range(WARM):
            assert compute(3.0) == method(3.0)


def test_functions_of_a_class_that_get_attributes_and_defaults():
    class Thing:
        def go(self, x, by=1):
            return x * by

        @property
        def more(self):
            return type(self).go.__dict__.get("more", 1)

    owner = Thing()
    compute = autoconv.compile(lambda x: (owner.go(x), owner.more))
    for change in (
        lambda: None, lambda: setattr(Thing.go, "more", 5), lambda: setattr(Thing.go, "__defaults__", (1.0,)),
        lambda: setattr(Thing.go, "__defaults__", (True,)), lambda: setattr(Thing.go, "more", 6),
        lambda: setattr(Thing.more.fget, "__code__", (lambda self: 9).__code__),
    ):  # fmt: skip
        change()
        for _ in range(WARM * 2):
            assert repr(compute(3)) == repr((owner.go(3), owner.more))


Named = collections.namedtuple("Named", "x y")


@pytest.mark.parametrize(
    ("operands", "function"),
    [
        ((range(4), {1}), lambda x, y: operator_of(x, y)), ((Named(1, 2), [1]), lambda x, y: x <= y),
        (([1], Named(1, 2)), lambda x, y: x < y), ((Named(1, 2), [1, 2]), lambda x, y: x == y),
    ],
)  # fmt: skip
def test_errors_of_operators_name_the_operator_and_the_classes(operands, function):
    compiled = autoconv.compile(function)
    expected, *found = (result_or_error(item, *operands) for item in (function, compiled, compiled))
    assert found == [expected, expected]


def operator_of(x, y):
    x -= y
    return x
