"""argmax and argmin: the first of the best, the first nan, along any axis. Positions of numbers in sorted vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv
from tests.backends.native import op, run_both

DTYPES = [np.float32, np.float64, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64]


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), [((40,), 0), ((30, 16), 1), ((7, 3), 1), ((9, 70), 0), ((3, 5, 130), -2)])
def test_against_numpy(name: str, dtype: Any, shape: tuple[int, ...], axis: int) -> None:
    x = (np.random.default_rng(1).random(shape) * 100).astype(dtype)  # with many equal numbers
    (found,) = run_both(op(name, axis=axis), x)
    np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_nan_and_zeros_and_infinities(name: str, dtype: Any) -> None:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0, 5e-324 if dtype is np.float64 else 1e-45]
    rows = np.random.default_rng(2).choice(np.array(special, dtype), (300, 5))
    for x in (rows, rows[:, :2], np.array([[-0.0, 0.0], [0.0, -0.0]], dtype), np.full((2, 20), -np.inf, dtype)):
        for axis in (0, 1):
            (found,) = run_both(op(name, axis=axis), np.ascontiguousarray(x))
            np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint64"])
def test_short_vectors(name: str, dtype: str) -> None:
    random = np.random.default_rng(3)
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0] if dtype.startswith("float") else [0, 1, 2, 3]
    for size in range(1, 19):
        for _ in range(4):
            x = random.choice(special, size).astype(dtype)
            (found,) = run_both(op(name, axis=0), x)
            assert found == getattr(np, name)(x)


def test_a_short_vector_that_changes_in_a_loop() -> None:
    def serve(times: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, int]:
        servers, total = np.zeros(x.shape[1]), 0
        for i in range(len(times)):
            first = np.argmin(servers)
            servers[first] += times[i]
            x[i % 2] = servers
            total += first + np.argmax(x[:, 1])
        return servers, total

    times = np.random.default_rng(0).random(50)
    arguments, expected_arguments = (times, np.zeros((2, 3))), (times, np.zeros((2, 3)))
    found, expected = autoconv.compile(serve)(*arguments), serve(*expected_arguments)
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1]
    np.testing.assert_array_equal(arguments[1], expected_arguments[1])


@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_long_rows(name: str) -> None:
    for size in (4096, 4097, 20_000):
        for where in (0, 4095, size - 1):
            x = np.zeros((2, size), np.float32)
            x[1, where] = x[1, size - 1] = -3.0 if name == "argmin" else 3.0
            (found,) = run_both(op(name, axis=1), x)
            assert found.tolist() == [0, where]
    (found,) = run_both(op(name, axis=0), np.array([2, 2**63 - 1, -(2**63), 7] * 3000))
    assert found == (2 if name == "argmin" else 1)


def test_many_rows_are_split_over_threads() -> None:
    x = np.random.default_rng(3).random((60_000, 11))
    (found,) = run_both(op("argmax", axis=1), x)
    np.testing.assert_array_equal(found, x.argmax(1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["reduce_max", "reduce_min"])
def test_extremes_of_special_numbers(name: str, dtype: Any) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0, tiny, -tiny], dtype)
    rows = np.random.default_rng(5).choice(special, (400, 7))
    reduce: Any = np.max if name == "reduce_max" else np.min
    for x in (rows, np.abs(rows), -np.abs(rows), np.full((3, 40), -np.inf, dtype)):
        for axis in ((0,), (1,), (0, 1)):
            (found,) = run_both(op(name, axis=axis, keepdims=False), x)
            np.testing.assert_array_equal(found, reduce(x, axis=axis))


def test_extremes_of_many_numbers_over_threads() -> None:
    x = np.random.default_rng(6).standard_normal(2_000_000).astype(np.float32)
    for name, expected in (("reduce_max", x.max()), ("reduce_min", x.min())):
        assert run_both(op(name, axis=None, keepdims=False), x)[0] == expected
    x[1_234_567] = np.nan
    assert np.isnan(run_both(op("reduce_max", axis=None, keepdims=False), x)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_positions_of_nan_among_other_numbers(dtype: Any, side: str, size: int) -> None:
    random = np.random.default_rng(size)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 0.5], dtype)
    sequence = np.sort(random.choice(special, size))
    for values in (random.choice(special, 50), random.random(50).astype(dtype), random.choice(special[2:], 3)):
        (found,) = run_both(op("searchsorted", side=side), sequence, values)
        np.testing.assert_array_equal(found, np.searchsorted(sequence, values, side))
