"""Reshapes, slices and writes whose bounds follow from sizes that only calls know."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from autoconv.tracing.execute.symbolic_shapes import MultiShapeGraph
from tests.tracing.open_shapes import assert_close, assert_compiled_once, random_floats, spec

INTS = autoconv.int32


def test_reshapes_that_divide_an_open_dimension():
    @autoconv.function(input_signature=[spec(None, 3), spec(None)])
    def f(x, row):
        n = autoconv.shape(row)[0]
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = autoconv.reshape(x, [-1, 4])
            loss = autoconv.reduce_sum(y * y * autoconv.range(4.0))
        pairs = autoconv.reshape(row, [n // 2, 2])
        return y, tape.gradient(loss, x), autoconv.reduce_sum(pairs, axis=1), autoconv.reshape(pairs, [-1]) + row, (
            autoconv.reshape(x, [n // 2, 2, -1]) if n > 0 else x
        )

    for n in (4, 12, 20):
        x, row = random_floats(n, 3, seed=n), random_floats(n, seed=1)
        y, slope, sums, row_again, _ = f(autoconv.constant(x), autoconv.constant(row))
        assert_close(y, x.reshape(-1, 4))
        assert_close(slope, (2 * x.reshape(-1, 4) * np.arange(4)).reshape(n, 3).astype(np.float32))
        assert_close(sums, row.reshape(-1, 2).sum(1))
        assert_close(row_again, row * 2)
    assert_compiled_once(f)
    for n in (6, 10):
        with pytest.raises(autoconv.errors.InvalidArgumentError, match=r"a multiple of 4: \[-1, 4\]"):
            f(autoconv.constant(random_floats(n, 3)), autoconv.constant(random_floats(n)))


def test_slices_with_bounds_computed_from_shapes_and_negative_steps():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        n, m = autoconv.shape(x)[0], autoconv.shape(x)[1]
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            first, last, inner = x[: n // 2], x[n // 2 :], x[1 : n - 1, : m // 2]
            loss = autoconv.reduce_sum(first * first) + autoconv.reduce_sum(inner * last[0, 0])
        return first * 2.0, last * 2.0, inner * 2.0, x[::-2] * 2.0, x[3:0:-1] * 2.0, tape.gradient(loss, x)

    for n, m in ((4, 6), (9, 5), (8, 4)):
        x = random_floats(n, m, seed=n)
        slope = np.zeros_like(x)
        slope[: n // 2] = 2 * x[: n // 2]
        slope[1 : n - 1, : m // 2] += x[n // 2, 0]
        slope[n // 2, 0] += x[1 : n - 1, : m // 2].sum()
        parts = x[: n // 2], x[n // 2 :], x[1 : n - 1, : m // 2], x[::-2], x[3:0:-1]
        for found, expected in zip(f(autoconv.constant(x)), (*(2 * part for part in parts), slope), strict=True):
            assert_close(found, expected, 1e-4)
    assert_compiled_once(f)


def test_arrays_whose_size_is_computed_from_a_shape():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        n = autoconv.shape(x)[0]
        system = x @ autoconv.transpose(x) + autoconv.eye(n)
        return (
            autoconv.linalg.solve(system, x), autoconv.one_hot([1, 0], n), autoconv.linspace(0.0, 1.0, n),
            autoconv.stack([n, 7]), autoconv.squeeze(x[:, None]), np.cumsum(x), np.var(x, ddof=1, axis=0),
            autoconv.reduce_mean(autoconv.cast(x * 9.0, INTS), axis=0), autoconv.rank(x),
        )  # fmt: skip

    for n, m in ((3, 4), (5, 2), (8, 30)):
        x = random_floats(n, m, seed=n)
        whole = (x * np.float32(9)).astype(np.int32)
        expected = (
            np.linalg.solve(x @ x.T + np.eye(n, dtype=np.float32), x), np.eye(n)[[1, 0]], np.linspace(0, 1, n), [n, 7],
            x, np.cumsum(x), x.var(0, ddof=1), np.trunc(whole.sum(0) / n), 2,
        )  # fmt: skip
        for found, wanted in zip(f(autoconv.constant(x)), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=1e-4)
    assert_compiled_once(f)


def test_reshapes_and_slices_that_do_not_fit_are_refused():
    @autoconv.function(input_signature=[spec(None, 3)])
    def f(x):
        return autoconv.split(x, 2)[1], autoconv.nn.top_k(autoconv.transpose(x), 3)[0]

    x = random_floats(6, 3)
    assert_close(f(autoconv.constant(x))[0], x[3:])
    for n in (5, 2):
        with pytest.raises(autoconv.errors.InvalidArgumentError):
            f(autoconv.constant(random_floats(n, 3)))
    assert_close(f(autoconv.constant(random_floats(4, 3)))[0], random_floats(4, 3)[2:])


def test_writes_to_parts_of_any_size():
    @autoconv.function(input_signature=[spec(None, None), spec(None)])
    def f(x, row):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            y = x[1:-1, ::2] * 2.0
            loss = autoconv.reduce_sum(y * y) + autoconv.reduce_sum(x[0] * row)
        return tape.gradient(loss, x)

    for n, m in ((5, 4), (9, 9), (4, 31)):
        x, row = random_floats(n, m, seed=n), random_floats(m)
        expected = np.zeros_like(x)
        expected[1:-1, ::2] = 8 * x[1:-1, ::2]
        expected[0] += row
        assert_close(f(autoconv.constant(x), autoconv.constant(row)), expected, 1e-4)
    run = f.get_concrete_function().executable.compiled
    assert isinstance(run, MultiShapeGraph)
    assert not f.get_concrete_function().kernels


def test_a_slice_with_a_computed_start_has_a_known_size():
    @autoconv.function(input_signature=[spec(None, 3), spec(dtype=INTS)])
    def f(x, start):
        return autoconv.slice(x, [start, 0], [2, -1]) * 2.0

    x = random_floats(5, 3)
    for start in (0, 3):
        assert_close(f(autoconv.constant(x), autoconv.constant(start)), x[start : start + 2] * 2)
    for start in (4, 5, -1):
        with pytest.raises(autoconv.errors.InvalidArgumentError):
            f(autoconv.constant(x), autoconv.constant(start))


def topple(n):
    grid = np.zeros((n, n), int)
    grid[n // 2, n // 2] = 40
    while (over := grid >= 4).any():
        grid[over] -= 4
        grid[1:] += over[:-1]
        grid[:-1] += over[1:]
        grid[:, 1:] += over[:, :-1]
        grid[:, :-1] += over[:, 1:]
    return grid


def shift(n):
    row = np.arange(float(n))
    target = row * 2
    row[2:] += target[1:-1]
    row[:-1] += 2 * (row[1:] > 3)
    row[1::2] -= (row > 1)[: n // 2]
    return row


@pytest.mark.parametrize("program", [topple, shift])
def test_parts_of_arrays_whose_size_is_a_number_of_the_call(program):
    compiled = autoconv.compile(program)
    for n in (7, 8, 5, 12):
        np.testing.assert_array_equal(compiled(n), program(n))
