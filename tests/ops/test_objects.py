"""Ops on Python objects: each kernel does what Python does."""

import pytest

from autoconv.errors import StagingError
from autoconv.graph.dtypes import float64, int64
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.python.objects import FUNCTIONS


def run(op, /, *inputs, **attributes):
    found = OPS[op].kernel(*inputs, **attributes)
    return found[0] if isinstance(found, tuple) and len(found) == 1 else found


def test_numbers_are_boxed_and_unboxed():
    boxed = run("object_box", 3, boxing="number")
    assert boxed == 3 and type(boxed) is int
    assert run("object_unbox", 7, type=TensorType(int64, (), True)) == 7
    assert run("object_unbox", 2.5, type=TensorType(float64, (), True)).item() == 2.5
    with pytest.raises(OverflowError):
        run("object_unbox", 2**70, type=TensorType(int64, (), True))


@pytest.mark.parametrize(
    ("function", "operands", "expected"),
    [
        ("add", ([1], ["a"]), [1, "a"]),
        ("mod", ("%s-%d", ("x", 2)), "x-2"),
        ("getitem", ({"k": 5}, "k"), 5),
        ("contains", ((1, 2), 2), True),
        ("is", (None, None), True),
        ("sorted", ([3, 1, 2],), [1, 2, 3]),
        ("format", (3.14159, ".2f"), "3.14"),
        ("math.gcd", (12, 18), 6),
    ],
)
def test_object_apply(function, operands, expected):
    assert run("object_apply", *operands, function=function) == expected


def test_every_function_of_object_apply_is_pythons():
    assert all(callable(function) for function in FUNCTIONS.values())


def test_containers_are_changed_in_place():
    items = run("object_build", 1, 2, class_name="list")
    alias = items
    run("object_method", items, 3, name="append")
    run("object_apply", items, 0, 9, function="setitem")
    assert alias == [9, 2, 3]
    assert run("object_build", "a", 1, "b", 2, class_name="dict") == {"a": 1, "b": 2}


def test_a_cursor_iterates_over_the_present_items():
    cursor = run("object_iterate", {"a": 1, "b": 2})
    seen = []
    while run("object_advance", cursor):
        seen.append(run("object_current", cursor))
    assert seen == ["a", "b"]


@pytest.mark.parametrize(
    ("items", "count", "star", "expected"),
    [
        ([1, 2], 2, -1, (1, 2)),
        ("abcd", 2, 1, ("a", ["b", "c", "d"])),
        ([1, 2, 3, 4], 3, 1, (1, [2, 3], 4)),
        ([1, 2], 3, 1, (1, [], 2)),
    ],
)
def test_unpack(items, count, star, expected):
    assert OPS["object_unpack"].kernel(items, count=count, star=star) == expected


@pytest.mark.parametrize(("items", "text"), [([1], "expected 2, got 1"), ([1, 2, 3], "too many values")])
def test_unpack_raises_pythons_errors(items, text):
    with pytest.raises(ValueError, match=text):
        run("object_unpack", items, count=2)


def test_except_clauses_are_tried_in_order():
    clauses = (KeyError, (ValueError, IndexError), Exception)
    assert run("object_match", IndexError(), clauses=clauses) == 1
    assert run("object_match", LookupError(), clauses=clauses) == 2
    assert run("object_match", KeyboardInterrupt(), clauses=clauses) == 3


def test_raise_links_exceptions():
    first, second = ValueError("a"), KeyError("b")
    with pytest.raises(KeyError) as caught:
        run("object_raise", second, first, linked="context")
    assert caught.value.__context__ is first
    with pytest.raises(KeyError) as caught:
        run("object_raise", KeyError("c"), first, linked="cause")
    assert caught.value.__cause__ is first


def test_no_user_code_runs():
    class Own:
        @property
        def area(self):
            raise AssertionError("ran")

        def method(self):
            raise AssertionError("ran")

    with pytest.raises(StagingError, match="cannot call it"):
        run("object_method", Own(), name="method")
    with pytest.raises(StagingError, match="cannot run its code"):
        run("object_get_attribute", Own(), name="area")
