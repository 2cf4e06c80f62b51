"""Twenty further programs of `textbook.py`: factorisations, solvers, graphs, statistics, images, optimisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[np.random.Generator, int], tuple[Any, ...]]
Programs = dict[str, tuple[Callable[..., Any], Make, tuple[int, ...]]]


def program_table() -> tuple[Programs, Callable[..., Any]]:
    """Return a table of programs, and the decorator that adds one: with the maker of its arguments, and sizes."""
    programs: Programs = {}

    def program(make: Make, *sizes: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            programs[function.__name__] = function, make, sizes
            return function

        return register

    return programs, program


FURTHER, program = program_table()


def _spd(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    a = r.normal(size=(n, n))
    return (a @ a.T + n * np.eye(n),)


@program(_spd, 6, 30, 120)
def cholesky(A):
    n = len(A)
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j])) / L[j, j]
    return L


@program(lambda r, n: (r.normal(size=(n, n)), r.normal(size=n)), 6, 40, 200)
def gauss_with_pivots(A, b):
    A, b, n = A.copy(), b.copy(), len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            row, number = A[k].copy(), b[k]
            A[k], b[k] = A[p], b[p]
            A[p], b[p] = row, number
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


@program(lambda r, n: (r.normal(size=(n + 3, n)),), 5, 25, 100)
def gram_schmidt(A):
    Q, R = A.copy(), np.zeros((A.shape[1], A.shape[1]))
    for j in range(A.shape[1]):
        for i in range(j):
            R[i, j] = Q[:, i] @ Q[:, j]
            Q[:, j] -= R[i, j] * Q[:, i]
        R[j, j] = np.sqrt(Q[:, j] @ Q[:, j])
        Q[:, j] /= R[j, j]
    return Q, R


@program(lambda r, n: (_spd(r, n)[0], r.normal(size=n)), 6, 60, 400)
def power_iteration(A, v):
    value = 0.0
    for _ in range(50):
        w = A @ v
        value = np.sqrt(np.sum(w * w))
        v = w / value
    return value


@program(lambda r, n: (r.normal(size=n - 1), 4 + r.random(n), r.normal(size=n - 1), r.normal(size=n)), 20, 500, 10_000)
def thomas(lower, diagonal, upper, right):
    n = len(diagonal)
    c, d, x = np.zeros(n), np.zeros(n), np.zeros(n)
    c[0], d[0] = upper[0] / diagonal[0], right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i - 1] * c[i - 1]
        c[i] = upper[i] / m if i < n - 1 else 0.0
        d[i] = (right[i] - lower[i - 1] * d[i - 1]) / m
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


@program(lambda r, n: (r.normal(size=(n, n)),), 8, 60, 300)
def red_black_relaxation(u):
    u = u.copy()
    for _ in range(10):
        u[1:-1:2, 1:-1:2] = 0.25 * (u[:-2:2, 1:-1:2] + u[2::2, 1:-1:2] + u[1:-1:2, :-2:2] + u[1:-1:2, 2::2])
        u[2:-1:2, 2:-1:2] = 0.25 * (u[1:-2:2, 2:-1:2] + u[3::2, 2:-1:2] + u[2:-1:2, 1:-2:2] + u[2:-1:2, 3::2])
    return u


@program(lambda r, n: (np.exp(-np.linspace(-3, 3, n) ** 2),), 50, 2_000, 100_000)
def burgers_upwind(u):
    u = u.copy()
    for _ in range(20):
        flux = 0.5 * u * u
        u[1:] -= 0.1 * (flux[1:] - flux[:-1])
    return u


@program(lambda r, n: (np.exp(-np.linspace(-3, 3, n) ** 2), np.zeros(n)), 50, 2_000, 100_000)
def wave_leapfrog(current, previous):
    for _ in range(20):
        following = np.zeros_like(current)
        following[1:-1] = 2 * current[1:-1] - previous[1:-1] + 0.25 * (current[2:] - 2 * current[1:-1] + current[:-2])
        current, previous = following, current
    return current


@program(lambda r, n: (r.normal(size=3), n), 20, 500, 10_000)
def lorenz_runge_kutta(state, steps):
    def rate(s):
        return np.array([10.0 * (s[1] - s[0]), s[0] * (28.0 - s[2]) - s[1], s[0] * s[1] - 2.5 * s[2]])

    path = np.zeros((steps, 3))
    for i in range(steps):
        k1 = rate(state)
        k2 = rate(state + 0.0005 * k1)
        k3 = rate(state + 0.0005 * k2)
        k4 = rate(state + 0.001 * k3)
        state = state + 0.001 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path[i] = state
    return path


@program(lambda r, n: (np.where(r.random((n, n)) < 0.5, 1, -1), r.random((3, n, n))), 8, 40, 200)
def ising_metropolis(spins, draws):
    spins, n = spins.copy(), len(spins)
    for sweep in range(len(draws)):
        for i in range(n):
            for j in range(n):
                neighbours = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % n] + spins[i, j - 1]
                cost = 2 * spins[i, j] * neighbours
                if cost <= 0 or draws[sweep, i, j] < np.exp(-0.4 * cost):
                    spins[i, j] = -spins[i, j]
    return spins, spins.mean()


@program(lambda r, n: (r.random((n, n)) < 0.3,), 10, 100, 600)
def game_of_life(cells):
    for _ in range(10):
        wide = np.pad(cells.astype(np.int64), 1)
        neighbours = sum(np.roll(np.roll(wide, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1))[1:-1, 1:-1] - cells
        cells = (neighbours == 3) | (cells & (neighbours == 2))
    return cells


@program(lambda r, n: (r.random((n, n)),), 10, 80, 500)
def sobel_edges(image):
    gx = (image[:-2, 2:] + 2 * image[1:-1, 2:] + image[2:, 2:]) - (
        image[:-2, :-2] + 2 * image[1:-1, :-2] + image[2:, :-2]
    )
    gy = (image[2:, :-2] + 2 * image[2:, 1:-1] + image[2:, 2:]) - (
        image[:-2, :-2] + 2 * image[:-2, 1:-1] + image[:-2, 2:]
    )
    size = np.hypot(gx, gy)
    return size > size.mean() + size.std()


@program(lambda r, n: (r.integers(0, 256, (n, n)),), 10, 100, 600)
def equalise_histogram(image):
    counts = np.zeros(256, dtype=np.int64)
    for value in image.ravel():
        counts[value] += 1
    total = np.cumsum(counts)
    table = np.round((total - total.min()) / (total[-1] - total.min()) * 255).astype(np.uint8)
    return table[image]


@program(lambda r, n: (r.random((n, n)) * 10,), 6, 40, 150)
def dijkstra_dense(weights):
    n = len(weights)
    distance, visited = np.full(n, np.inf), np.zeros(n, dtype=bool)
    distance[0] = 0.0
    for _ in range(n):
        node = np.argmin(np.where(visited, np.inf, distance))
        visited[node] = True
        distance = np.minimum(distance, distance[node] + weights[node])
    return distance


@program(lambda r, n: (r.integers(0, n, (3 * n, 2)), n), 20, 1_000, 20_000)
def union_find(edges, n):
    parent = np.arange(n)
    for k in range(len(edges)):
        a, b = edges[k, 0], edges[k, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[max(a, b)] = min(a, b)
    return parent


@program(lambda r, n: (r.integers(1, 30, n), r.random(n), 200), 10, 50, 400)
def knapsack(weights, values, room):
    best = np.zeros(room + 1)
    for i in range(len(weights)):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[:-w] + values[i])
    return best


@program(lambda r, n: (r.normal(size=n), r.integers(0, n, (50, n))), 20, 500, 10_000)
def bootstrap(x, samples):
    means = np.zeros(len(samples))
    for k in range(len(samples)):
        means[k] = x[samples[k]].mean()
    return np.sort(means)[[1, 48]], means.std()


@program(lambda r, n: (r.normal(size=n) * 0.01,), 50, 1_000, 50_000)
def garch_likelihood(returns):
    variance, total = returns.var(), 0.0
    for t in range(len(returns)):
        total -= 0.5 * (np.log(variance) + returns[t] ** 2 / variance)
        variance = 1e-6 + 0.08 * returns[t] ** 2 + 0.9 * variance
    return total


@program(lambda r, n: (r.normal(size=n), r.normal(size=(n, 4))), 10, 500, 20_000)
def adam_on_least_squares(y, X):
    w, m, v = np.zeros(4), np.zeros(4), np.zeros(4)
    for t in range(1, 41):
        g = 2 * X.T @ (X @ w - y) / len(y)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        w = w - 0.05 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


@program(lambda r, n: (r.normal(size=(n, 6)), r.normal(size=(n, 6)), r.normal(size=6), r.normal(size=6)), 5, 200, 5_000)
def batch_norm_and_gradient(x, upstream, scale, shift):
    mean, variance = x.mean(axis=0), x.var(axis=0)
    inverse = 1 / np.sqrt(variance + 1e-5)
    normal = (x - mean) * inverse
    inner = upstream * scale
    gradient = inverse * (inner - inner.mean(axis=0) - normal * (inner * normal).mean(axis=0))
    return normal * scale + shift, gradient, (upstream * normal).sum(axis=0), upstream.sum(axis=0)
