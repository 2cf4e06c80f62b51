"""Memory that native code reuses, and arithmetic of arrays that is checked."""

from __future__ import annotations

import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends import interpreter, llvm
from autoconv.errors import AutoconvError
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS


def native(text: str) -> Any:
    run = llvm.compile_graph(from_text(text, OPS))
    assert isinstance(run, llvm.NativeGraph)
    return run


def test_a_loop_reuses_its_arrays() -> None:
    @autoconv.function
    def mix(x, y, n):
        z = x
        while n > 0:
            x, y, z = autoconv.sin(y) + z, x * 0.5, autoconv.roll(y, 1, 0)
            n -= 1
        return x, y, z

    def plain(x, y, n):
        z = x
        for _ in range(n):
            x, y, z = np.sin(y) + z, x * np.float32(0.5), np.roll(y, 1, 0)
        return x, y, z

    size = 250_000
    x, y = np.linspace(0, 1, size, dtype=np.float32), np.linspace(1, 2, size, dtype=np.float32)
    arguments = autoconv.constant(x), autoconv.constant(y)
    mix(*arguments, autoconv.constant(3))
    tracemalloc.start()
    try:
        found = mix(*arguments, autoconv.constant(40))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    for left, right in zip(found, plain(x, y, 40), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-5)
    assert peak < 8.5 * x.nbytes  # the state twice, and intermediate arrays
    np.testing.assert_array_equal(arguments[0], np.linspace(0, 1, size, dtype=np.float32))
    np.testing.assert_array_equal(arguments[1], np.linspace(1, 2, size, dtype=np.float32))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts page faults")
def test_steps_of_a_loop_ask_the_system_for_no_memory() -> None:
    import resource

    @autoconv.function
    def halve(x, n):
        while n > 0:
            x = autoconv.tanh(x) + 0.5 * x[::-1]
            n -= 1
        return x

    x = autoconv.ones(300_000)
    halve(x, autoconv.constant(2))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    halve(x, autoconv.constant(100))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 5_000  # 100 arrays have 29,000 pages


def test_arrays_that_python_keeps_are_not_reused() -> None:
    arrays: list[np.ndarray] = []

    def keep(array: np.ndarray) -> np.ndarray:
        arrays.append(np.asarray(array))
        return np.float32(0)

    @autoconv.function
    def steps(x, n):
        while n > 0:
            x = x * 2.0 + autoconv.numpy_function(keep, [x], autoconv.float32)
            n -= 1
        return x

    found = steps(autoconv.ones([1000]), autoconv.constant(10))
    np.testing.assert_array_equal(found, np.full(1000, 1024, np.float32))
    for i, array in enumerate(arrays):
        np.testing.assert_array_equal(array, np.full(1000, 2.0**i, np.float32))


def test_nested_and_successive_loops() -> None:
    @autoconv.function
    def nested(x, n):
        total = x * 0.0
        for _ in autoconv.range(n):
            part = x
            for _ in autoconv.range(n):
                part = autoconv.sort(part * 1.5)[::-1] - 0.25
            total = total + part
        for _ in autoconv.range(n):
            total = total * 0.5 + x
        return total

    x = np.array([0.5, 0.25, 1.0, 0.75])
    expected = np.zeros(4)
    for _ in range(5):
        part = x
        for _ in range(5):
            part = np.sort(part * 1.5)[::-1] - 0.25
        expected = expected + part
    for _ in range(5):
        expected = expected * 0.5 + x
    for _ in range(3):
        np.testing.assert_allclose(nested(x, autoconv.constant(5)), expected, rtol=1e-12)


CAST = """
graph f(%x: weak int64[4], %y: int32[4]) {
  %twice = add(%x, %x): weak int64[4]
  %cast = python_cast(%twice, dtype=int32, weak=False): int32[4]
  %sum = add(%cast, %y): int32[4]
  return %sum, %twice
}
"""


def test_checked_arithmetic_of_arrays_is_a_loop() -> None:
    run = native(CAST)
    assert run.kernels == []
    x, y = np.array([1, -5, 2**30 - 1, -(2**30)]), np.array([1, 2, 0, 0], np.int32)
    for left, right in zip(run([x, y]), [(2 * x).astype(np.int32) + y, 2 * x], strict=True):
        np.testing.assert_array_equal(left, right)
        assert left.dtype == right.dtype


