"""Innermost loops split where rolled and padded arrays begin, with a last whole vector that overlaps the one before."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from autoconv.backends.llvm.analysis.index_map import CounterRange
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import is_below, plus, record_counter_range, times
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.graph import dimensions
from autoconv.graph.types import Symbol
from autoconv.ops.index_spec import Slice
from tests.backends.native import run_both

SHAPES: list[tuple[int, ...]] = [(5,), (16,), (33,), (254,), (3, 40), (7, 31), (2, 3, 50), (4, 1), (1, 19), (3, 0)]


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    return (np.random.default_rng(7).random(shape) * 90).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.bool_])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_rolled_arrays(shape: tuple[int, ...], dtype: Any) -> None:
    x = numbers(shape, dtype)

    def build(b: Any, x: Any) -> Any:
        last = len(shape) - 1
        total = b.add(b.roll(x, shift=(1,), axis=(last,)), b.roll(x, shift=(-2,), axis=(last,)))
        return b.add(total, b.roll(b.roll(x, shift=(3,), axis=(last,)), shift=(1, 1), axis=(0, last)))

    (found,) = run_both(build, x)
    expected = np.roll(x, 1, -1) + np.roll(x, -2, -1) + np.roll(np.roll(x, 3, -1), (1, 1), (0, len(shape) - 1))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_padded_arrays_in_loops(shape: tuple[int, ...]) -> None:
    x = numbers(shape)
    paddings = [(0, 2)] * (len(shape) - 1) + [(3, 1)]

    def build(b: Any, x: Any) -> Any:
        wide = b.pad(x, paddings=tuple(paddings), mode="CONSTANT", constant_values=2)
        back = b.reverse(wide, axis=(len(shape) - 1,))
        return b.add(b.multiply(wide, wide), back), b.reduce_sum(b.roll(wide, shift=(2,), axis=(-1,)), axis=None)

    found, total = run_both(build, x, rtol=1e-5)
    wide = np.pad(x, paddings, constant_values=2)
    np.testing.assert_array_equal(found, wide * wide + wide[..., ::-1])
    np.testing.assert_allclose(total, wide.sum(dtype=np.float64), rtol=1e-5)


@pytest.mark.parametrize("paddings", [((1, 1), (1, 1)), ((2, 0), (0, 3)), ((0, 1), (0, 0)), ((0, 0), (4, 4))])
@pytest.mark.parametrize("shape", [(3, 5), (20, 30), (6, 0), (0, 4)])
def test_borders_around_what_loops_compute(shape: tuple[int, ...], paddings: Any) -> None:
    x = numbers(shape)
    (found,) = run_both(lambda b, x: b.pad(b.multiply(x, x), paddings=paddings, mode="CONSTANT", constant_values=-1), x)
    np.testing.assert_array_equal(found, np.pad(x * x, paddings, constant_values=-1))


def test_a_border_in_three_dimensions() -> None:
    x = numbers((3, 4, 35))
    paddings = ((1, 2), (0, 1), (2, 0))
    (found,) = run_both(lambda b, x: b.pad(b.negative(x), paddings=paddings, mode="CONSTANT"), x)
    np.testing.assert_array_equal(found, np.pad(-x, paddings))


def test_large_rolls_are_split_over_threads() -> None:
    for shape in [(1_200_003,), (1, 1_200_003), (40, 30_001)]:
        x = numbers(shape, np.int32)
        last = len(shape) - 1
        (found,) = run_both(lambda b, x, last=last: b.add(x, b.roll(x, shift=(5,), axis=(last,))), x)
        np.testing.assert_array_equal(found, x + np.roll(x, 5, last))


def test_comparisons_with_counter_ranges() -> None:
    out = FunctionText(ModuleText())
    record_counter_range(out, "%i", 0, 10)
    moved = plus(out, times(out, "%i", -1), 9)
    assert is_below(out, moved, 10) is True
    assert is_below(out, moved, 0) is False
    assert is_below(out, moved, 4) is None  # 9 - i < 4 from i = 6 on
    assert is_below(out, "%elsewhere", 4) is None
    assert is_below(out, 3, 4) is True


def test_positions_where_a_span_is_cut() -> None:
    i = Symbol("i")
    span = CounterRange(i, 0, 10)
    assert span.is_below(dimensions.plus(dimensions.times(i, -1), 9), 4) is None  # from i = 6 on
    assert span.is_below(dimensions.plus(i, 3), 5) is None  # up to i = 2
    assert span.cuts == {2, 6}
    assert span.is_below(dimensions.plus(i, Symbol("n")), 4) is None
    assert span.is_below(dimensions.times(i, i), 200) is None
    assert span.is_below(dimensions.plus(i, 3), 13) is True


@pytest.mark.parametrize("kernel_size", [2, 4, 9])
@pytest.mark.parametrize("shape", [(5,), (33,), (400,), (3, 40)])
def test_many_windows_of_a_padded_array(shape: tuple[int, ...], kernel_size: int) -> None:
    x = numbers(shape)
    rows, reach = (Slice(None, None, None),) * (len(shape) - 1), kernel_size - 1

    def build(b: Any, x: Any) -> Any:
        wide = b.pad(x, paddings=((0, 0),) * len(rows) + ((reach, reach),), mode="CONSTANT", constant_values=2)
        windows = (b.get_item(wide, spec=(*rows, Slice(reach - i, -i or None, None))) for i in range(kernel_size))
        return functools.reduce(b.add, windows)

    (found,) = run_both(build, x)
    wide = np.pad(x, ((0, 0),) * len(rows) + ((reach, reach),), constant_values=2)
    windows = [wide[..., reach - i : -i or None] for i in range(kernel_size)]
    np.testing.assert_array_equal(found, functools.reduce(np.add, windows))
