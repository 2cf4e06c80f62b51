"""Wrappers of sorting and search."""

from __future__ import annotations

import numpy as np
import pytest

from autoconv.api.tensors import sorting
from autoconv.graph.dtypes import int64
from autoconv.runtime.tensors.conversion import constant


def test_sort_and_argsort() -> None:
    assert sorting.sort([3, 1, 2]).numpy().tolist() == [1, 2, 3]
    assert sorting.sort([3, 1, 2], direction="DESCENDING").numpy().tolist() == [3, 2, 1]
    assert sorting.argsort([[3, 1], [0, 2]], axis=0).numpy().tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="ASCENDING"):
        sorting.sort([1], direction="up")


def test_top_k() -> None:
    found = sorting.top_k([1.0, 5.0, 3.0], k=2)
    assert found.values.numpy().tolist() == [5.0, 3.0]
    assert found.indices.numpy().tolist() == [1, 2]
    assert sorting.top_k([1.0, 5.0], constant(1), index_type=int64).indices.dtype is int64
    assert sorting.in_top_k([0, 1], [[1.0, 2.0], [1.0, 2.0]], 1).numpy().tolist() == [False, True]
    assert sorting.in_top_k([0, 1], np.array([[1.0, 2.0], [1.0, 2.0]]), 1).numpy().tolist() == [False, True]


def test_unique() -> None:
    y, idx = sorting.unique(["b", "a", "b"])
    assert y.numpy().tolist() == [b"b", b"a"] and idx.numpy().tolist() == [0, 1, 0]
    assert sorting.unique_with_counts([5, 5, 1]).count.numpy().tolist() == [2, 1]


def test_searchsorted() -> None:
    found = sorting.searchsorted([1.0, 2.0, 2.0], [2.0, 0.0], side="right")
    assert found.numpy().tolist() == [3, 0] and found.numpy().dtype == np.int32
    with pytest.raises(ValueError, match="side has to be"):
        sorting.searchsorted([1.0], [1.0], side="middle")
