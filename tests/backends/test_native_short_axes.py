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
        whole = Slice()
        apart = b.subtract(
            b.get_item(x, spec=(whole, NewAxis(), whole)), b.get_item(y, spec=(NewAxis(), whole, whole))
        )
        return b.sqrt(b.reduce_sum(b.square(apart), axis=(2,), keepdims=False))

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
    place, mass = numbers(40, 3), numbers(40)

    def build(b: Any, place: Any, mass: Any) -> Any:
        whole = Slice()
        apart = b.subtract(
            b.get_item(place, spec=(NewAxis(), whole, whole)), b.get_item(place, spec=(whole, NewAxis(), whole))
        )
        near = b.add(b.reduce_sum(b.multiply(apart, apart), axis=(2,), keepdims=False), 0.01)
        pull = b.get_item(b.divide(mass, b.multiply(near, b.sqrt(near))), spec=(whole, whole, NewAxis()))
        return b.reduce_sum(b.multiply(apart, pull), axis=(1,), keepdims=False)

    (found,) = run_both(build, place, mass, rtol=1e-4)
    apart = place[None].astype(float) - place[:, None]
    near = (apart**2).sum(2) + 0.01
    np.testing.assert_allclose(found, (apart * (mass / near**1.5)[:, :, None]).sum(1), rtol=1e-4, atol=1e-3)
    assert len(loops(build, place, mass)) == 1


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
