"""Functions under `compile` that compute gradients by arrays: one graph, with plain Python's results and classes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv as ac

DRAW = np.random.default_rng(0)
X, Y, W = DRAW.normal(size=(20, 5)), DRAW.normal(size=20), DRAW.normal(size=5)


def loss(w, x, y):
    return ((x @ w - y) ** 2).mean()


def descent(w, x, y):
    history = []
    for _ in range(6):
        value, slope = ac.value_and_grad(loss)(w, x, y)
        history.append(value)
        w = w - 0.1 * slope
    return w, history


def descent_in_place(w, x, y):
    for start in range(0, 20, 5):
        w -= 0.1 * ac.grad(loss)(w, x[start : start + 5], y[start : start + 5])


def until_flat(w, x, y):
    steps = 0
    while True:
        value, slope = ac.value_and_grad(loss)(w, x, y)
        if np.linalg.norm(slope) < 1e-2 or steps > 50:
            return w, value, steps
        w = w - 0.1 * slope
        steps += 1


def adam(w, x, y):
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, 6):
        slope = ac.grad(lambda p: loss(p, x, y) + 0.01 * np.abs(p).sum())(w)
        m, v = 0.9 * m + 0.1 * slope, 0.99 * v + 0.01 * slope * slope
        w = w - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-8)
    return w


def newton(w, x, y):
    slope, curvature = ac.grad(loss)(w, x, y), ac.hessian(lambda w: loss(w, x, y))(w)
    return w - np.linalg.solve(curvature, slope)


def network(w, x, y):
    weights = {"in": np.outer(np.ones(5), w[:4]) * 0.1, "shift": np.zeros(4), "out": np.ones(4) * 0.3}

    def error(p):
        return ((np.tanh(x @ p["in"] + p["shift"]) @ p["out"] - y) ** 2).mean()

    for _ in range(3):
        slopes = ac.grad(error)(weights)
        weights["in"] -= 0.1 * slopes["in"]
        weights["shift"] = weights["shift"] - 0.1 * slopes["shift"]
        weights["out"] -= 0.1 * slopes["out"]
    return weights


def recurrent(w, x, y):
    def error(u):
        h = np.zeros(5)
        for row in x:
            h = np.tanh(u @ h + row)
        return (h**2).sum()

    return ac.grad(error)(np.outer(w, w) * 0.1)


def by_a_number(w, x, y):
    share = 0.5
    for _ in range(3):
        share = share - 0.1 * ac.grad(lambda share: ((share * x[:, 0] - y) ** 2).mean())(share)
    return share, ac.value_and_grad(lambda a: a**3 + 2 * a)(w.sum().item())


def second_order(w, x, y):
    return ac.grad(lambda w: (ac.grad(loss)(w, x, y) ** 2).sum())(w)


def products(w, x, y):
    value, back = ac.vjp(lambda w: np.tanh(x @ w), w)
    return value, back(y), ac.jvp(lambda w: np.tanh(x @ w), [w], [np.ones(5)]), ac.jacobian(lambda w: w * w @ x.T)(w)


def results_are_arrays(w, x, y):
    slope = ac.grad(loss)(w, x, y)
    slope[0] = 0.0
    alias = slope
    slope *= 2
    print(slope.round(3))
    return slope, alias, isinstance(slope, np.ndarray), ac.grad(loss)(w.astype("f4"), x.astype("f4"), y.astype("f4"))


def beside_arrays_in_memory(w, x, y):
    x[0, 0] = 5.0

    def error(w):
        h = w * 2
        before = h
        h += 1
        for i in range(int(abs(y[0]) * 5) + 3):
            h = h * 0.9 + x[i]
            h *= 0.5
        return (h * before).sum() if h[0] > y[1] else (h * h).sum()

    return ac.grad(error)(w)


def backtracking(w, x, y):
    value, slope = ac.value_and_grad(loss)(w, x, y)
    step = 1.0
    while loss(w - step * slope, x, y) > value - 0.5 * step * (slope @ slope):
        step *= 0.5
    return w - step * slope, step


STAGED = (
    descent, descent_in_place, until_flat, adam, newton, network, recurrent, by_a_number, second_order, products,
    results_are_arrays, beside_arrays_in_memory, backtracking,
)  # fmt: skip


def outcome(function: Callable[..., Any], offset: float) -> Any:
    arguments = copy.deepcopy((W + offset, X, Y))
    return function(*arguments), arguments


def assert_equal_with_classes(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, (tuple, list)):
        for actual_part, expected_part in zip(found, expected, strict=True):
            assert_equal_with_classes(actual_part, expected_part)
    elif isinstance(expected, dict):
        assert_equal_with_classes(list(found.items()), list(expected.items()))
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5 if expected.dtype == np.float32 else 1e-9)
    else:
        assert found == (pytest.approx(expected, rel=1e-9) if isinstance(expected, float) else expected)


@pytest.mark.parametrize("function", STAGED, ids=lambda function: function.__name__)
def test_one_graph_has_the_results_of_plain_python(function, capsys):
    compiled = ac.compile(function)
    for offset in (0.0, 0.5):
        expected = outcome(function, offset)
        printed = capsys.readouterr().out
        assert_equal_with_classes(outcome(compiled, offset), expected)
        assert capsys.readouterr().out == printed
    assert compiled.explain().startswith(f"{function.__name__}: 1 trace") and "plain" not in compiled.explain()


def test_plain_results_have_the_class_of_the_arguments():
    value, slope = ac.value_and_grad(loss)(W, X, Y)
    assert type(value) is np.float64 and type(slope) is np.ndarray
    np.testing.assert_allclose(slope, 2 * X.T @ (X @ W - Y) / 20, rtol=1e-12)
    slope[:] = 0.0
    assert type(ac.grad(lambda a: (a * X).sum())(2.0)) is float
    assert type(ac.grad(lambda a: a * a)(ac.constant(2.0))) is type(ac.constant(1.0))


@pytest.mark.parametrize("others", ["x", "w[0]"])
def test_gradients_of_values_written_into_arrays_are_computed_or_refused(others):
    def error(w, x):
        out = np.zeros(5)
        out[1:3] = w[1:3] * 2
        return (out**2).sum() + (w[0] ** 2 if others == "w[0]" else 0.0)

    def slope(w, x):
        x[0] = 1.0
        return ac.grad(error)(w, x)

    for function in (slope, ac.compile(slope)):
        try:
            found = function(W.copy(), X[0].copy())
        except TypeError as error_:
            assert "through which no gradient flows" in str(error_)
        else:
            assert others == "w[0]" and found[0] == 2 * W[0]


def test_transforms_of_compiled_functions_are_compiled_and_notice_changes():
    factors = [1.0]

    @ac.compile
    def scaled(w):
        return factors[0] * (w**3).sum()

    slope, curvature = ac.grad(scaled), ac.hessian(scaled)
    for factors[0] in (1.0, 2.0):
        for w in (W, W + 1.0):
            np.testing.assert_allclose(slope(w), factors[0] * 3 * w**2, rtol=1e-12)
            np.testing.assert_allclose(curvature(w), np.diag(factors[0] * 6 * w), rtol=1e-12)
    assert "plain" not in slope.explain() + curvature.explain()
    assert ac.grad(ac.grad(ac.compile(lambda a: a**3)))(2.0) == 12.0
    assert isinstance(ac.grad(ac.compile(ac.reduce_sum))(ac.constant(W)), ac.Tensor)


def test_writes_of_compiled_functions_are_differentiated():
    @ac.compile
    def smooth(w):
        out = np.zeros(len(w))
        out[0] = w[0]
        for i in range(1, len(w)):
            out[i] = 0.5 * out[i - 1] + w[i] ** 2
        return out.sum()

    steps = 1e-6 * np.eye(5)
    expected = [(smooth(W + h) - smooth(W - h)) / 2e-6 for h in steps]
    slope = ac.grad(smooth)
    for _ in range(2):
        np.testing.assert_allclose(slope(W), expected, rtol=1e-6)
