"""The first programs of `textbook.py`: sparse rows, stencils, solvers, filters, simulations, learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from textbook_programs import program_table

PROGRAMS, program = program_table()


def _csr(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    return r.normal(size=8 * n), r.integers(0, n, 8 * n), np.arange(0, 8 * n + 1, 8), r.normal(size=n)


@program(_csr, 50, 500, 5000)
def sparse_rows(data, columns, starts, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        y[i] = np.sum(data[starts[i] : starts[i + 1]] * x[columns[starts[i] : starts[i + 1]]])
    return y


@program(_csr, 50, 500, 5000)
def sparse_reduceat(data, columns, starts, x):
    return np.add.reduceat(data * x[columns], starts[:-1])


@program(lambda r, n: (r.normal(size=n),), 100, 10_000, 1_000_000)
def heat_1d(u):
    for _ in range(20):
        u = u.copy()
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(lambda r, n: (r.normal(size=(n, n)),), 10, 100, 500)
def jacobi_2d(u):
    for _ in range(10):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u


@program(lambda r, n: (r.normal(size=(n, n, n)),), 6, 20, 60)
def laplace_3d(u):
    out = np.zeros_like(u)
    inner = u[1:-1, 1:-1, 1:-1]
    out[1:-1, 1:-1, 1:-1] = (
        u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6 * inner
    )  # fmt: skip
    return out


def _spd(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    a = r.normal(size=(n, n))
    return a @ a.T + n * np.eye(n), r.normal(size=n)


@program(_spd, 10, 60, 300)
def conjugate_gradients(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rs = r @ r
    for _ in range(len(b)):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if np.sqrt(new) < 1e-8:
            break
        p = r + (new / rs) * p
        rs = new
    return x


@program(lambda r, n: (np.sin(np.linspace(0, 9, n + 1)), 10), 32, 256, 4096)
def multigrid(f, cycles):
    n = len(f) - 1
    u = np.zeros(n + 1)
    h = 1.0 / n
    for _ in range(cycles):
        for _ in range(2):
            u[1:-1] = u[1:-1] + 0.6 * 0.5 * (u[:-2] - 2 * u[1:-1] + u[2:] + h * h * f[1:-1])
        residual = np.zeros(n + 1)
        residual[1:-1] = f[1:-1] + (u[:-2] - 2 * u[1:-1] + u[2:]) / (h * h)
        coarse = residual[::2].copy()
        e = np.zeros(n // 2 + 1)
        for _ in range(4):
            e[1:-1] = 0.5 * (e[:-2] + e[2:] + 4 * h * h * coarse[1:-1])
        u[::2] += e
        u[1::2] += 0.5 * (e[:-1] + e[1:])
    return u


@program(lambda r, n: (r.normal(size=n), r.normal(size=31)), 100, 5_000, 100_000)
def fir(x, taps):
    y = np.zeros(len(x) - len(taps) + 1)
    for k in range(len(taps)):
        y += taps[k] * x[len(taps) - 1 - k : len(x) - k]
    return y


@program(lambda r, n: (r.normal(size=n),), 50, 500, 5_000)
def iir(x):
    y = np.zeros_like(x)
    for n in range(2, len(x)):
        y[n] = 0.2 * x[n] + 0.3 * x[n - 1] + 0.5 * y[n - 1] - 0.1 * y[n - 2]
    return y


@program(lambda r, n: (r.normal(size=(n, n)), r.normal(size=(3, 3))), 8, 30, 100)
def convolve_2d(image, kernel):
    h, w = image.shape
    out = np.zeros((h - 2, w - 2))
    for i in range(h - 2):
        for j in range(w - 2):
            out[i, j] = np.sum(image[i : i + 3, j : j + 3] * kernel)
    return out


@program(lambda r, n: (r.normal(size=n), 20), 100, 10_000, 1_000_000)
def histogram(x, bins):
    low, high = x.min(), x.max()
    places = np.minimum(((x - low) / (high - low) * bins).astype(np.int64), bins - 1)
    return np.bincount(places, minlength=bins)


@program(lambda r, n: (r.normal(size=(n, 3)), r.normal(size=(5, 3))), 50, 2_000, 50_000)
def k_means(X, centres):
    for _ in range(5):
        d = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = d.argmin(axis=1)
        centres = np.array([X[labels == k].mean(axis=0) for k in range(5)])
    return labels, centres


@program(lambda r, n: (r.normal(size=(n, 4)), r.normal(size=(20, 4))), 50, 1_000, 20_000)
def nearest_neighbours(X, queries):
    out = np.zeros((len(queries), 5), dtype=np.int64)
    for i in range(len(queries)):
        d = np.sum((X - queries[i]) ** 2, axis=1)
        out[i] = np.argsort(d)[:5]
    return out


@program(lambda r, n: (r.normal(size=(n, 3)), np.abs(r.normal(size=n))), 8, 40, 200)
def n_body(pos, mass):
    d = pos[None, :, :] - pos[:, None, :]
    r2 = (d**2).sum(axis=2) + 0.01
    return (d * (mass[None, :] / r2**1.5)[:, :, None]).sum(axis=1)


@program(lambda r, n: (r.uniform(0, 5, size=(n, 3)), 5.0), 8, 30, 100)
def lennard_jones(pos, box):
    n, energy = len(pos), 0.0
    forces = np.zeros_like(pos)
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            d = d - box * np.round(d / box)
            r2 = np.dot(d, d) + 0.1
            s6 = 1.0 / r2**3
            energy += 4 * (s6 * s6 - s6)
            f = 24 * (2 * s6 * s6 - s6) / r2 * d
            forces[i] += f
            forces[j] -= f
    return energy, forces


@program(lambda r, n: (1 + 0.1 * r.normal(size=(n, n)), np.zeros((n, n)), np.zeros((n, n))), 10, 60, 250)
def shallow_water(h, u, v):
    for _ in range(5):
        u = u - 0.01 * (np.roll(h, -1, axis=1) - np.roll(h, 1, axis=1))
        v = v - 0.01 * (np.roll(h, -1, axis=0) - np.roll(h, 1, axis=0))
        h = h - 0.01 * (np.roll(u, -1, 1) - np.roll(u, 1, 1) + np.roll(v, -1, 0) - np.roll(v, 1, 0))
    return h, u, v


@program(lambda r, n: (r.uniform(50, 150, n), r.uniform(50, 150, n), r.uniform(0.1, 2, n)), 100, 10_000, 500_000)
def black_scholes(S, K, T):
    d1 = (np.log(S / K) + (0.03 + 0.02) * T) / (0.2 * np.sqrt(T))
    d2 = d1 - 0.2 * np.sqrt(T)
    cdf = lambda x: 1 / (1 + np.exp(-1.702 * x))
    return S * cdf(d1) - K * np.exp(-0.03 * T) * cdf(d2)


@program(lambda r, n: (np.cumsum(r.normal(0, 0.05, (n, 12)), axis=1),), 50, 1_000, 20_000)
def least_squares_monte_carlo(paths):
    S = 100 * np.exp(paths)
    cash = np.maximum(100 - S[:, -1], 0)
    for t in range(S.shape[1] - 2, 0, -1):
        cash = cash * 0.99
        x = S[:, t] / 100
        X = np.stack([np.ones_like(x), x, x * x], axis=1)
        beta = np.linalg.solve(X.T @ X, X.T @ cash)
        exercise = np.maximum(100 - S[:, t], 0)
        cash = np.where(exercise > X @ beta, exercise, cash)
    return cash.mean()


@program(lambda r, n: (r.random((n, n)) < 0.1,), 10, 100, 400)
def page_rank(links):
    n = len(links)
    out = links.sum(axis=0)
    M = np.where(out > 0, links / np.maximum(out, 1), 1.0 / n)
    rank = np.full(n, 1.0 / n)
    for _ in range(20):
        rank = 0.15 / n + 0.85 * (M @ rank)
    return rank


@program(lambda r, n: (r.uniform(1, 10, (n, n)),), 8, 40, 150)
def floyd_warshall(D):
    D = D.copy()
    for k in range(len(D)):
        D = np.minimum(D, D[:, k][:, None] + D[k])
    return D


@program(lambda r, n: (r.integers(0, 4, n), r.integers(0, 4, n)), 10, 60, 200)
def smith_waterman(a, b):
    H = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    best = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            s = 3 if a[i - 1] == b[j - 1] else -3
            H[i, j] = max(0, H[i - 1, j - 1] + s, H[i - 1, j] - 2, H[i, j - 1] - 2)
            best = max(best, H[i, j])
    return best, H


@program(lambda r, n: (n,), 10, 60, 250)
def mandelbrot(n):
    c = np.linspace(-2, 0.5, n)[None, :] + 1j * np.linspace(-1.2, 1.2, n)[:, None]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for _ in range(20):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        count += inside
    return count


@program(lambda r, n: (r.normal(size=n),), 16, 64, 200)
def dft(x):
    n = len(x)
    k = np.arange(n)
    return np.exp(-2j * np.pi * k[:, None] * k[None, :] / n) @ x


@program(lambda r, n: (r.normal(size=n),), 64, 4096, 262_144)
def haar(x):
    x = x.copy()
    n = len(x)
    while n > 1:
        half = n // 2
        a = (x[:n:2] + x[1:n:2]) / np.sqrt(2)
        d = (x[:n:2] - x[1:n:2]) / np.sqrt(2)
        x[:half] = a
        x[half:n] = d
        n = half
    return x


@program(lambda r, n: (r.normal(size=(n, 8)),), 20, 1_000, 50_000)
def pca(X):
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    values, vectors = np.linalg.eigh(X.T @ X / (len(X) - 1))
    return values[::-1], np.abs(X @ vectors[:, ::-1][:, :2]).sum()


@program(lambda r, n: (r.normal(size=(n, 5)), (r.random(n) < 0.5) * 1.0), 20, 1_000, 50_000)
def logistic_regression(X, y):
    w = np.zeros(X.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-(X @ w)))
        w -= 0.1 * X.T @ (p - y) / len(y)
    return w


def _layers(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    return r.normal(size=(n, 8)), r.normal(size=(n, 2)), r.normal(size=(8, 16)), r.normal(size=(16, 2))


@program(_layers, 8, 200, 5_000)
def perceptron(X, Y, W1, W2):
    for _ in range(10):
        H = np.tanh(X @ W1)
        error = H @ W2 - Y
        dH = error @ W2.T * (1 - H * H)
        W2 = W2 - 0.01 * H.T @ error / len(X)
        W1 = W1 - 0.01 * X.T @ dH / len(X)
    return (error**2).mean(), W1, W2


@program(lambda r, n: tuple(r.normal(size=(n, 16)) for _ in range(3)), 8, 64, 400)
def attention(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = np.where(np.tri(len(Q)) > 0, S, -np.inf)
    P = np.exp(S - S.max(axis=-1, keepdims=True))
    return P / P.sum(axis=-1, keepdims=True) @ V


@program(lambda r, n: (r.normal(size=(n, 4)), r.normal(size=(12, 32)) * 0.3, np.zeros(32)), 5, 50, 500)
def lstm(xs, W, b):
    h, c = np.zeros(8), np.zeros(8)
    for x in xs:
        z = np.concatenate([x, h]) @ W + b
        i, f, o = (1 / (1 + np.exp(-z[k * 8 : k * 8 + 8])) for k in range(3))
        c = f * c + i * np.tanh(z[24:])
        h = o * np.tanh(c)
    return h, c


@program(lambda r, n: (r.normal(size=n),), 10, 100, 1_000)
def kalman(zs):
    x, P = np.zeros(2), np.eye(2)
    F, H = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    Q, R, out = 0.01 * np.eye(2), np.array([[1.0]]), np.zeros(len(zs))
    for t in range(len(zs)):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        G = P @ H.T @ np.linalg.inv(S)
        x = x + G @ (zs[t] - H @ x)
        P = (np.eye(2) - G @ H) @ P
        out[t] = x[0]
    return out


@program(lambda r, n: (r.normal(size=20), r.normal(size=n), r.random((20, n))), 50, 1_000, 20_000)
def particle_filter(zs, particles, draws):
    out = np.zeros(len(zs))
    for t in range(len(zs)):
        particles = 0.9 * particles + (draws[t] - 0.5)
        w = np.exp(-0.5 * (zs[t] - particles) ** 2)
        w /= w.sum()
        out[t] = (w * particles).sum()
        places = np.searchsorted(np.cumsum(w), (np.arange(len(w)) + 0.5) / len(w))
        particles = particles[np.minimum(places, len(w) - 1)]
    return out


@program(lambda r, n: (r.dirichlet(np.ones(6), 6), r.dirichlet(np.ones(4), 6), r.integers(0, 4, n)), 10, 200, 3_000)
def viterbi(A, B, seen):
    logA, logB = np.log(A), np.log(B)
    score = logB[:, seen[0]]
    back = np.zeros((len(seen), len(A)), dtype=np.int64)
    for t in range(1, len(seen)):
        step = score[:, None] + logA
        back[t] = np.argmax(step, axis=0)
        score = np.max(step, axis=0) + logB[:, seen[t]]
    path = np.zeros(len(seen), dtype=np.int64)
    path[-1] = np.argmax(score)
    for t in range(len(seen) - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score.max()


@program(lambda r, n: (r.normal(size=n),), 50, 400, 4_000)
def sliding_medians(x):
    out = np.zeros(len(x) - 8)
    for i in range(len(out)):
        window = x[i : i + 9]
        out[i] = np.median(window) / (1 + np.median(np.abs(window - np.median(window))))
    return out
