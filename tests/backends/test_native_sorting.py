"""Sorts, orders, the largest, and searches as native routines: against NumPy's stable sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from tests.backends.native import compare_errors, op, run_both

DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
LENGTHS = (0, 1, 2, 9, 16, 17, 24, 25, 300, 1025, 5000)


def numbers(dtype: str, count: int, seed: int = 0) -> np.ndarray:
    """Return numbers with many equal ones and the limits of the dtype; floats have nan, infinities and both zeros."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1.5], dtype)
        usual = random.standard_normal(count).astype(dtype)
    elif kind.kind == "b":
        special, usual = np.array([False, True]), random.integers(0, 2, count).astype(bool)
    else:
        limits = np.iinfo(kind)
        special = np.array([limits.min, limits.max, 0, 1], dtype)
        usual = random.integers(limits.min, limits.max, count, dtype=kind, endpoint=True)
    return np.where(random.random(count) < 0.4, random.choice(special, count), usual).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_sorts_and_orders_of_every_dtype(dtype: str, descending: bool) -> None:
    for count in LENGTHS if dtype in ("float32", "int64") else (24, 300):
        x = numbers(dtype, count)
        (found,) = run_both(op("sort", axis=0, descending=descending), x)
        zeros = found == 0  # equal, but distinguishable: a stable sort keeps their order
        np.testing.assert_array_equal(np.signbit(found[zeros]) if x.dtype.kind == "f" else 0, signs_of_zeros(x))
        (order,) = run_both(op("argsort", axis=0, descending=descending), x)
        if not descending:
            np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_rows_that_are_in_order_or_reversed(dtype: str) -> None:
    ascending = np.sort(numbers(dtype, 100))
    distinct = np.arange(100).astype(dtype)
    last = np.append(distinct[1:], distinct[:1])
    rows = np.stack([ascending, ascending[::-1], distinct, distinct[::-1], last, last[::-1], np.zeros(100, dtype)])
    (order,) = run_both(op("argsort", axis=-1), rows)
    np.testing.assert_array_equal(order, np.argsort(rows, kind="stable"))


def signs_of_zeros(x: np.ndarray) -> Any:
    return np.signbit(x[x == 0]) if x.dtype.kind == "f" else 0


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("count", [20_000, 20_001])
def test_two_threads_sort_a_long_row_in_halves(monkeypatch: pytest.MonkeyPatch, dtype: str, count: int) -> None:
    monkeypatch.setattr(SETTINGS, "threads", 2)
    already = np.sort(numbers(dtype, count))
    rows = [numbers(dtype, count), already, already[::-1].copy(), np.full(count, already[-1])]
    for x in rows[: 4 if dtype == "float32" else 1]:
        for descending in (False, True):
            (found,) = run_both(op("sort", axis=0, descending=descending), x)
            zeros = found == 0
            np.testing.assert_array_equal(np.signbit(found[zeros]) if x.dtype.kind == "f" else 0, signs_of_zeros(x))
            (order,) = run_both(op("argsort", axis=0, descending=descending), x)
            if not descending:
                np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_along_every_axis(axis: int) -> None:
    x = numbers("float32", 3 * 40 * 30).reshape(3, 40, 30)
    run_both(op("sort", axis=axis, descending=False), x)
    run_both(op("argsort", axis=axis, descending=True), x)
    run_both(op("sort", axis=axis, descending=False), x[:, :, :0])
    run_both(op("sort", axis=axis, descending=False), x.transpose(2, 0, 1)[::3])


@pytest.mark.parametrize("k", [0, 1, 5, 32, 33, 200])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_top_k(dtype: str, k: int) -> None:
    x = numbers(dtype, 4 * 200).reshape(4, 200)
    values, positions = run_both(op("top_k", k=k), x)
    np.testing.assert_array_equal(values, np.take_along_axis(x, positions, 1))
    if dtype != "float32":
        np.testing.assert_array_equal(values, np.sort(x, 1)[:, ::-1][:, :k])
    run_both(op("top_k", k=k), np.sort(x, 1))
    run_both(op("top_k", k=k), np.zeros((2, 200), dtype))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "bool"])
def test_searches(dtype: str, side: str) -> None:
    for count in (0, 1, 2, 3, 100, 1000):
        sequence, values = np.sort(numbers(dtype, count)), numbers(dtype, 43, seed=1)
        how: Any = {"side": side, "dtype": ac.int64}
        (found,) = run_both(op("searchsorted", **how), sequence, values)
        np.testing.assert_array_equal(found, np.searchsorted(sequence, values, side))  # type: ignore[call-overload]
        unsorted = numbers(dtype, count)
        run_both(op("searchsorted", **how), unsorted, values)
        run_both(op("searchsorted", **how), unsorted, values[:1])
        run_both(op("searchsorted", **how), unsorted, np.sort(values))
    rows = np.sort(numbers(dtype, 30).reshape(3, 10), 1)
    run_both(op("searchsorted", side=side, dtype=ac.int32), rows, numbers(dtype, 6).reshape(3, 2))
    run_both(op("searchsorted", side=side, dtype=ac.int32), rows[:, :0], numbers(dtype, 6).reshape(3, 2))


@pytest.mark.parametrize("order", [{"axis": -1}, {"axis": -1, "descending": False}, {"axis": 0, "descending": True}])
def test_searches_in_what_was_sorted(order: dict[str, Any]) -> None:
    def build(b: Any, x: Any, values: Any) -> Any:
        return b.searchsorted(b.sort(x, **order), values, dtype=ac.int64)

    run_both(build, numbers("float64", 40), numbers("float64", 9, seed=1))


def test_k_beyond_the_row_is_refused() -> None:
    def build(b: Any, x: Any, k: Any) -> Any:
        return b.top_k(x, k, k=None)

    assert "input must have at least k columns" in compare_errors(build, np.ones((2, 3)), np.int32(4))


def test_the_gradient_of_a_sort_is_in_the_original_order() -> None:
    @ac.function
    def loss(x: Any) -> Any:
        best, _ = ac.math.top_k(x, 2)
        return ac.reduce_sum(ac.sort(x) * np.array([1.0, 2.0, 3.0, 4.0])) + 10.0 * ac.reduce_sum(best)

    found = ac.grad(loss)(ac.constant(np.array([0.5, -2.0, 7.0, 0.25])))
    np.testing.assert_array_equal(found, [13.0, 1.0, 14.0, 2.0])


def test_sorts_that_share_a_graph() -> None:
    def build(b: Any, x: Any) -> Any:
        y = b.multiply(x, x)
        order = b.argsort(y, axis=0, descending=False)
        return b.gather(x, order, axis=0), b.sort(b.negative(y), axis=0, descending=True)

    run_both(build, numbers("int32", 3000) % 1000)
