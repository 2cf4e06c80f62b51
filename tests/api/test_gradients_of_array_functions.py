"""Gradients of unchanged functions of NumPy arrays: methods, products of vectors, dtypes, loops of steps."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import autoconv as ac
from autoconv.runtime.tensors.numpy_behaviour import enable_numpy_behaviour

X = np.arange(12.0).reshape(4, 3) / 10
W = np.array([1.0, 2.0, 3.0])
FUNCTIONS = (
    "(w * w).sum()", "w @ w", "((X @ w) ** 2).mean()", "(w @ X.T).std()", "np.linalg.norm(X @ w)", "np.dot(w, w)",
    "w.T.sum() + w.max() - w.min()", "w.reshape(3, 1).transpose().prod()", "w.clip(1.5, 2.5).sum() + w.var()",
    "w[w > 1.5].sum()", "w[[0, 2]].sum()", "w.astype(np.float32).sum()", "sum(sorted(w))", "np.cumsum(w).dot(w)",
    "w.ravel().copy().flatten().take([0, 1]).sum()", "ac.reduce_sum(ac.math.sin(w))", "np.trace(np.outer(w, w))",
    "np.where(w > 1.5, w, 0.0).sum()", "np.concatenate([w, w * w]).mean()",
)  # fmt: skip


def function_of(expression: str) -> Callable[..., object]:
    text, name = f"def f(w):\n    return {expression}\n", f"<array function {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np, "ac": ac, "X": X}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def finite_difference(f: Callable[..., object]) -> np.ndarray:
    """Return the gradient by central differences."""
    steps = 1e-6 * np.eye(3)
    return np.array([(float(f(W + h)) - float(f(W - h))) / 2e-6 for h in steps])


@pytest.mark.parametrize("decorate", [lambda f: f, ac.compile], ids=["plain", "compile"])
@pytest.mark.parametrize("expression", FUNCTIONS)
def test_gradients_are_those_of_finite_differences(expression, decorate):
    f = function_of(expression)
    found = ac.grad(decorate(f))(W)
    expected = finite_difference(function_of(expression.replace("np.float32", "np.float64")))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert found.dtype == np.float64


@pytest.mark.parametrize("decorate", [lambda f: f, ac.compile], ids=["plain", "compile"])
def test_steps_of_gradient_descent_use_earlier_results(decorate):
    y = X @ W
    loss = decorate(lambda w: ((X @ w - y) ** 2).mean() + 1e-3 * (w @ w))
    w = np.zeros(3)
    for _ in range(20):
        w = w - 0.1 * ac.grad(loss)(w)
    expected = np.zeros(3)
    for _ in range(20):
        expected = expected - 0.1 * (2 * X.T @ (X @ expected - y) / 4 + 2e-3 * expected)
    np.testing.assert_allclose(w, expected, rtol=1e-12)


def test_nested_transformations():
    f = function_of("(w**3).sum()")
    assert np.array_equal(ac.hessian(f)(W), np.diag(6 * W))
    for inner in (f, ac.compile(f)):
        np.testing.assert_allclose(ac.grad(lambda w, inner=inner: (ac.grad(inner)(w) ** 2).sum())(W), 36 * W**3)
    product = function_of("X @ w")
    assert np.array_equal(ac.jacobian(product)(W), X)
    value, back = ac.vjp(product, W)
    assert np.array_equal(value, X @ W)
    np.testing.assert_allclose(back(np.ones(4))[0], X.sum(0))
    value, change = ac.jvp(product, [W], [W])
    np.testing.assert_allclose(change, X @ W)


@pytest.mark.parametrize(
    "expression", ["((X * s) ** 2).mean()", "(s * X - 1).std()", "np.exp(-s * X).sum()", "smoothed(W, s)[1:] @ W[1:]"]
)
def test_gradients_by_a_number(expression):
    def smooth(w, share):
        result = np.zeros(len(w))
        last = 0.0
        for i in range(len(w)):
            last = last + share * (w[i] - last)
            result[i] = last
        return result

    def loss_at(s, smoothed):
        return eval(expression, {"np": np, "X": X, "W": W, "s": s, "smoothed": smoothed})

    compiled = ac.compile(smooth)
    found = ac.grad(lambda s: loss_at(s, compiled))(0.3)
    expected = (loss_at(0.3 + 1e-6, smooth) - loss_at(0.3 - 1e-6, smooth)) / 2e-6
    assert found == pytest.approx(expected, rel=1e-6)


def test_plain_runs_under_compile_are_differentiated():
    seen = []

    @ac.compile
    def f(w):
        seen.append(ac.reduce_sum(ac.math.sin(w)))
        return seen[-1] * 2.0

    np.testing.assert_allclose(ac.grad(f)(W), 2 * np.cos(W))


def test_the_error_of_a_write_names_the_decorator():
    def f(w):
        w[0] = 1.0
        return w.sum()

    with pytest.raises(TypeError, match="decorate the function with"):
        ac.grad(f)(W)
    np.testing.assert_allclose(ac.grad(ac.compile(f))(W), [0.0, 1.0, 1.0])


def test_tensors_keep_tensorflows_rules():
    with pytest.raises(ac.errors.InvalidArgumentError, match="matmul takes tensors of 2 or more dimensions"):
        ac.grad(lambda w: ac.reduce_sum(w @ w))(ac.constant(W))
    assert not hasattr(ac.constant(W), "mean")


@pytest.fixture
def enabled() -> Iterator[None]:
    ac.experimental.numpy.experimental_enable_numpy_behavior()
    yield
    enable_numpy_behaviour(False)


@pytest.mark.usefixtures("enabled")
@pytest.mark.parametrize("decorate", [lambda f: f, ac.function], ids=["eager", "function"])
def test_a_program_enables_it_for_all_tensors(decorate):
    @decorate
    def f(x, w):
        return x @ w, x.T.sum(axis=0), x.reshape(-1)[0], x.mean(), x.astype(np.int32) + ac.constant([0.5, 1.5])

    x, w = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([1.0, 2.0], np.float32)
    desired = x @ w, x.sum(1), 1.0, 2.5, x.astype(np.int32) + np.array([0.5, 1.5], np.float32)
    for found, expected in zip(f(ac.constant(x), ac.constant(w)), desired, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.asarray(expected).dtype or np.ndim(expected) == 0


@pytest.mark.usefixtures("enabled")
def test_numpy_module_makes_tensors():
    import autoconv.experimental.numpy as tnp

    x = tnp.arange(6).reshape(2, 3)
    assert isinstance(x.T, ac.Tensor) and x.T.shape == (3, 2) and isinstance(ac.constant([[1.0]]).mT, ac.Tensor)
    assert isinstance(tnp.random.randn(3).astype(tnp.float32), ac.Tensor)
    defaults = (tnp.asarray(1.0), tnp.add(1.0, 2.0), tnp.ones([2]), tnp.add(np.float64(1.0), 2.0))
    assert {value.dtype for value in defaults} == {ac.float64}
    try:
        tnp.experimental_enable_numpy_behavior(prefer_float32=True)
        assert [value.dtype for value in (tnp.asarray(1.0), tnp.add(1.0, 2.0), tnp.ones([2]))] == 3 * [ac.float32]
        assert tnp.add(np.float64(1.0), 2.0).dtype == ac.float64 and tnp.asarray(2).dtype == ac.int64
    finally:
        tnp.experimental_enable_numpy_behavior()
    with pytest.raises(NotImplementedError, match="weak dtypes"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
