"""Gather, scatter, select, one_hot and segments, against plain loops, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, float32, int32
from autoconv.graph.types import TensorType
from autoconv.ops import OPS

X = np.arange(24.0).reshape(2, 3, 4)


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    return OPS[name].kernel(*inputs, **attributes)


def result_type(name: str, *inputs: Any, **attributes: Any) -> Any:
    return OPS[name].result(*(TensorType(as_dtype(x.dtype), np.shape(x)) for x in inputs), **attributes)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize(
    "indices", [np.array(1), np.array([1, 0]), np.array([[0, 1], [1, 1]]), np.zeros((0,), int)]
)
def test_gather(axis: int, indices: np.ndarray) -> None:
    found = run("gather", X, indices, axis=axis)
    np.testing.assert_array_equal(found, np.take(X, indices, axis))
    assert result_type("gather", X, indices, axis=axis).shape == found.shape


@pytest.mark.parametrize(("axis", "lead"), [(1, 1), (2, 1), (2, 2), (-1, 1)])
def test_gather_with_batch(axis: int, lead: int) -> None:
    indices = np.random.default_rng(0).integers(0, 3, (*X.shape[:lead], 2, 2))
    found = run("gather", X, indices, axis=axis, batch_dims=lead)
    positive_axis = axis % 3
    for batch in np.ndindex(X.shape[:lead]):
        np.testing.assert_array_equal(found[batch], np.take(X[batch], indices[batch], positive_axis - lead))
    assert result_type("gather", X, indices, axis=axis, batch_dims=lead).shape == found.shape


def test_gather_nd() -> None:
    indices = np.array([[1, 2, 3], [0, 0, 1]])
    np.testing.assert_array_equal(run("gather_nd", X, indices), [X[1, 2, 3], X[0, 0, 1]])
    np.testing.assert_array_equal(run("gather_nd", X, indices[:, :1]), X[[1, 0]])
    np.testing.assert_array_equal(run("gather_nd", X, np.zeros((2, 0), int)), np.stack([X, X]))
    batched = run("gather_nd", X, np.array([[[2, 3]], [[0, 1]]]), batch_dims=1)
    np.testing.assert_array_equal(batched, [[X[0, 2, 3]], [X[1, 0, 1]]])
    assert result_type("gather_nd", X, indices[:, :2]).shape == (2, 4)


def test_scatter() -> None:
    indices = np.array([[1], [3], [1]])
    np.testing.assert_array_equal(
        run("scatter_nd", indices, np.array([1, 2, 4]), shape=(5,)), [0, 5, 0, 2, 0]
    )
    base = np.array([10, 10, 10, 10])
    updates = np.array([1, 2, 4])
    for name, expected in {
        "update": [10, 4, 10, 2], "add": [10, 15, 10, 12], "sub": [10, 5, 10, 8], "min": [10, 1, 10, 2],
        "max": [10, 10, 10, 10],
    }.items():  # fmt: skip
        np.testing.assert_array_equal(run(f"tensor_scatter_nd_{name}", base, indices, updates), expected)
    np.testing.assert_array_equal(base, [10, 10, 10, 10])
    rows = run("tensor_scatter_nd_update", np.zeros((2, 3)), np.array([[1]]), np.ones((1, 3)))
    np.testing.assert_array_equal(rows, [[0, 0, 0], [1, 1, 1]])


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "text"),
    [
        ("gather", (np.zeros(2), np.array([5])), {"axis": 0}, r"indices\[0\] = 5 is not in \[0, 2\)"),
        (
            "gather",
            (np.zeros(2), np.array([[0], [-1]])),
            {"axis": 0},
            r"indices\[1,0\] = -1 is not in \[0, 2\)",
        ),
        ("gather", (np.zeros(2), np.array(2)), {"axis": 0}, r"indices = 2 is not in \[0, 2\)"),
        (
            "gather_nd",
            (np.zeros((2, 2)), np.array([[0, 5]])),
            {},
            r"indices\[0\] = \[0, 5\] does not index into shape",
        ),
        (
            "scatter_nd",
            (np.array([[5]]), np.array([1])),
            {"shape": (3,)},
            r"indices\[0\] = \[5\] does not index",
        ),
        ("scatter_nd", (np.array([[1]]), np.ones(2)), {"shape": (3,)}, "updates have to be of shape"),
        (
            "segment_sum",
            (np.ones(2), np.array([0, 3])),
            {"num_segments": 2},
            r"segment_ids\[1\] = 3 is not in \[0, 2\)",
        ),
        ("select", (np.ones(2, bool), np.ones(3), np.ones(2)), {}, "do not broadcast"),
    ],
)
def test_errors(name: str, inputs: Any, attributes: Any, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        run(name, *inputs, **attributes)


def test_rules_refuse() -> None:
    with pytest.raises(TypeError, match="integers"):
        result_type("gather", X, np.array([0.5]), axis=0)
    with pytest.raises(ValueError, match="batch_dims"):
        result_type("gather", X, np.array([[0]]), axis=0, batch_dims=1)
    with pytest.raises(ValueError, match="updates"):
        result_type("tensor_scatter_nd_add", X, np.array([[0]]), np.ones((1, 5)))
    with pytest.raises(TypeError, match="bools"):
        result_type("select", np.array([1]), np.array([1]), np.array([2]))


def test_one_hot() -> None:
    indices = np.array([[0, 2], [-1, 5]])
    on, off = np.float32(1), np.float32(0)
    found = run("one_hot", indices, on, off, depth=3, dtype=float32)
    expected = np.zeros((2, 2, 3))
    expected[0, 0, 0] = expected[0, 1, 2] = 1
    np.testing.assert_array_equal(found, expected)
    first = run("one_hot", indices, on, off, depth=3, axis=0, dtype=float32)
    np.testing.assert_array_equal(first, np.moveaxis(expected, -1, 0))
    assert result_type("one_hot", indices, on, off, depth=3, axis=1, dtype=float32).shape == (2, 3, 2)


def test_where_and_segments() -> None:
    np.testing.assert_array_equal(
        run("where_indices", np.array([[True, False], [False, True]])), [[0, 0], [1, 1]]
    )
    assert run("where_indices", np.zeros((0, 2), bool)).shape == (0, 2)
    np.testing.assert_array_equal(run("segment_sum", np.array([1, 2, 3]), np.array([0, 2, 0])), [4, 0, 2])
    assert OPS["segment_sum"].result(TensorType(int32, (3,)), TensorType(int32, (3,))).shape == (None,)
