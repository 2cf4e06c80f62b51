"""Loops of a few turns in other loops: their trip counts are known, and results are plain Python's."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
from autoconv.graph.graph import Graph, Node
from autoconv.ops.analysis.induction import counter_of, iteration_weight, nested_trip_count_bound

pytestmark = pytest.mark.optimised


def loops_of(graph: Graph) -> list[Node]:
    return [node for node in graph.walk() if node.op.name == "while"]


def test_trip_counts() -> None:
    def f(a, n):
        for i in range(20):
            for j in range(2, 8):
                if a[i] > j:
                    break
                a[i] += j
            for _ in range(n):
                a[i] -= 1.0
        for i in range(20):
            for j in range(6):
                for k in range(5):
                    a[i] += j * k
        return a

    compiled = ac.compile(f)
    compiled_array, plain_array = np.linspace(0.0, 9.0, 20), np.linspace(0.0, 9.0, 20)
    np.testing.assert_array_equal(compiled(compiled_array, 3), f(plain_array, 3))
    outer, short, open_ended, whole, middle, inner = loops_of(compiled.concrete_functions[0].optimised)
    assert nested_trip_count_bound(inner) == 5
    assert nested_trip_count_bound(middle) == 6 * (5 + 1)
    assert nested_trip_count_bound(whole) == 20 * (6 * (5 + 1) + 1)
    assert iteration_weight(whole.regions[1]) == 6 * (5 + 1) + 1
    assert nested_trip_count_bound(short) == 6  # an upper bound: the loop has a break
    assert nested_trip_count_bound(open_ended) is None and nested_trip_count_bound(outer) is None


def test_a_checksum_table() -> None:
    def f(data):
        table = np.zeros(256, dtype=np.uint32)
        for i in range(256):
            value = i
            for _ in range(8):
                value = (value >> 1) ^ 0xEDB88320 if value & 1 else value >> 1
            table[i] = value
        checksum = 0xFFFFFFFF
        for byte in data:
            checksum = int(table[(checksum ^ int(byte)) & 0xFF]) ^ (checksum >> 8)
        return checksum ^ 0xFFFFFFFF

    compiled = ac.compile(f)
    assert compiled(np.frombuffer(b"123456789", np.uint8).copy()) == 0xCBF43926  # the check value of CRC-32
    data = np.random.default_rng(0).integers(0, 256, 9, dtype=np.uint8)
    assert compiled(data) == f(data)
    assert compiled.experimental_get_tracing_count() == 1


def test_long_loops_around_short_ones() -> None:
    def f(n, bound):
        total = 0
        for i in range(n):
            for j in range(7):
                total = (total * 5 + i * j) % bound
        return total

    compiled = ac.compile(f)
    for n in (0, 1, 9, 100_000):  # runs of at most 131,072 iterations
        assert compiled(n, 10_007) == f(n, 10_007)
    assert compiled.experimental_get_tracing_count() == 1


def test_floats_that_grow_by_one_are_no_counters() -> None:
    def f(x, n):
        steps = total = 0
        while steps < x:
            steps += 1
        while x < 70:
            x += 1
        for _ in range(n):
            y = 0.0
            while y < 70 and n > 2:
                y += 1
            total += y
        return steps, x, total

    compiled = ac.compile(f)
    for x, n in ((0.5, 4), (-3.25, 2), (80.5, 0), (float("nan"), 3)):
        assert str(compiled(x, n)) == str(f(x, n))
    assert compiled.experimental_get_tracing_count() == 1
    assert all(counter_of(loop) is None for loop in loops_of(compiled.concrete_functions[0].optimised)[:2])
