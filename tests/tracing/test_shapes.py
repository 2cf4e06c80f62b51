"""Functions traced for arguments of any shape run as native code for each shape of a call."""

import numpy as np
import pytest

import autoconv
from autoconv.tracing.execute.symbolic_shapes import IMMEDIATE_SHAPES, MAX_SHAPES

ANY_ROWS = autoconv.TensorSpec([None, 4], autoconv.float32)


def rows(count, columns=4):
    return np.random.default_rng(count).standard_normal((count, columns)).astype(np.float32)


def test_conditions_on_shapes():
    @autoconv.function(input_signature=[ANY_ROWS])
    def f(x):
        n = autoconv.shape(x)[0]
        total = autoconv.reduce_sum(autoconv.cast(autoconv.range(n), autoconv.float32))
        below = autoconv.concat([x, autoconv.zeros([n, 2])], 1)
        flat = autoconv.reshape(x, [n * 2, 2])
        return autoconv.nn.relu(x) * 2.0, total, below, autoconv.reduce_max(flat, axis=1), autoconv.size(x)

    for count in (3, 1, 0, 5, 3, 5, 0):
        x = rows(count)
        relu, total, below, largest, size = f(autoconv.constant(x))
        np.testing.assert_array_equal(relu, np.maximum(x, 0) * 2)
        assert total.numpy() == sum(range(count))
        np.testing.assert_array_equal(below, np.concatenate([x, np.zeros((count, 2), np.float32)], 1))
        np.testing.assert_array_equal(largest, x.reshape(count * 2, 2).max(axis=1))
        assert size.numpy() == count * 4
    assert f.experimental_get_tracing_count() == 1
    assert not {"shape", "range", "fill", "concat", "reshape"} & set(f.get_concrete_function().kernels)


def test_more_shapes_than_are_compiled():
    @autoconv.function(input_signature=[ANY_ROWS])
    def f(x):
        return autoconv.reduce_sum(x * x + 1.0, axis=0)

    for _ in range(2):
        for count in range(MAX_SHAPES + IMMEDIATE_SHAPES + 2):
            x = rows(count)
            np.testing.assert_allclose(f(autoconv.constant(x)), (x * x + 1).sum(0), rtol=1e-5)
    assert f.experimental_get_tracing_count() == 1


def test_loops_with_growing_and_constant_state():
    @autoconv.function(input_signature=[ANY_ROWS, autoconv.TensorSpec([], autoconv.int32)])
    def f(x, n):
        grown, constant = x, x
        for _ in autoconv.range(n):
            autoconv.autograph.experimental.set_loop_options(
                shape_invariants=[(grown, autoconv.TensorShape([None, 4]))]
            )
            grown = autoconv.concat([grown, x], 0)
            constant = constant * 0.5 + 1.0
        return grown, constant

    for count, n in ((2, 3), (1, 0), (3, 2)):
        x = rows(count)
        grown, kept = f(autoconv.constant(x), autoconv.constant(n))
        np.testing.assert_array_equal(grown, np.concatenate([x] * (n + 1)))
        expected = x
        for _ in range(n):
            expected = expected * np.float32(0.5) + np.float32(1)
        np.testing.assert_allclose(kept, expected, rtol=1e-6)


def test_incompatible_shapes_are_refused_at_their_line():
    @autoconv.function(input_signature=[autoconv.TensorSpec([None]), autoconv.TensorSpec([None])])
    def f(x, y):
        return x + y

    assert f(autoconv.ones([3]), autoconv.ones([1])).shape == (3,)
    with pytest.raises(autoconv.errors.InvalidArgumentError) as caught:
        f(autoconv.ones([3]), autoconv.ones([4]))
    assert caught.traceback[-1].path.name == "test_shapes.py"
    np.testing.assert_array_equal(f(autoconv.ones([4]), autoconv.ones([4])), [2.0] * 4)


def test_gradients_and_conditions():
    @autoconv.function(input_signature=[ANY_ROWS])
    def f(x):
        if autoconv.reduce_sum(x) > 0.0:
            y = autoconv.sin(x) * x
        else:
            y = x * x
        return autoconv.reduce_sum(y)

    for count in (2, 6, 2):
        for sign in (1, -1):
            x = np.abs(rows(count)) * np.float32(sign)
            expected = np.cos(x) * x + np.sin(x) if sign > 0 else 2 * x
            np.testing.assert_allclose(autoconv.grad(f)(autoconv.constant(x)), expected, rtol=1e-5)


def test_ranks_that_are_open():
    @autoconv.function(input_signature=[autoconv.TensorSpec(None, autoconv.float32)])
    def f(x):
        return autoconv.reduce_sum(x), autoconv.rank(x), x[..., None] * 2.0

    for shape in ((), (3,), (2, 3), (0, 2)):
        x = np.ones(shape, np.float32)
        total, rank, doubled = f(autoconv.constant(x))
        assert (total.numpy(), rank.numpy(), doubled.shape) == (x.sum(), len(shape), (*shape, 1))


def test_python_functions_relax_their_shapes():
    @autoconv.compile
    def f(x):
        total = 0.0
        for value in x:
            if value > 0:
                total += value
        return total

    for count in (3, 4, 5, 4):
        x = rows(count, 1)[:, 0].astype(np.float64)
        assert f(x) == pytest.approx(sum(value for value in x if value > 0))