@pytest.mark.parametrize("beyond", [2**30, -(2**30) - 1, 2**61, -(2**61) - 1])
def test_overflow_raises_the_error_of_the_kernel(beyond: int) -> None:
    x, y = np.array([1, 2, beyond, 4]), np.zeros(4, np.int32)
    graph = from_text(CAST, OPS)
    with pytest.raises((ArithmeticError, AutoconvError)) as expected:
        interpreter.compile_graph(graph)([x, y])
    with pytest.raises(type(expected.value)) as found:
        native(CAST)([x, y])
    assert str(found.value) == str(expected.value)


def test_numbers_known_by_their_type_need_no_kernel() -> None:
    run = native("""
graph f(%x: float32[], %a: float32[2,3]) {
  %one = ones_like(%x): float32[]
  %size = size(%a, dtype=int32): int32[]
  %many = broadcast_to_shape_of(%x, %a): float32[2,3]
  %sum = add(%many, %one): float32[2,3]
  return %sum, %size, %one
}
""")
    assert run.kernels == []
    found = run([np.asarray(2.5, np.float32), np.zeros((2, 3), np.float32)])
    np.testing.assert_array_equal(found[0], np.full((2, 3), 3.5, np.float32))
    assert [np.asarray(item).item() for item in found[1:]] == [6, 1.0]


def test_padded_arrays_are_computed_in_place() -> None:
    @autoconv.function
    def padded(x, y, w):
        z = autoconv.sin(x[1:]) + y
        total = autoconv.reduce_sum(z)
        largest = autoconv.reduce_max(z, axis=0)
        return (
            autoconv.pad(z, [[1, 2], [0, 3]], constant_values=-1.5),
            autoconv.pad(z * 2.0, [[0, 0], [2, 0]]),
            total,
            largest,
            autoconv.pad(x, [[1, 1], [1, 1]]),
            autoconv.pad(w > 1, [[2, 1]], constant_values=True),
            autoconv.pad(z[:0], [[1, 1], [0, 0]], constant_values=4.0),
            autoconv.pad(autoconv.transpose(z), [[0, 1], [1, 0]]) + 1.0,
        )

    x, y, w = np.arange(20.0).reshape(5, 4), np.linspace(0, 1, 16).reshape(4, 4), np.arange(4)
    z = np.sin(x[1:]) + y
    expected = (
        np.pad(z, [[1, 2], [0, 3]], constant_values=-1.5),
        np.pad(z * 2, [[0, 0], [2, 0]]),
        z.sum(),
        z.max(axis=0),
        np.pad(x, 1),
        np.pad(w > 1, [[2, 1]], constant_values=True),
        np.full((2, 4), 4.0),
        np.pad(z.T, [[0, 1], [1, 0]]) + 1,
    )
    for actual_part, expected_part in zip(padded(x, y, w), expected, strict=True):
        np.testing.assert_allclose(actual_part, expected_part, rtol=1e-14)
    assert padded.concrete_functions[0].kernels == []


@pytest.mark.parametrize("n", [4, 300, 300_000])
@pytest.mark.parametrize("scale", [1.0, 1e9, 1e300])
def test_functions_of_elements_that_are_assigned(n: int, scale: float) -> None:
    """Long loops are split over threads; arguments too large for the polynomials use the C library."""

    def assign(x: Any, scale: float) -> Any:
        v = np.sin(x * scale) + 1.0
        v[0] = 0.0
        w = np.empty_like(v)
        w[:] = np.cos(x * scale) + v
        w[::2] = np.tanh(w[1::2]) * scale
        x[:] = np.exp(x)
        return v, w

    compiled = autoconv.compile(assign)
    for _ in range(2):
        x = np.random.default_rng(n).normal(size=n)
        compiled_array, plain_array = x.copy(), x.copy()
        found = *compiled(compiled_array, scale), compiled_array
        expected = *assign(plain_array, scale), plain_array
        for actual_part, expected_part in zip(found, expected, strict=True):
            np.testing.assert_allclose(actual_part, expected_part, rtol=1e-12, atol=1e-14)
    assert "plain Python" not in compiled.explain()


def test_functions_of_elements_that_are_assigned_at_open_sizes() -> None:
    @autoconv.compile
    def assign(x: Any) -> Any:
        v = np.exp(x) * 2
        v[0, 0] = 1.0
        v[:] = np.tanh(v)
        return v

    for n in (3, 7, 500, 400):
        x = np.random.default_rng(n).normal(size=(n, n))
        expected = np.exp(x) * 2
        expected[0, 0] = 1.0
        np.testing.assert_allclose(assign(x), np.tanh(expected), rtol=1e-14)


