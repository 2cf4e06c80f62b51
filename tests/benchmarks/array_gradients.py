"""Values and gradients of NumPy functions: `autoconv.value_and_grad` beside `jax.jit(jax.value_and_grad(…))`.

    python tests/benchmarks/array_gradients.py

Each function is written once, for NumPy and for jax.numpy, and called with float64 arrays of three sizes, in turns; the
best of seven rounds counts. JAX gets device arrays, autoconv NumPy's. Results are compared. Set OPENBLAS_NUM_THREADS=1
and AUTOCONV_NUM_THREADS=1 for one thread; JAX uses all.
"""

from __future__ import annotations

import functools
import math
import statistics
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import autoconv

SIZES = ((50, 5), (1000, 20), (20000, 50))
ROUNDS, SECONDS = 7, 0.03


def functions(xp: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the functions to differentiate by their first argument, written with a module such as NumPy."""

    def linear_regression(w, x, y):
        return ((x @ w - y) ** 2).mean()

    def logistic_regression(w, x, y):
        return xp.log1p(xp.exp(-y * (x @ w))).mean() + 0.01 * (w * w).sum()

    def perceptron(p, x, y):
        return ((xp.tanh(x @ p["in"] + p["shift"]) @ p["out"] - y) ** 2).mean()

    def cross_entropy(w, x, labels):
        z = x @ w
        z = z - z.max(axis=1, keepdims=True)
        logarithms = z - xp.log(xp.exp(z).sum(axis=1, keepdims=True))
        return -logarithms[xp.arange(len(labels)), labels].mean()

    def rosenbrock(x):
        return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    return {f.__name__: f for f in (linear_regression, logistic_regression, perceptron, cross_entropy, rosenbrock)}


def arguments(rows: int, columns: int) -> dict[str, tuple[Any, ...]]:
    """Return the arguments of the functions for data of that shape."""
    draw = np.random.default_rng(0)
    x, y, w = draw.normal(size=(rows, columns)), np.sign(draw.normal(size=rows)), draw.normal(size=columns)
    layers = {"in": 0.1 * draw.normal(size=(columns, 32)), "shift": np.zeros(32), "out": draw.normal(size=32)}
    return {
        "linear_regression": (w, x, y), "logistic_regression": (w, x, y), "perceptron": (layers, x, y),
        "cross_entropy": (draw.normal(size=(columns, 10)), x, draw.integers(0, 10, rows)), "rosenbrock": (y + w[0],),
    }  # fmt: skip


def best_times(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Return the best mean seconds of each call, in turns."""
    best = [math.inf] * len(calls)
    for _ in range(ROUNDS):
        for position, call in enumerate(calls):
            start = time.perf_counter()
            call()
            repeats = max(1, min(2000, int(SECONDS / (time.perf_counter() - start))))
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            best[position] = min(best[position], (time.perf_counter() - start) / repeats)
    return best


def main() -> None:
    import jax
    import jax.numpy

    jax.config.update("jax_enable_x64", True)
    numpy_functions, jax_functions, ratios = functions(np), functions(jax.numpy), []
    print(f"{'function':20}{'rows':>8}{'autoconv µs':>13}{'JAX µs':>10}{'JAX over autoconv':>19}")
    for rows, columns in SIZES:
        for name, call_arguments in arguments(rows, columns).items():
            compiled = autoconv.value_and_grad(autoconv.compile(numpy_functions[name]))
            jitted = jax.jit(jax.value_and_grad(jax_functions[name]))
            device_arguments = jax.tree_util.tree_map(jax.numpy.asarray, call_arguments)
            actual, expected = map(jax.tree_util.tree_leaves, (compiled(*call_arguments), jitted(*device_arguments)))
            for actual_leaf, expected_leaf in zip(actual, expected, strict=True):
                np.testing.assert_allclose(actual_leaf, expected_leaf, rtol=1e-6, atol=1e-8)
            for _ in range(40):  # the calls in which autoconv chooses between the graph and plain Python
                compiled(*call_arguments)
            calls = [
                functools.partial(compiled, *call_arguments),
                lambda: jax.block_until_ready(jitted(*device_arguments)),  # noqa: B023
            ]
            compiled_seconds, jax_seconds = best_times(calls)
            ratios.append(jax_seconds / compiled_seconds)
            print(f"{name:20}{rows:8}{compiled_seconds * 1e6:13.1f}{jax_seconds * 1e6:10.1f}{ratios[-1]:19.2f}")
    print(f"geometric mean {math.exp(statistics.fmean(map(math.log, ratios))):.2f}")


if __name__ == "__main__":
    main()
