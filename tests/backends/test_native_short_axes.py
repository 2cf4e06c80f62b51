"""Vectors of two to four numbers in loops, unrolled component by component."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.backends.llvm.describe import describe
from autoconv.ops.index_spec import NewAxis, Rest, Slice
from tests.backends.native import graph_of, run_both

LAST = Rest()


def numbers(*shape: int, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


def loops(build: Any, *inputs: np.ndarray) -> list[str]:
    return [line for line in describe(graph_of(build, *inputs)) if line.startswith("loop")]


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_distances(count: int) -> None:
    x, y = numbers(30, count), numbers(17, count, seed=4)

    def build(b: Any, x: Any, y: Any) -> Any:
        all_ = Slice()
        differences = b.subtract(
            b.get_item(x, spec=(all_, NewAxis(), all_)), b.get_item(y, spec=(NewAxis(), all_, all_))
        )
        return b.sqrt(b.reduce_sum(b.square(differences), axis=(2,), keepdims=False))

    (found,) = run_both(build, x, y, rtol=1e-6)
    exact = np.sqrt(((x[:, None].astype(float) - y[None]) ** 2).sum(2))
    np.testing.assert_allclose(found, exact, rtol=1e-5)
    assert len(loops(build, x, y)) == (1 if count < 5 else 2)


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_prod", "reduce_max", "reduce_mean"])
@pytest.mark.search
def test_reductions_over_any_axes(name: str, axes: tuple[int, ...], keepdims: bool) -> None:
    x, mask = numbers(9, 8, 3) + np.float32(0.5), numbers(9, 8, 1) > 0.4
    scale = np.array([0.9, -1.5, 1.0], np.float32)

    def build(b: Any, x: Any, mask: Any, scale: Any) -> Any:
        chosen = b.select(mask, b.multiply(x, scale), b.negative(x))
        return getattr(b, name)(chosen, axis=axes, keepdims=keepdims)

    (found,) = run_both(build, x, mask, scale, rtol=2e-5)
    reduce: Any = {"reduce_sum": np.sum, "reduce_prod": np.prod, "reduce_max": np.max, "reduce_mean": np.mean}[name]
    chosen = np.where(mask, x * scale, -x).astype(np.float64)
    np.testing.assert_allclose(found, reduce(chosen, axis=axes, keepdims=keepdims), rtol=2e-5)


def test_a_sum_that_is_broadcast_into_its_vectors() -> None:
    """Gravity between bodies: one loop computes distances and accelerations."""
    positions, masses = numbers(40, 3), numbers(40)

    def build(b: Any, positions: Any, masses: Any) -> Any:
        all_ = Slice()
        differences = b.subtract(
            b.get_item(positions, spec=(NewAxis(), all_, all_)), b.get_item(positions, spec=(all_, NewAxis(), all_))
        )
        squares = b.add(b.reduce_sum(b.multiply(differences, differences), axis=(2,), keepdims=False), 0.01)
        pull = b.get_item(b.divide(masses, b.multiply(squares, b.sqrt(squares))), spec=(all_, all_, NewAxis()))
        return b.reduce_sum(b.multiply(differences, pull), axis=(1,), keepdims=False)

    (found,) = run_both(build, positions, masses, rtol=1e-4)
    differences = positions[None].astype(float) - positions[:, None]
    squares = (differences**2).sum(2) + 0.01
    expected = (differences * (masses / squares**1.5)[:, :, None]).sum(1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)
    assert len(loops(build, positions, masses)) == 1


def test_vectors_with_other_uses_are_not_unrolled() -> None:
    x = numbers(20, 3)
    for build in (
        lambda b, x: (b.square(x), b.reduce_sum(b.square(x), axis=(1,), keepdims=False)),
        lambda b, x: b.reduce_sum(b.cumsum(b.square(x), axis=1), axis=(1,), keepdims=False),
        lambda b, x: b.matmul(b.square(x), b.transpose(b.square(x))),
    ):
        run_both(build, x, rtol=1e-5)


def test_special_numbers() -> None:
    x = np.array([[np.nan, 1.0], [np.inf, -np.inf], [-0.0, -0.0], [1e38, 3e38]] * 5, np.float32)
    (found,) = run_both(lambda b, x: b.reduce_sum(b.negative(x), axis=(1,), keepdims=False), x)
    np.testing.assert_array_equal(found[:4], np.array([np.nan, np.nan, 0.0, -np.inf], np.float32))
