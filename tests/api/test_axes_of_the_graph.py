"""Axes that are symbolic tensors, against NumPy."""

import numpy as np
import pytest

import autoconv as ac

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
REDUCTIONS = {
    ac.reduce_sum: np.sum,
    ac.reduce_mean: np.mean,
    ac.reduce_max: np.max,
    ac.reduce_prod: np.prod,
    ac.math.reduce_std: np.std,
    ac.math.count_nonzero: np.count_nonzero,
}
ALONG = {
    ac.argmax: np.argmax,
    ac.cumsum: np.cumsum,
    ac.math.cumprod: np.cumprod,
    ac.expand_dims: np.expand_dims,
    ac.roll: lambda x, axis: np.roll(x, 1, axis),
    ac.gather: lambda x, axis: np.take(x, [1, 0], axis),
    ac.concat: lambda x, axis: np.concatenate([x, x], axis),
    ac.split: lambda x, axis: np.split(x, 2, axis),
}
MORE = {ac.roll: {"shift": 1}, ac.gather: {"indices": [1, 0]}, ac.split: {"num_or_size_splits": 2}}


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_reductions(function):
    by_position = ac.function(lambda x, axis: function(x, axis))
    by_keyword = ac.function(lambda x, axis: function(x, axis=axis, keepdims=True))
    for axis in (0, 1, 2, -1):
        np.testing.assert_allclose(by_position(X, ac.constant(axis)), REDUCTIONS[function](X, axis), rtol=1e-6)
    for axes in ((0, 1), (2, 0), (-1, 1)):
        expected = REDUCTIONS[function](X, axis=axes, keepdims=True)
        np.testing.assert_allclose(by_keyword(X, ac.constant(axes)), expected, rtol=1e-5)


@pytest.mark.parametrize("function", ALONG, ids=lambda f: f.__name__)
def test_functions_along_an_axis(function):
    def f(x, axis):
        return function([x, x] if function is ac.concat else x, axis=axis, **MORE.get(function, {}))

    staged = ac.function(f)
    for axis in (0, 2, -1):
        np.testing.assert_array_equal(staged(X, ac.constant(axis)), ALONG[function](X, axis))


def test_orders_of_dimensions():
    transposed = ac.function(lambda x, perm: ac.transpose(x, perm))
    for perm in ((2, 0, 1), (1, 0, 2), (0, 1, 2)):
        np.testing.assert_array_equal(transposed(X, ac.constant(perm)), X.transpose(perm))
    product = ac.function(lambda x, axes: ac.tensordot(x, ac.transpose(x), axes))
    np.testing.assert_allclose(product(X, ac.constant([[2], [0]])), np.tensordot(X, X.T, [[2], [0]]))


def test_the_axis_of_a_loop_and_its_gradient():
    @ac.function
    def f(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            total = 0.0
            for axis in ac.range(3):
                total += ac.reduce_sum(ac.reduce_max(x, axis) * (1.0 + ac.cast(axis, ac.float32)))
        return total, tape.gradient(total, x)

    total, gradient = f(ac.constant(X))
    expected = np.zeros_like(X)
    expected[1] += 1
    expected[:, 2] += 2
    expected[:, :, 3] += 3
    assert total == sum((axis + 1) * X.max(axis).sum() for axis in range(3))
    np.testing.assert_array_equal(gradient, expected)


def test_axes_that_do_not_exist():
    total = ac.function(lambda x, axis: ac.reduce_sum(x, axis))
    with pytest.raises(ac.errors.InvalidArgumentError, match="no such axis"):
        total(X, ac.constant(3))
    with pytest.raises(ac.errors.InvalidArgumentError, match="twice"):
        total(X, ac.constant([1, 1]))
    halves = ac.function(lambda x, axis: ac.split(x, 2, axis))
    with pytest.raises(ValueError, match="size 3 does not divide"):
        halves(X, ac.constant(1))


def test_a_variable_is_an_axis():
    axis = ac.Variable(1)
    np.testing.assert_array_equal(ac.reduce_sum(X, axis), X.sum(1))
    np.testing.assert_array_equal(ac.function(lambda x: ac.reduce_sum(x, axis))(X), X.sum(1))
    with pytest.raises(TypeError, match="known while tracing"):
        ac.function(ac.reduce_sum, input_signature=[ac.TensorSpec(None), ac.TensorSpec([], ac.int32)])(X, 0)


def test_axes_whose_number_varies():
    @ac.function(input_signature=[ac.TensorSpec([None], ac.int32)])
    def total(axes):
        return ac.reduce_sum(X, axis=axes)

    for axes in ((), (1,), (2, 0), (-1,), (0, 1, 2)):
        np.testing.assert_array_equal(total(ac.constant(axes, ac.int32)), X.sum(axis=axes))
    for wrong in ((0, 0), (0, 0, 1), (3,), (-4,), (0, 0, 0, 0, 0)):
        with pytest.raises(ac.errors.InvalidArgumentError, match="no such axis"):
            total(ac.constant(wrong, ac.int32))
