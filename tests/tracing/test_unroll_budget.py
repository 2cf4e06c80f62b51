"""Ranges whose iterations would record too many nodes are loops of the graph; others are unrolled."""

import numpy as np
import pytest

import autoconv


def nest(x):
    total = 0.0
    for a in range(3):
        for b in range(3):
            for c in range(3):
                for d in range(3):
                    for e in range(3):
                        for f in range(3):
                            total = total * 0.5 + x[a + b * c] * (d - e * f)
    return total


def best_split(x, y):
    best = (-1.0, 0, 0.0)
    total = y.var() * len(y)
    for j in range(x.shape[1]):
        for t in np.linspace(x[:, j].min(), x[:, j].max(), 10):
            left, right = y[x[:, j] <= t], y[x[:, j] > t]
            if len(left) == 0 or len(right) == 0:
                continue
            gain = total - left.var() * len(left) - right.var() * len(right)
            if gain > best[0]:
                best = gain, j, t
    return best


def recurrence(x, w):
    h = np.zeros(8)
    for t in range(30):
        z = 1 / (1 + np.exp(-(x[t] @ w + h)))
        r = 1 / (1 + np.exp(-(h @ w + x[t])))
        c = np.tanh(x[t] @ w + (r * h) @ w) * np.cos(z) + np.sin(r)
        h = z * h + (1 - z) * c + np.where(h > 0, h, h * 0.1) + np.sqrt(np.abs(c)) * np.exp(-z) + np.minimum(h, c)
        h = (h - h.mean()) / (1 + h.std())
    return h


def nest_of_pairs(x):
    total = np.zeros(3)
    for a in range(2):
        for b in range(2):
            for c in range(2):
                for d in range(2):
                    for e in range(2):
                        for f in range(2):
                            for g in range(6):
                                for h in range(2):
                                    if b - c >= 0:
                                        total[g % 3] += x[:3] @ (x[3:6] * (d - e * f + x[a + b])) + x[h + 6]
    return total


RANDOM = np.random.default_rng(5)
ROWS = RANDOM.random((30, 8))
PROGRAMS = [(nest, (RANDOM.random(20),)), (best_split, (RANDOM.random((40, 9)), RANDOM.random(40)))]
PROGRAMS.append((nest_of_pairs, (RANDOM.random(20),)))
PROGRAMS.append((recurrence, (ROWS, RANDOM.random((8, 8)) * 0.1)))


@pytest.mark.parametrize(("program", "arguments"), PROGRAMS)
def test_a_nest_has_one_budget(program, arguments):
    compiled = autoconv.compile(program)
    np.testing.assert_allclose(compiled(*arguments), program(*arguments), rtol=1e-12)
    (trace,) = compiled.concrete_functions
    assert len(list(trace.optimised.walk())) < 800


def nested_whiles(x):
    i = 0
    while i < 20:
        j = 0
        while j < i:
            k = 0
            while k < j:
                x = x + i * j - k
                k += 1
            j += 1
        i += 1
    return x


def test_nested_while_statements_have_one_budget():
    compiled, x = autoconv.compile(nested_whiles), RANDOM.random(4)
    np.testing.assert_allclose(compiled(x), nested_whiles(x), rtol=1e-12)
    (trace,) = compiled.concrete_functions
    assert len(list(trace.optimised.walk())) < 1300  # 4,561 if written out


TABLES = [{"w": RANDOM.random((4, 4)), "b": RANDOM.random(4)} for _ in range(30)]


def outer_tables(x):
    for i in range(len(TABLES)):
        h = np.tanh(x @ TABLES[i]["w"] + TABLES[i]["b"])
        e = np.exp(h - h.max(-1, keepdims=True))
        h = e / e.sum(-1, keepdims=True) + np.sqrt(np.abs(h)) * np.cos(x) + np.sin(h) * np.log1p(np.abs(x))
        h = np.minimum(h, 3) - np.maximum(h, -3) * 0.5 + np.floor(x) * np.sign(h) + np.where(h > 0, h, -h)
        x = x * 0.5 + np.tanh(h * 0.01) * np.arctan(x) * np.exp(-x * x) + np.clip(h, 0, 1) * 0.01
        x = x - np.square(x) * 0.01 + np.abs(x) / (1 + np.abs(x)) * 0.01
    return x


def changing_constant(x):
    factor = 0x43B0D7E5
    total = x * 0
    for _ in range(12):
        factor = factor * 0x931E8875 & 0xFFFFFFFF
        for k in range(8):
            total = total + (x ^ factor) * k
            total = (total ^ (total >> 7)) & 0xFFFFFFFF
            total = (total ^ (total << 3)) & 0xFFFFFFFF
    return total


@pytest.mark.parametrize(
    ("program", "arguments"), [(outer_tables, (RANDOM.random((3, 4)),)), (changing_constant, (np.arange(5),))]
)
def test_objects_and_constants_of_iterations_are_unrolled(program, arguments):
    compiled = autoconv.compile(program)
    np.testing.assert_allclose(compiled(*arguments), program(*arguments), rtol=1e-12)
    (trace,) = compiled.concrete_functions
    assert len(list(trace.optimised.walk())) > 400