def test_equal_slices_in_branches_and_loops() -> None:
    """The bounds of a slice are resolved anew in each region that no earlier region dominates."""

    def change(a: Any, n: int, k: int) -> Any:
        total = 0.0
        for i in range(n):
            if a[i, 0] > 0:
                a[i, k:] *= 2.0
            else:
                a[i, :k] += 1.0
            total += a[i, k:].sum()
            for j in range(2):
                if j > 0:
                    total += a[j, i:].sum()
            total -= a[0, i:].sum()
        return total + a[0, k:].sum()

    compiled = autoconv.compile(change)
    for n, k in ((5, 2), (3, 0), (6, 6), (6, -2), (6, 9), (0, -9)):
        a = np.random.default_rng(n).normal(size=(6, 7))
        compiled_array, plain_array = a.copy(), a.copy()
        np.testing.assert_allclose(compiled(compiled_array, n, k), change(plain_array, n, k), rtol=1e-12)
        np.testing.assert_array_equal(compiled_array, plain_array)
    assert "plain Python" not in compiled.explain()


def test_arrays_that_no_iteration_has_made_yet() -> None:
    def last_magnitudes(rows: Any, values: Any, count: Any) -> Any:
        for _ in range(count):
            for _ in rows:
                count = abs(values)
        return rows, count

    compiled = autoconv.compile(last_magnitudes)
    values = np.arange(-2, 3, dtype=np.int8)
    for size, count in ((5, True), (5, 2), (0, 2), (5, False)):
        for _ in range(2):
            found, expected = (item(np.ones(size), values, count)[1] for item in (compiled, last_magnitudes))
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)


def exchange_in_rows(a: Any, i: int, j: int) -> Any:
    for row in range(2):
        a[row, i], a[row, j] = a[row, j], a[row, i]
        a[row, i], a[row, i] = a[row, i], a[row, i]
        first = a[row, 0]
        a[row, 0] = 2.5
        a[row, 0] = first
    return a[0, i]


def test_elements_that_are_exchanged_with_themselves() -> None:
    compiled = autoconv.compile(exchange_in_rows)
    for i, j in ((0, 2), (1, 1), (2, 0)):
        ours, theirs = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
        assert compiled(ours, i, j) == exchange_in_rows(theirs, i, j)
        assert np.array_equal(ours, theirs)
    read_only = np.zeros((2, 3))
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(read_only, 1, 1)


def zeros_and_a_constant(n: int) -> Any:
    zeros = np.zeros((n, 2))
    return zeros, np.zeros((n, 2)), zeros, np.full(n, -0.0), np.zeros(n, np.int8), np.zeros((2, 0))


def test_zeros_that_leave_a_graph_are_new_arrays() -> None:
    compiled = autoconv.compile(zeros_and_a_constant)
    for _ in range(3):
        results, expected = compiled(3), zeros_and_a_constant(3)
        for result, plain in zip(results, expected, strict=True):
            assert (result.dtype, result.shape, result.flags.c_contiguous) == (plain.dtype, plain.shape, True)
            assert np.array_equal(np.signbit(result), np.signbit(plain)) and not result.any()
        assert results[0] is results[2] and results[0] is not results[1]
        results[0][:] = 1  # the next call has zeros again


def flipped_ones(x: np.ndarray) -> Any:
    ones = np.ones((len(x), 2))
    return np.flip(ones), np.zeros((3, 4)).T[1:], np.flip(np.zeros((2, 3)), 1)


def test_constants_in_any_order_leave_a_graph() -> None:
    compiled = autoconv.compile(flipped_ones)
    for found, expected in zip(compiled(np.ones(4)), flipped_ones(np.ones(4)), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)
    assert "plain" not in compiled.explain()


def negative_zeros(x: np.ndarray) -> Any:
    return np.zeros(()), np.full((2, 2), -0.0), np.full_like(x, -0.0), np.full_like(x, -0.0, dtype=complex), x * -0.0


def test_arrays_of_negative_zeros_keep_the_sign() -> None:
    x = np.ones((2, 3))
    for found, expected in zip(autoconv.compile(negative_zeros)(x), negative_zeros(x), strict=True):
        assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
