"""Structures are flattened and packed."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

import autoconv as tf
from autoconv import nest

Point = namedtuple("Point", "x y")


def test_flatten_and_pack() -> None:
    structure = {"b": [1, (2, None)], "a": Point(3, [])}
    assert nest.flatten(structure) == [3, 1, 2, None]
    packed = nest.pack_sequence_as(structure, [30, 10, 20, "n"])
    assert packed == {"b": [10, (20, "n")], "a": Point(30, [])} and list(packed) == ["b", "a"]
    assert isinstance(packed["a"], Point)
    assert nest.flatten(5) == [5] and nest.pack_sequence_as(5, [6]) == 6
    with pytest.raises(ValueError, match="Structure had 4 atoms, but flat_sequence had 1 items"):
        nest.pack_sequence_as(structure, [1])
    with pytest.raises(TypeError, match="Attempted to pack value"):
        nest.pack_sequence_as([1], 1)  # type: ignore[arg-type]


def test_map_structure() -> None:
    assert nest.map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]}) == {"a": [11, 22]}
    with pytest.raises(TypeError, match="func must be callable"):
        nest.map_structure(3, [1])  # type: ignore[arg-type]


def test_structures_that_differ() -> None:
    nest.assert_same_structure([1, {"a": 2}], ["x", {"a": None}])
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.assert_same_structure((1, 2), (1, 2, 3))
    with pytest.raises(ValueError, match="is a sequence"):
        nest.assert_same_structure([1, [2]], [1, 2])
    with pytest.raises(TypeError):
        nest.assert_same_structure([1], (1,))
    nest.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError, match="same set of keys"):
        nest.assert_same_structure({"a": 1}, {"b": 1})


@dataclass(slots=True)
class _Slotted:
    x: Any


@dataclass
class _Open:
    x: Any


def test_fields_of_dataclasses_alone_are_compared() -> None:
    nest.assert_same_structure(_Slotted([1]), _Slotted([2]))
    with pytest.raises(ValueError, match="numbers of elements differ"):
        nest.assert_same_structure(_Slotted([1]), _Slotted([1, 2]))
    value = _Open(1)
    value.cache = {}  # type: ignore[attr-defined]
    nest.assert_same_structure(value, _Open(2))


def test_is_nested() -> None:
    assert nest.is_nested([1]) and nest.is_nested({}) and not nest.is_nested("ab") and not nest.is_nested(1)


def test_ordered_dicts_are_structures() -> None:
    pairs = OrderedDict([("b", 1), ("a", [2, 3])])
    assert nest.is_nested(pairs) and nest.flatten(pairs) == [2, 3, 1]
    doubled = nest.map_structure(lambda leaf: leaf * 2, pairs)
    assert type(doubled) is OrderedDict and list(doubled.items()) == [("b", 2), ("a", [4, 6])]

    @tf.function
    def swap(structure: Any) -> Any:
        return OrderedDict([("z", structure["b"]), ("y", structure["a"][0] + structure["a"][1])])

    found = swap(OrderedDict([("b", tf.constant(1)), ("a", [2, tf.constant(3)])]))
    assert type(found) is OrderedDict
    assert [(key, value.numpy()) for key, value in found.items()] == [("z", 1), ("y", 5)]


def test_an_ordered_dict_argument_must_not_change() -> None:
    @tf.function
    def extend(structure: Any) -> Any:
        structure["new"] = 1
        return structure["old"]

    argument = OrderedDict(old=tf.constant(1))
    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        extend(argument)
    assert list(argument) == ["old"]
