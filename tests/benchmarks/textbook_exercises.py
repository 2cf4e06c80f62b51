"""Twenty exercises of `textbook.py`, as courses and tutorials on NumPy have them, mostly with whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from textbook_programs import program_table

EXERCISES, program = program_table()


@program(lambda r, n: (r.normal(size=(n, 3)), r.uniform(1, 2, n)), 6, 40, 200)
def gravity_by_broadcasting(positions, masses):
    velocities = np.zeros_like(positions)
    for _ in range(5):
        offsets = positions[np.newaxis, :, :] - positions[:, np.newaxis, :]
        cubed = (np.sum(offsets**2, axis=-1) + 0.01) ** -1.5
        velocities += 0.01 * np.sum(offsets * cubed[:, :, None] * masses[None, :, None], axis=1)
        positions = positions + 0.01 * velocities
    return positions, velocities


@program(lambda r, n: (r.uniform(0, 255, (n, n)),), 8, 40, 120)
def floyd_steinberg(image):
    image = image.copy()
    rows, columns = image.shape
    for y in range(rows - 1):
        for x in range(1, columns - 1):
            old = image[y, x]
            new = 255.0 if old > 127 else 0.0
            image[y, x] = new
            error = old - new
            image[y, x + 1] += error * 7 / 16
            image[y + 1, x - 1] += error * 3 / 16
            image[y + 1, x] += error * 5 / 16
            image[y + 1, x + 1] += error * 1 / 16
    return image


@program(lambda r, n: ((r.random((n, n)) < 0.6).astype(int),), 8, 40, 150)
def flood_fill(grid):
    filled = np.zeros_like(grid)
    stack = np.zeros((4 * grid.size + 4, 2), dtype=np.int64)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        y, x = stack[top, 0], stack[top, 1]
        if y < 0 or y >= grid.shape[0] or x < 0 or x >= grid.shape[1]:
            continue
        if grid[y, x] == 0 or filled[y, x] == 1:
            continue
        filled[y, x] = 1
        for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack[top, 0] = y + dy
            stack[top, 1] = x + dx
            top += 1
    return filled


@program(lambda r, n: (100.0, 105.0, 0.03, 0.2, 1.0, n), 10, 100, 1000)
def american_put_by_tree(spot, strike, rate, sigma, years, steps):
    dt = years / steps
    up = np.exp(sigma * np.sqrt(dt))
    down = 1 / up
    p = (np.exp(rate * dt) - down) / (up - down)
    prices = spot * up ** np.arange(steps, -1, -1) * down ** np.arange(0, steps + 1)
    values = np.maximum(strike - prices, 0)
    for _ in range(steps):
        prices = prices[:-1] * down
        values = np.exp(-rate * dt) * (p * values[:-1] + (1 - p) * values[1:])
        values = np.maximum(values, strike - prices)
    return values[0]


@program(lambda r, n: (r.normal(size=n), r.normal(size=n), r.uniform(size=n)), 50, 1000, 50_000)
def metropolis(data, steps, uniforms):
    samples = np.zeros(len(steps))
    mean, n = data.mean(), len(data)
    current, accepted = 0.0, 0
    for i in range(len(steps)):
        proposal = current + 0.5 * steps[i]
        ratio = np.exp(-0.5 * n * ((mean - proposal) ** 2 - (mean - current) ** 2))
        if uniforms[i] < ratio:
            current = proposal
            accepted += 1
        samples[i] = current
    return samples, accepted / len(steps)


@program(lambda r, n: (np.sort(r.uniform(0, 10, n)), r.normal(size=n), r.uniform(1, 9, 5 * n)), 8, 100, 2000)
def natural_cubic_spline(x, y, at):
    n = len(x)
    h = np.diff(x)
    A, b = np.zeros(n), np.zeros(n)
    lower, diagonal, upper = np.zeros(n), np.ones(n), np.zeros(n)
    for i in range(1, n - 1):
        lower[i], diagonal[i], upper[i] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        b[i] = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    for i in range(1, n):
        w = lower[i] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        b[i] -= w * b[i - 1]
    A[-1] = b[-1] / diagonal[-1]
    for i in range(n - 2, -1, -1):
        A[i] = (b[i] - upper[i] * A[i + 1]) / diagonal[i]
    k = np.clip(np.searchsorted(x, at) - 1, 0, n - 2)
    left, right = x[k + 1] - at, at - x[k]
    return (
        (A[k] * left**3 + A[k + 1] * right**3) / (6 * h[k])
        + (y[k] / h[k] - A[k] * h[k] / 6) * left
        + (y[k + 1] / h[k] - A[k + 1] * h[k] / 6) * right
    )


def _markov(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    def rows(*shape: int) -> np.ndarray:
        weights = r.uniform(0.1, 1, shape)
        return weights / weights.sum(axis=-1, keepdims=True)

    return rows(5, 5), rows(5, 8), rows(5), r.integers(0, 8, n)


@program(_markov, 10, 200, 5000)
def forward_backward(transition, emission, start, observed):
    n, k = len(observed), len(start)
    alpha, beta, scale = np.zeros((n, k)), np.ones((n, k)), np.zeros(n)
    alpha[0] = start * emission[:, observed[0]]
    scale[0] = alpha[0].sum()
    alpha[0] /= scale[0]
    for t in range(1, n):
        alpha[t] = (alpha[t - 1] @ transition) * emission[:, observed[t]]
        scale[t] = alpha[t].sum()
        alpha[t] /= scale[t]
    for t in range(n - 2, -1, -1):
        beta[t] = transition @ (emission[:, observed[t + 1]] * beta[t + 1]) / scale[t + 1]
    posterior = alpha * beta
    return posterior / posterior.sum(axis=1, keepdims=True), np.log(scale).sum()


@program(lambda r, n: (r.normal(size=(n, n)) + n * np.eye(n),), 5, 30, 120)
def lu_doolittle(A):
    n = A.shape[0]
    L, U = np.eye(n), np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            U[i, j] = A[i, j] - np.dot(L[i, :i], U[:i, j])
        for j in range(i + 1, n):
            L[j, i] = (A[j, i] - np.dot(L[j, :i], U[:i, i])) / U[i, i]
    return L, U


@program(lambda r, n: (r.normal(size=(n, n // 2)),), 6, 30, 120)
def householder_qr(A):
    m, n = A.shape
    R, Q = A.copy(), np.eye(m)
    for k in range(n):
        x = R[k:, k]
        e = np.zeros_like(x)
        e[0] = np.copysign(np.linalg.norm(x), x[0])
        v = x + e
        v = v / np.linalg.norm(v)
        R[k:, :] -= 2 * np.outer(v, v @ R[k:, :])
        Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
    return Q, R


@program(lambda r, n: (r.normal(size=(2, 3, n, n)), r.normal(size=(4, 3, 3, 3)), r.normal(size=4)), 6, 16, 40)
def convolution_layer(images, kernels, bias):
    batch, _, height, width = images.shape
    filters, _, size, _ = kernels.shape
    out = np.zeros((batch, filters, height - size + 1, width - size + 1))
    for i in range(out.shape[2]):
        for j in range(out.shape[3]):
            patch = images[:, np.newaxis, :, i : i + size, j : j + size]
            out[:, :, i, j] = np.sum(patch * kernels[np.newaxis], axis=(2, 3, 4)) + bias
    return np.maximum(out, 0)


@program(lambda r, n: (r.normal(size=(2, 3, n, n)),), 6, 20, 60)
def max_pooling(images):
    batch, channels, height, width = images.shape
    out = np.zeros((batch, channels, height // 2, width // 2))
    for i in range(height // 2):
        for j in range(width // 2):
            out[:, :, i, j] = images[:, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max(axis=(2, 3))
    return out


@program(lambda r, n: (r.normal(size=n), 0.1), 64, 1000, 65_536)
def low_pass_by_fft(signal, cutoff):
    spectrum = np.fft.fft(signal)
    frequencies = np.fft.fftfreq(len(signal))
    spectrum[np.abs(frequencies) > cutoff] = 0
    return np.fft.ifft(spectrum).real


@program(lambda r, n: (r.normal(size=n),), 64, 1000, 50_000)
def spectrogram(signal):
    window = np.hanning(32)
    count = (len(signal) - 32) // 16 + 1
    frames = np.zeros((count, 32))
    for i in range(count):
        frames[i] = signal[16 * i : 16 * i + 32] * window
    return np.abs(np.fft.rfft(frames, axis=1)) ** 2


@program(lambda r, n: (np.array([1.0, 0.0]), n), 20, 500, 10_000)
def runge_kutta_45(y, steps):
    def slope(t, y):
        return np.array([y[1], 0.5 * (1 - y[0] ** 2) * y[1] - y[0]])

    t, h = 0.0, 0.05
    path = np.zeros((steps, 2))
    for i in range(steps):
        k1 = slope(t, y)
        k2 = slope(t + h / 4, y + h * k1 / 4)
        k3 = slope(t + 3 * h / 8, y + h * (3 * k1 + 9 * k2) / 32)
        k4 = slope(t + 12 * h / 13, y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
        k5 = slope(t + h, y + h * (439 * k1 / 216 - 8 * k2 + 3680 * k3 / 513 - 845 * k4 / 4104))
        better = y + h * (25 * k1 / 216 + 1408 * k3 / 2565 + 2197 * k4 / 4104 - k5 / 5)
        error = np.linalg.norm(h * (k1 / 360 - 128 * k3 / 4275 - 2197 * k4 / 75240 + k5 / 50))
        if error < 1e-4:
            t, y = t + h, better
        h = min(max(h * 0.9 * (1e-4 / (error + 1e-12)) ** 0.25, 0.001), 0.2)
        path[i] = y
    return path, t


@program(lambda r, n: (r.normal(size=(n, 2)), r.integers(0, 3, n), r.normal(size=(n // 2, 2))), 10, 100, 1000)
def nearest_neighbour_votes(points, labels, queries):
    distances = np.sqrt(((queries[:, None, :] - points[None, :, :]) ** 2).sum(axis=2))
    nearest = np.argsort(distances, axis=1)[:, :5]
    votes = labels[nearest]
    winners = np.zeros(len(queries), dtype=int)
    for i in range(len(queries)):
        winners[i] = np.bincount(votes[i], minlength=3).argmax()
    return winners


@program(lambda r, n: (r.normal(size=(n, 4)), r.integers(0, 3, n)), 20, 500, 20_000)
def softmax_regression(X, y):
    W, b = np.zeros((X.shape[1], 3)), np.zeros(3)
    targets = np.eye(3)[y]
    for _ in range(20):
        scores = X @ W + b
        scores -= scores.max(axis=1, keepdims=True)
        probabilities = np.exp(scores)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        gradient = (probabilities - targets) / len(X)
        W -= 0.5 * (X.T @ gradient)
        b -= 0.5 * gradient.sum(axis=0)
    return W, b


@program(lambda r, n: (r.normal(size=(n, 2)),), 20, 300, 5000)
def gaussian_mixture(X):
    n, d = X.shape
    means, variances, weights = X[:3].copy(), np.ones((3, d)), np.ones(3) / 3
    for _ in range(10):
        logs = np.zeros((n, 3))
        for k in range(3):
            gaps = (X - means[k]) ** 2 / variances[k]
            logs[:, k] = np.log(weights[k]) - 0.5 * (gaps + np.log(2 * np.pi * variances[k])).sum(axis=1)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        totals = shares.sum(axis=0)
        means = shares.T @ X / totals[:, None]
        for k in range(3):
            variances[k] = (shares[:, k, None] * (X - means[k]) ** 2).sum(axis=0) / totals[k] + 1e-6
        weights = totals / n
    return means, variances, weights


@program(lambda r, n: (r.normal(size=(n, n)),), 6, 30, 100)
def jacobi_eigenvalues(M):
    A = (M + M.T) / 2
    n = len(A)
    for _ in range(2 * n):
        off = np.abs(np.triu(A, 1))
        p, q = np.unravel_index(np.argmax(off), off.shape)
        angle = 0.5 * np.arctan2(2 * A[p, q], A[q, q] - A[p, p])
        c, s = np.cos(angle), np.sin(angle)
        row_p, row_q = A[p].copy(), A[q].copy()
        A[p], A[q] = c * row_p - s * row_q, s * row_p + c * row_q
        column_p, column_q = A[:, p].copy(), A[:, q].copy()
        A[:, p], A[:, q] = c * column_p - s * column_q, s * column_p + c * column_q
    return np.sort(np.diag(A))


@program(lambda r, n: (r.uniform(0, 255, (n, n, 3)),), 8, 60, 300)
def image_filters(image):
    gray = image @ np.array([0.299, 0.587, 0.114])
    padded = np.pad(gray, 1, mode="edge")
    blurred = np.zeros_like(gray)
    for dy in range(3):
        for dx in range(3):
            blurred += padded[dy : dy + gray.shape[0], dx : dx + gray.shape[1]]
    blurred /= 9
    sharp = np.clip(gray + 1.5 * (gray - blurred), 0, 255)
    low, high = np.percentile(sharp, [2, 98])
    return np.clip((sharp - low) / (high - low), 0, 1)


@program(lambda r, n: (r.integers(0, 10, n), r.integers(0, 100, n)), 20, 1000, 50_000)
def group_by(keys, values):
    order = np.argsort(keys, kind="stable")
    sorted_keys, sorted_values = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]]))
    sums = np.add.reduceat(sorted_values, starts)
    counts = np.diff(np.append(starts, len(keys)))
    return sorted_keys[starts], sums, sums / counts, np.maximum.reduceat(sorted_values, starts)
