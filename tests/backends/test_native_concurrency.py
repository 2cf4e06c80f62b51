"""Independent plan items run concurrently: the same bits as in sequence, and the program's order of effects."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import llvm
from autoconv.backends.llvm.legalize.pipeline import legalize_graph
from autoconv.backends.llvm.schedule import pipeline
from autoconv.backends.llvm.schedule.pipeline import schedule
from autoconv.backends.llvm.target import abi
from autoconv.config import SETTINGS
from tests.backends.native import compare_errors, graph_of, run_both


def numbers(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def concurrent_group_sizes(build: Any, *arrays: np.ndarray) -> list[int]:
    """Return the number of members of each concurrent plan item."""
    plan = schedule(legalize_graph(graph_of(build, *arrays)))
    return [len(item.members) for item in plan.items if item.is_concurrent]


def check_same_bits(build: Any, *arrays: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    concurrent_results = llvm.compile_graph(graph_of(build, *arrays))(arrays)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "PASSES", pipeline.PASSES[:-1])
        sequential_results = llvm.compile_graph(graph_of(build, *arrays))(arrays)
    for concurrent_result, sequential_result in zip(concurrent_results, sequential_results, strict=True):
        assert np.asarray(concurrent_result).tobytes() == np.asarray(sequential_result).tobytes()


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SETTINGS, "threads", 2)


def test_decompositions_sorts_and_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(b: Any, x: Any, y: Any, u: Any, v: Any) -> Any:
        s = b.qr(x, full_matrices=False)
        q, r = b.qr(b.transpose(y, perm=(1, 0)), full_matrices=False)
        ordered = b.argsort(b.add(v, v), axis=0, descending=True)
        places = b.argsort(u, axis=0, descending=False)
        sums = [b.reduce_sum(b.tanh(b.exp(z)), axis=(0,), keepdims=False) for z in (x, y)]
        return (*s, b.matmul(q, r), b.reduce_max(ordered, axis=None, keepdims=False), b.add(places, 1), *sums)

    arrays = numbers(70, 80), numbers(90, 60, seed=1), numbers(15000, seed=2), numbers(9000, seed=3)
    assert concurrent_group_sizes(build, *arrays) == [4]
    run_both(build, *arrays, rtol=1e-10)
    check_same_bits(build, *arrays, monkeypatch=monkeypatch)


def test_products_of_other_heights(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(b: Any, x: Any, y: Any) -> Any:
        return b.tanh(b.matmul(x, x)), b.exp(b.matmul(y, y, transpose_b=True))

    arrays = numbers(80, 80, dtype="float32"), numbers(90, 90, dtype="float32")
    check_same_bits(build, *arrays, monkeypatch=monkeypatch)


def test_dependent_items_run_in_order() -> None:
    """The first items of two chains run concurrently, and then the second ones."""

    def build(b: Any, x: Any, y: Any) -> Any:
        ordered = lambda z: b.argsort(z, axis=0, descending=False)
        first, second = (ordered(b.add(z, 1.0)) for z in (x, y))
        return ordered(b.add(first, 1)), ordered(b.add(second, 1))

    arrays = numbers(9000), numbers(8000, seed=1)
    assert concurrent_group_sizes(build, *arrays) == [2, 2]
    run_both(build, *arrays)


def test_small_items_and_parallel_items_run_alone() -> None:
    def build(b: Any, x: Any, y: Any) -> Any:
        return b.argsort(x, axis=0, descending=False), b.argsort(y, axis=0, descending=False)

    assert concurrent_group_sizes(build, numbers(100), numbers(90)) == []
    assert concurrent_group_sizes(build, numbers(9000), numbers(8000)) == [2]
    assert concurrent_group_sizes(build, numbers(40000), numbers(30000)) == []  # two threads sort the halves of each

    def chains(b: Any, x: Any, y: Any) -> Any:
        return b.tanh(b.exp(x)), b.tanh(b.exp(y))

    assert concurrent_group_sizes(chains, numbers(900000), numbers(800000)) == []


def test_nodes_that_raise_and_effects_around_keep_their_order() -> None:
    def build(b: Any, x: Any, y: Any) -> Any:
        return b.svd(x, full_matrices=False, compute_uv=True)[0], b.svd(y, full_matrices=False, compute_uv=True)[0]

    x, bad = numbers(60, 60), np.full((60, 60), np.nan)
    assert concurrent_group_sizes(build, x, x) == []
    assert "did not converge" in compare_errors(build, x, bad)
    assert "did not converge" in compare_errors(build, bad, x)
    if "blas_get_threads" in abi.symbols():  # of NumPy's BLAS, each sets them to one and back
        count = ctypes.CFUNCTYPE(ctypes.c_int)(abi.symbols()["blas_get_threads"])
        before = count()
        run_both(build, x, numbers(70, 60))
        assert count() == before
        compare_errors(build, x, bad)
        assert count() == before
    log = []

    @ac.function
    def run(x: Any, y: Any) -> Any:
        ac.py_function(lambda: log.append("first"), [], [])
        first_sorted = ac.sort(x)
        ac.py_function(lambda: log.append("second"), [], [])
        second_sorted = ac.sort(y)
        ac.py_function(lambda: log.append("third"), [], [])
        return ac.reduce_sum(first_sorted[:5]) + ac.reduce_sum(second_sorted[:5])

    x, y = numbers(9000), numbers(8000, seed=1)
    expected = np.sort(x)[:5].sum() + np.sort(y)[:5].sum()
    for _ in range(2):
        np.testing.assert_allclose(run(ac.constant(x), ac.constant(y)).numpy(), expected)
    assert log == ["first", "second", "third"] * 2


def test_in_a_loop() -> None:
    @ac.function
    def run(x: Any, y: Any, steps: Any) -> Any:
        total = ac.constant(0.0, ac.float64)
        for step in range(steps):
            first_sorted, second_sorted = ac.sort(x + ac.cast(step, ac.float64)), ac.sort(y)
            if first_sorted[0] > second_sorted[0]:
                total += first_sorted[1]
            else:
                total += second_sorted[1]
            x, y = x[::-1] * 0.5, second_sorted
        return total, x

    x, y = numbers(9000), numbers(8000, seed=1)
    total, expected_x, expected_y = 0.0, x, y
    for step in range(5):
        sorted_x, expected_y = np.sort(expected_x + step), np.sort(expected_y)
        total += sorted_x[1] if sorted_x[0] > expected_y[0] else expected_y[1]
        expected_x = expected_x[::-1] * 0.5
    found = run(ac.constant(x), ac.constant(y), ac.constant(5))
    np.testing.assert_allclose(found[0].numpy(), total)
    np.testing.assert_array_equal(found[1].numpy(), expected_x)
