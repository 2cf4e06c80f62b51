"""Random numbers natively: the reference's numbers, bit by bit where they are uniform, and its state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends import interpreter, llvm
from autoconv.ops.random.global_generator import GLOBAL
from tests.backends.native import compare_errors, graph_of, op, run_both

SHAPES = [(), (0,), (1,), (3, 5), (513,), (2049,), (70_001,)]
SEEDS = [np.array([1, 2], np.int32), np.array([-5, 2**62], np.int64), np.array([2**64 - 1, 0], np.uint64)]


def within_ulps(found: Any, expected: Any, ulps: int) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= ulps * np.spacing(np.abs(expected)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [ac.float32, ac.float64], ids=["float32", "float64"])
def test_a_seed_means_the_same_uniform_numbers(shape: Any, dtype: Any) -> None:
    for seed in SEEDS:
        (found,) = run_both(op("stateless_random_uniform", shape=shape, dtype=dtype), seed)
        assert np.all((found >= 0) & (found < 1))


@pytest.mark.parametrize("dtype", [ac.uint8, ac.int32, ac.uint64], ids=str)
def test_the_same_bits_for_seeds_and_for_counters_with_keys(dtype: Any) -> None:
    for seed in SEEDS:
        run_both(op("stateless_random_bits", shape=(601,), dtype=dtype), seed)
    for state in (np.array([2**63 - 1, -1, 5]), np.array([2**64 - 2, 6, 2**64 - 3], np.uint64)):
        run_both(op("stateless_random_bits", shape=(601,), dtype=dtype, alg="counter"), state)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["stateless_random_normal", "stateless_truncated_normal"])
def test_normal_numbers_are_equal_within_rounding(name: str, shape: Any) -> None:
    for dtype in (ac.float32, ac.float64):
        graph = graph_of(op(name, shape=shape, dtype=dtype), SEEDS[0])
        run = llvm.compile_graph(graph)
        assert isinstance(run, llvm.NativeGraph) and run.kernels == []
        within_ulps(run(SEEDS[:1])[0], interpreter.compile_graph(graph)(SEEDS[:1])[0], 4)


def test_truncated_numbers_are_within_two_deviations() -> None:
    (found,) = llvm.compile_graph(
        graph_of(op("stateless_truncated_normal", shape=(10_000,), dtype=ac.float64), SEEDS[0])
    )(SEEDS[:1])
    assert np.max(np.abs(found)) <= 2.0
    assert abs(np.std(found) - 0.8796) < 0.02  # of the normal distribution between -2 and 2


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_integers_are_the_same_numbers(dtype: str) -> None:
    limits = np.iinfo(dtype)
    for low, high in ((0, 1), (0, 2), (0, 6), (5, 100), (limits.min, limits.max), (0, limits.max)):
        bounds = np.array(low, dtype), np.array(high, dtype)
        for shape in ((), (1000,)):
            (found,) = run_both(op("stateless_random_uniform_int", shape=shape), SEEDS[1], *bounds)
            assert np.all((found >= low) & (found < high))
    for high in (2**16, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 3 * 2**40):
        if high < limits.max:
            run_both(
                op("stateless_random_uniform_int", shape=(1000,)), SEEDS[2], np.array(0, dtype), np.array(high, dtype)
            )


def test_remainders_next_to_multiples() -> None:
    """A search for ranges that divide the bits finds such cases, which random draws would almost never meet."""
    (bits,) = run_both(op("stateless_random_bits", shape=(64,), dtype=ac.uint64), SEEDS[0])
    for number in bits:
        for divisor in (3, 7, 10, 641, 65_537, 2**31 - 1):
            for high in {divisor, int(number) % (2**32 - 2) + 1}:
                (found,) = llvm.compile_graph(
                    graph_of(op("stateless_random_uniform_int", shape=(64,)), SEEDS[0], np.int64(0), np.int64(high))
                )([SEEDS[0], np.int64(0), np.int64(high)])
                np.testing.assert_array_equal(found, bits % np.uint64(high))
        break


def test_bounds_out_of_order_are_refused() -> None:
    build = op("stateless_random_uniform_int", shape=(3,))
    assert "Need minval < maxval, got 5 >= 5" in compare_errors(build, SEEDS[0], np.int32(5), np.int32(5))


@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
@pytest.mark.parametrize("seed", [None, 3])
def test_draws_continue_the_sequence_of_the_other_backend(name: str, seed: int | None) -> None:
    """Native code and the interpreter continue one state and one sequence."""
    build = op(f"random_{name}", shape=(7,), dtype=ac.float32, seed=seed)
    runs = [llvm.compile_graph(graph_of(build)), interpreter.compile_graph(graph_of(build))]
    GLOBAL.set_seed(5)
    expected = [runs[1]([])[0] for _ in range(4)]
    assert not np.array_equal(expected[0], expected[1])
    GLOBAL.set_seed(5)
    for i, sample in enumerate(expected):
        within_ulps(runs[i % 2]([])[0], sample, 4)


def test_draws_in_a_loop_are_those_of_python() -> None:
    def area(count: Any) -> Any:
        inside = 0
        for _ in ac.range(count):
            x, y = ac.random.uniform([], seed=1), ac.random.uniform([], seed=2)
            if x * x + y * y < 1.0:
                inside += 1
        return inside

    ac.random.set_seed(1)
    expected = 0
    for _ in range(300):
        x, y = float(ac.random.uniform([], seed=1)), float(ac.random.uniform([], seed=2))
        expected += np.float32(np.float32(x) ** 2) + np.float32(np.float32(y) ** 2) < 1.0
    ac.random.set_seed(1)
    assert int(ac.function(area)(ac.constant(300))) == expected


@pytest.mark.parametrize("seed", [None, 3])
def test_shuffles_draw_from_the_same_state(seed: int | None) -> None:
    rows = np.arange(60).reshape(20, 3)
    graph = graph_of(op("random_shuffle", seed=seed), rows)
    run = llvm.compile_graph(graph)
    assert isinstance(run, llvm.NativeGraph) and run.kernels == []
    GLOBAL.set_seed(8)
    expected = [interpreter.compile_graph(graph)([rows])[0] for _ in range(2)]
    GLOBAL.set_seed(8)
    np.testing.assert_array_equal([run([rows])[0] for _ in range(2)], expected)
    assert sorted(map(tuple, expected[0])) == sorted(map(tuple, rows))
    assert not np.array_equal(expected[0], rows)
