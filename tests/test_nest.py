"""Structures taken apart and put together."""

from __future__ import annotations

from collections import namedtuple

import pytest

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


def test_is_nested() -> None:
    assert nest.is_nested([1]) and nest.is_nested({}) and not nest.is_nested("ab") and not nest.is_nested(1)
