"""Calls of open sizes run code for any size, for sizes of 0 or 1, for equal sizes, or for one shape."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import autoconv
from autoconv.backends.llvm import describe
from autoconv.tracing.execute import symbolic_shapes
from autoconv.tracing.execute.native_dispatch import native_entries
from tests.tracing.open_shapes import LENGTHS, assert_close, by_shape, random_floats, spec


def test_sizes_0_and_1_and_what_they_are_broadcast_with():
    @autoconv.function(input_signature=[spec(None, None), spec(None, None)])
    def f(x, y):
        return x + y, autoconv.reduce_sum(x * y, axis=0), autoconv.reduce_prod(x)

    draw = np.random.default_rng(0)
    for _ in range(30):
        n, m = draw.integers(0, 4, 2)
        shapes = [[1 if draw.random() < 0.3 else size for size in (n, m)] for _ in range(2)]
        x, y = (random_floats(*shape, seed=int(draw.integers(99))) for shape in shapes)
        total, summed, product = f(autoconv.constant(x), autoconv.constant(y))
        assert_close(total, x + y)
        assert_close(summed, (x * y).sum(0))
        assert_close(product, x.prod())
    assert f.experimental_get_tracing_count() == 1


def test_shapes_that_do_not_go_together_are_refused_after_others():
    @autoconv.function(input_signature=[spec(None), spec(None)])
    def f(x, y):
        return x * y + 1.0

    for n in (5, 6, 7):
        assert_close(f(autoconv.ones([n]), autoconv.ones([n])), np.full(n, 2, np.float32))
    assert by_shape(f).compilations == 1
    with pytest.raises(autoconv.errors.InvalidArgumentError) as caught:
        f(autoconv.ones([5]), autoconv.ones([4]))
    assert caught.traceback[-1].path.name == "test_any_size_dispatch.py"
    assert_close(f(autoconv.ones([5]), autoconv.ones([1])), np.full(5, 2, np.float32))


def test_an_open_dimension_must_equal_the_known_size_beside_it():
    @autoconv.function(input_signature=[spec(None), spec(4)])
    def f(x, y):
        return x + y

    y = random_floats(4)
    for n in (4, 1, 4):
        x = random_floats(n, seed=n)
        assert_close(f(autoconv.constant(x), autoconv.constant(y)), x + y)
    for n in (3, 5):
        with pytest.raises(autoconv.errors.InvalidArgumentError):
            f(autoconv.ones([n]), autoconv.constant(y))


def transforms():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        return autoconv.abs(autoconv.signal.rfft(x * 2.0)) + 1.0

    for n in (4, 6, 4):
        x = random_floats(n, n)
        np.testing.assert_allclose(f(autoconv.constant(x)), np.abs(np.fft.rfft(x * 2)) + 1, rtol=1e-4, atol=1e-4)
    return f


def test_library_calls_within_the_code_for_any_size_are_counted():
    explained = transforms().explain()
    assert "one compilation for all sizes: (n0, n0)" in explained
    assert "1 by kernels: rfft (test_any_size_dispatch.py:" in explained


def test_ops_without_a_form_for_open_sizes_get_code_for_each_shape(monkeypatch):
    monkeypatch.setattr(describe, "LIBRARY_OPS", frozenset())
    explained = transforms().explain()
    assert "no compilation for all sizes: (n0, n0): rfft by kernels" in explained
    assert "2 compilations, one for each shape" in explained


def test_calls_go_straight_to_the_code_for_any_size():
    @autoconv.function(input_signature=[spec(None, 3)])
    def f(x):
        return x * 2.0

    for n in (4, 5, 1, 1, 6):
        x = random_floats(n, 3)
        assert_close(f(autoconv.constant(x)), x * 2)
    concrete = f.get_concrete_function()
    assert len(concrete.entries) == 2  # for any size, and for one row
    assert native_entries(f._native_entries) == concrete.entries


def test_shapes_whose_calls_take_long_get_code_of_their_own(monkeypatch):
    clock = itertools.count()  # a second for each reading: a compilation takes as long as a call
    monkeypatch.setattr(symbolic_shapes, "time", SimpleNamespace(perf_counter=lambda: next(clock)))

    @autoconv.function(input_signature=[spec(None, 3)])
    def f(x):
        return x * 2.0

    for n in (4, 5, 4, 4, 5, 6):
        x = random_floats(n, 3)
        assert_close(f(autoconv.constant(x)), x * 2)
    explained = f.explain()
    assert "one compilation for all sizes: (n0, 3)" in explained
    assert "1 compilations, one for each shape" in explained
    assert len(f.get_concrete_function().entries) == 1  # calls of other shapes are timed


def test_explain_names_the_sizes_that_code_serves():
    @autoconv.function(input_signature=[spec(None, 3)])
    def f(x):
        return x * 2.0

    for n in (4, 5):
        f(autoconv.constant(random_floats(n, 3)))
    assert "one compilation for all sizes: (n0, 3)" in f.explain()


def test_arrays_of_other_memory_layouts():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        return x * 2.0 + 1.0

    for n in (4, 6):
        x = np.asfortranarray(random_floats(n, n + 1))
        assert_close(f(x), x * 2 + 1)
        assert_close(f(x[::2]), x[::2] * 2 + 1)


def test_donated_arguments_of_any_size():
    @autoconv.function(input_signature=[spec(None)], donate="x")
    def f(x):
        return x * 2.0 + 1.0

    for n in (4, 6, 70_000):
        x = random_floats(n)
        assert_close(f(autoconv.constant(x)), x * 2 + 1)
    assert by_shape(f).compilations == 1


def test_relaxed_shapes_run_by_one_code():
    @autoconv.function(reduce_retracing=True)
    def f(x):
        return autoconv.reduce_sum(x * x, axis=0)

    for n in LENGTHS:
        x = random_floats(n, 3)
        np.testing.assert_allclose(f(autoconv.constant(x)), (x * x).sum(0), rtol=1e-4)
    assert f.experimental_get_tracing_count() == 2


def test_tapes_around_calls_of_functions_of_any_size():
    @autoconv.function(input_signature=[spec(None, None)])
    def f(x):
        return autoconv.nn.softmax(x) * x

    def plain(x):
        powers = np.exp(x - x.max(1, keepdims=True))
        softmax = powers / powers.sum(1, keepdims=True)
        return softmax + softmax * (x - (softmax * x).sum(1, keepdims=True))

    for n in LENGTHS[:6]:
        x = random_floats(n, n + 1, seed=n)
        argument = autoconv.constant(x)
        with autoconv.GradientTape() as tape:
            tape.watch(argument)
            total = autoconv.reduce_sum(f(argument))
        assert_close(tape.gradient(total, argument), plain(x), 1e-4)
    whole = f.get_concrete_function()._taped_calls.graph
    (parts,) = whole._derivatives_by_request.values()
    assert [part.run.compilations for part in (parts.forward, parts.backward)] == [1, 1]
    assert not parts.backward.run.kernel_calls
