"""Ops whose result sizes depend on values: coordinates, masks, distinct elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import interpreter, llvm
from autoconv.config import SETTINGS
from autoconv.ops.index_spec import Mask
from tests.backends.native import graph_of, op, run_both
from tests.backends.test_native_sorting import numbers

SHAPES = ((0,), (1,), (7,), (300,), (3, 4), (5, 1, 6), (0, 3), (2, 0, 2))


@pytest.mark.parametrize("dtype", ["bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_coordinates(shape: tuple[int, ...], dtype: str) -> None:
    x = numbers(dtype, int(np.prod(shape))).reshape(shape)
    (found,) = run_both(op("where_indices"), x)
    np.testing.assert_array_equal(found, np.argwhere(x))
    run_both(op("where_indices"), np.zeros(shape, dtype))
    run_both(op("where_indices"), np.ones(shape, dtype))


@pytest.mark.parametrize("dtype", ["bool", "float32", "int64", "uint8"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("trailing", [(), (1,), (3,), (2, 2), (0,)])
@pytest.mark.search
def test_masks(shape: tuple[int, ...], trailing: tuple[int, ...], dtype: str) -> None:
    x = numbers(dtype, int(np.prod((*shape, *trailing)))).reshape((*shape, *trailing))
    mask = np.random.default_rng(1).random(shape) < 0.5
    for item in (mask, np.zeros(shape, bool), np.ones(shape, bool)):
        (found,) = run_both(op("get_item", spec=(Mask(),)), x, item)
        np.testing.assert_array_equal(found, x[item])


def _counts(x: Any, weights: Any, least: int) -> Any:
    return np.bincount(x, minlength=least), np.bincount(x + 1, weights)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint32"])
@pytest.mark.parametrize("size", [0, 1, 100])
def test_counts_of_numbers(dtype: str, size: int) -> None:
    x, weights = np.abs(numbers(dtype, size)), np.arange(size) * 0.5
    x = x if dtype == "bool" else (x % 50).astype(dtype)
    compiled = ac.compile(_counts)
    for least in (0, 7, 90):
        for found, expected in zip(compiled(x, weights, least), _counts(x, weights, least), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    assert not size or ("kernels" not in compiled.explain() and "plain" not in compiled.explain())


def test_least_number_of_counts_is_computed() -> None:
    def counts(x: Any, step: float) -> Any:
        cells = int(1 / step)
        return np.bincount((x * cells).astype(np.int64), minlength=cells * cells)

    compiled = ac.compile(counts)
    for step in (0.5, 0.25, 0.1):
        found = compiled(np.array([0.1, 0.3, 0.9]), step)
        np.testing.assert_array_equal(found, counts(np.array([0.1, 0.3, 0.9]), step))
    with pytest.raises(ValueError, match="must not be negative"):
        ac.compile(lambda x, k: np.bincount(x, minlength=k - 3))(np.arange(3), 1)
    assert "plain" not in compiled.explain() and compiled.explain().startswith("counts: 1 trace")


@pytest.mark.parametrize(("x", "least"), [([1, -1], 0), ([1, 2], -1), ([1, 2, 3], 0)])
def test_what_is_not_counted_raises_as_in_numpy(x: Any, least: int) -> None:
    arguments = np.array(x), np.ones(2), least
    with pytest.raises(ValueError) as expected:
        _counts(*arguments)
    with pytest.raises(ValueError) as found:
        ac.compile(_counts)(*arguments)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("counts", ["int32", "int64"])
def test_distinct_elements(dtype: str, counts: str) -> None:
    for size in (1, 2, 3, 17, 1000):
        x = numbers(dtype, size)
        values, indices, many = run_both(op("unique", dtype=getattr(ac, counts)), x)
        np.testing.assert_array_equal(values[indices], x)
        assert many.sum() == size and many.dtype == counts
        if x.dtype.kind != "f":
            np.testing.assert_array_equal(np.sort(values), np.unique(x))
    run_both(op("unique", dtype=ac.int32), np.arange(3000).astype(dtype)[::-1])
    run_both(op("unique", dtype=ac.int32), np.zeros(3000, dtype))


def test_signed_zeros_are_equal_and_nans_distinct() -> None:
    x = np.array([np.nan, 0.0, -0.0, np.nan, 1.0, -np.nan, 0.0])
    values, indices, counts = run_both(op("unique", dtype=ac.int32), x)
    np.testing.assert_array_equal(values, [np.nan, 0.0, np.nan, 1.0, np.nan])
    assert indices.tolist() == [0, 1, 1, 2, 3, 4, 1] and counts.tolist() == [1, 3, 1, 1, 1]


def test_results_in_loops_and_as_operands() -> None:
    @ac.function
    def run(x: Any, steps: Any) -> Any:
        total = 0.0
        for step in range(steps):
            large = x[x > ac.cast(step, ac.float64)]
            values, places = ac.unique(ac.cast(large, ac.int32))
            total += ac.reduce_sum(large) + ac.cast(ac.size(values), ac.float64) + ac.cast(places[0], ac.float64)
            x = x * 1.5
        return total, ac.where(x > 3.0)

    x = np.arange(10.0) - 3
    expected, y = 0.0, x
    for step in range(4):
        large = y[y > step]
        expected += large.sum() + len(np.unique(large.astype("int32")))
        y = y * 1.5
    total, places = run(ac.constant(x), ac.constant(4))
    assert total.numpy() == expected
    np.testing.assert_array_equal(places.numpy(), np.argwhere(y > 3))


def test_distinct_complex_numbers_use_the_kernel() -> None:
    x = np.array([3j, 1 + 2j, 3j])
    values, *_ = llvm.compile_graph(graph_of(op("unique", dtype=ac.int32), x))([x])
    assert values.tolist() == [3j, 1 + 2j]


def test_float16_and_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = np.array([1, 2, np.nan, 1, -0.0, 0, 3, np.nan, 2], dtype)
        graph = graph_of(op("unique", dtype=ac.int32), x)
        for compiled in (interpreter.compile_graph(graph), llvm.compile_graph(graph)):
            values, indices, counts = compiled([x])
            np.testing.assert_array_equal(values.astype("float32"), [1, 2, np.nan, 0, 3, np.nan])
            assert indices.tolist() == [0, 1, 2, 0, 3, 3, 4, 5, 1] and counts.tolist() == [2, 2, 1, 2, 1, 1]
        x = x[3:7].reshape(2, 2)
        (found,) = run_both(op("get_item", spec=(Mask(),)), x, np.eye(2) > 0)
        assert found.astype("float32").tolist() == [1, 3]
        (found,) = run_both(op("einsum", equation="ij,jk->ik"), x, x)
        assert found.astype("float32").tolist() == [[1, 0], [0, 9]]
        for name, inputs in (("matmul", (x, x)), ("numpy_clip", (x, x.reshape(-1)[1], x.reshape(-1)[3]))):
            graph = graph_of(op(name), *inputs)
            assert [
                run(list(inputs))[0].dtype for run in (interpreter.compile_graph(graph), llvm.compile_graph(graph))
            ] == [dtype] * 2


@pytest.mark.parametrize(
    ("function", "operands"),
    [(np.repeat, (np.arange(4.0), np.array([2**62] * 4))), (np.repeat, (np.arange(2.0), np.array([2**62, 2**62]))),
     (np.bincount, (np.array([1, 2**63 - 1]),))],
)  # fmt: skip
def test_counts_beyond_64_bits_are_refused(monkeypatch: pytest.MonkeyPatch, function: Any, operands: Any) -> None:
    """Their sums wrap to small sizes, beyond which NumPy itself writes in some of these calls."""
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = ac.compile(lambda *arguments: function(*arguments))
    with pytest.raises((ValueError, MemoryError)):
        compiled(*operands)
