"""Loops over elementwise arrays are interchanged: a block of elements at a time runs in registers."""

from __future__ import annotations

import signal
import time
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends.llvm.codegen.control import interchanged_loop
from autoconv.backends.llvm.legalize.interchange_loops import INTERCHANGED, interchange
from autoconv.graph.verify import verify


def is_sunk(function: Any, *args: Any) -> bool:
    graph = function.get_concrete_function(*args).optimised
    found = interchange(graph)
    verify(found)
    return any(INTERCHANGED in node.attributes for node in found.walk())


def numbers(size: int, dtype: Any, seed: int = 0) -> np.ndarray:
    return (np.random.default_rng(seed).random(size) * 9).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8])
@pytest.mark.parametrize("size", [1, 31, 64, 65, 1000])
def test_a_recurrence_of_two_arrays(size: int, dtype: Any) -> None:
    @ac.function
    def fibonacci(x: Any, y: Any, n: Any) -> Any:
        for _ in ac.range(n):
            x, y = y, x + y
        return x, y

    x, y = numbers(size, dtype), numbers(size, dtype, 1)
    for turns in (0, 1, 2, 13):
        found = fibonacci(ac.constant(x), ac.constant(y), ac.constant(turns))
        a, b = x, y
        for _ in range(turns):
            a, b = b, a + b
        np.testing.assert_array_equal(found[0].numpy(), a)
        np.testing.assert_array_equal(found[1].numpy(), b)
    np.testing.assert_array_equal(x, numbers(size, dtype))
    assert is_sunk(fibonacci, ac.constant(x), ac.constant(y), ac.constant(3))


def test_numbers_and_arrays_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interchanged_loop, "_CALL_WORK_LIMIT", 5000)  # several blocks, the last one shorter

    @ac.function
    def settle(x: Any, c: Any, factor: Any, limit: Any) -> Any:
        i, total = ac.constant(0), 0.0
        while total < limit:
            x = ac.where(x > 4.0, x - c, x * factor + c)
            i += 2
            total += 0.5
        return x, i, total

    x, c = numbers(333, np.float32), numbers(333, np.float32, 1)
    arguments = [ac.constant(v) for v in (x, c, np.float32(0.75), np.float32(7.2))]
    found, i, total = settle(*arguments)
    turns = 15
    for _ in range(turns):
        x = np.where(x > 4.0, x - c, x * np.float32(0.75) + c)
    np.testing.assert_allclose(found.numpy(), x, rtol=1e-6)
    assert (int(i), float(total)) == (2 * turns, 7.5)
    assert is_sunk(settle, *arguments)


def test_loops_that_are_not_sunk() -> None:
    @ac.function
    def counted(x: Any) -> Any:
        for i in ac.range(5):
            x = x + ac.cast(i, ac.float32)
        return x

    @ac.function
    def shifted(x: Any) -> Any:
        for _ in ac.range(3):
            x = x + ac.roll(x, 1, 0)
        return x

    @ac.function
    def until(x: Any) -> Any:
        n = ac.constant(0)
        while ac.reduce_max(x) < 100.0:
            x, n = x * 2.0, n + 1
        return x

    @ac.function
    def waves(x: Any) -> Any:
        for _ in ac.range(4):
            x = ac.sin(x) * 1e6
        return x

    x = numbers(50, np.float32)
    argument = ac.constant(x)
    np.testing.assert_array_equal(counted(argument).numpy(), x + 0.0 + 1.0 + 2.0 + 3.0 + 4.0)
    rolled = x
    for _ in range(3):
        rolled = rolled + np.roll(rolled, 1)
    np.testing.assert_array_equal(shifted(argument).numpy(), rolled)
    doubled = x
    while doubled.max() < 100.0:
        doubled = doubled * np.float32(2.0)
    np.testing.assert_array_equal(until(argument).numpy(), doubled)
    assert not any(is_sunk(function, argument) for function in (counted, shifted, until, waves))
    waves(argument)


def test_arrays_that_stay_and_arrays_of_numbers() -> None:
    @ac.function
    def mixed(x: Any, c: Any) -> Any:
        y, z = x, x
        for _ in ac.range(3):
            y = y * 2.0
            z = c
        return x, y, z

    x, c = numbers(70, np.float32), numbers(70, np.float32, 1)
    for left, right in zip(mixed(ac.constant(x), ac.constant(c)), (x, x * 8, c), strict=True):
        np.testing.assert_array_equal(left.numpy(), right)


def test_large_arrays_are_split_over_threads() -> None:
    @ac.function
    def logistic(x: Any) -> Any:
        for _ in ac.range(20):
            x = x * (1.0 - x) * 3.7
        return x

    x = np.random.default_rng(3).random(200_003, np.float32)
    expected = x
    for _ in range(20):
        expected = expected * (np.float32(1.0) - expected) * np.float32(3.7)
    first = logistic(ac.constant(x)).numpy()
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(first, logistic(ac.constant(x)).numpy())


def test_gradients_and_nested_loops() -> None:
    def powers(x: Any) -> Any:
        for _ in ac.range(2):
            for _ in ac.range(2):
                x = x * x
            x = x + 1.0
        return x

    x = np.linspace(0.1, 0.9, 40)
    found = ac.function(powers)(ac.constant(x)).numpy()
    np.testing.assert_allclose(found, (x**4 + 1.0) ** 4 + 1.0, rtol=1e-12)

    @ac.function
    def slope(x: Any) -> Any:
        with ac.GradientTape() as tape:
            tape.watch(x)
            y = powers(x)
        return tape.gradient(y, x)

    np.testing.assert_allclose(slope(ac.constant(x)).numpy(), 16 * (x**4 + 1.0) ** 3 * x**3, rtol=1e-9)


def test_long_loops_can_be_interrupted() -> None:
    @ac.function
    def spin(x: Any, n: Any) -> Any:
        for _ in ac.range(n):
            x = x * 0.5 + 1.0
        return x

    x = ac.constant(numbers(40_000, np.float32))
    spin(x, ac.constant(1))
    assert is_sunk(spin, x, ac.constant(1))

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        begin = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            spin(x, ac.constant(1_000_000))  # several seconds
        assert time.perf_counter() - begin < 3.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
