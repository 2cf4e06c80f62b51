"""Twenty-two programs of `textbook.py` from further sciences: statistics, finance, biology, search, learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from textbook_programs import program_table

SCIENCES, program = program_table()


@program(lambda r, n: (r.normal(size=(n, 2)), r.random(n), r.normal(size=(4, 2))), 50, 1_000, 20_000)
def random_walk_metropolis(steps, uniforms, data):
    def log_density(a, b):
        total = -0.5 * (a * a + b * b)
        for i in range(len(data)):
            total -= np.log1p((data[i, 0] - a) ** 2) + 0.5 * (data[i, 1] - b) ** 2
        return total

    a, b, accepted = 0.0, 0.0, 0
    current = log_density(a, b)
    chain = np.zeros((len(steps), 2))
    for t in range(len(steps)):
        new_a, new_b = a + 0.8 * steps[t, 0], b + 0.8 * steps[t, 1]
        proposed = log_density(new_a, new_b)
        if np.log(uniforms[t]) < proposed - current:
            a, b, current = new_a, new_b, proposed
            accepted += 1
        chain[t, 0], chain[t, 1] = a, b
    return chain, accepted


@program(lambda r, n: (r.normal(size=(n, 3)), r.random(n)), 20, 300, 5_000)
def hamiltonian_monte_carlo(momenta, uniforms):
    precision = np.array([[2.0, 0.5, 0.0], [0.5, 1.5, 0.3], [0.0, 0.3, 1.0]])
    q, samples = np.zeros(3), np.zeros((len(momenta), 3))
    for t in range(len(momenta)):
        p, new = momenta[t].copy(), q.copy()
        before = 0.5 * p @ p + 0.5 * q @ precision @ q
        p -= 0.05 * (precision @ new)
        for _ in range(9):
            new += 0.1 * p
            p -= 0.1 * (precision @ new)
        new += 0.1 * p
        p -= 0.05 * (precision @ new)
        after = 0.5 * p @ p + 0.5 * new @ precision @ new
        if uniforms[t] < np.exp(before - after):
            q = new
        samples[t] = q
    return samples


@program(lambda r, n: (r.normal(size=(n, 2)),), 10, 200, 3_000)
def kalman_tracking(zs):
    dt = 0.1
    F = np.array([[1, 0, dt, 0], [0, 1, 0, dt], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    H = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    Q, R = 0.01 * np.eye(4), 0.5 * np.eye(2)
    x, P, path, likelihood = np.zeros(4), np.eye(4), np.zeros((len(zs), 4)), 0.0
    for t in range(len(zs)):
        x = F @ x
        P = F @ P @ F.T + Q
        innovation = zs[t] - H @ x
        S = H @ P @ H.T + R
        K = np.linalg.solve(S, H @ P).T
        x = x + K @ innovation
        P = P - K @ S @ K.T
        likelihood -= 0.5 * (innovation @ np.linalg.solve(S, innovation) + np.log(np.linalg.det(S)))
        path[t] = x
    return path, likelihood


@program(lambda r, n: (r.normal(size=30), r.normal(size=n), r.normal(size=(30, n)), r.random(30)), 50, 1_000, 20_000)
def particle_filter_systematic(zs, particles, noise, offsets):
    n = len(particles)
    estimates = np.zeros(len(zs))
    for t in range(len(zs)):
        particles = 0.5 * particles + 25 * particles / (1 + particles**2) + noise[t]
        logs = -0.5 * (zs[t] - particles**2 / 20) ** 2
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        estimates[t] = np.dot(weights, particles)
        chosen, k, total = np.zeros(n, dtype=np.int64), 0, weights[0]
        for i in range(n):
            while total < (i + offsets[t]) / n and k < n - 1:
                k += 1
                total += weights[k]
            chosen[i] = k
        particles = particles[chosen]
    return estimates


def _tree(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Return points in the order of a balanced k-d tree, and queries."""
    points = r.random((n, 2))
    order = np.zeros(n, dtype=np.int64)
    pending = [(np.arange(n), 0, 0, n)]
    while pending:
        indices, axis, low, high = pending.pop()
        if high <= low:
            continue
        indices = indices[np.argsort(points[indices, axis])]
        middle = (high - low) // 2
        order[low + middle] = indices[middle]
        pending.append((indices[:middle], 1 - axis, low, low + middle))
        pending.append((indices[middle + 1 :], 1 - axis, low + middle + 1, high))
    return points[order], r.random((n // 2, 2))


@program(_tree, 20, 500, 5_000)
def kd_tree_queries(points, queries):
    found, best_distances = np.zeros(len(queries), dtype=np.int64), np.zeros(len(queries))
    stack = np.zeros((64, 3), dtype=np.int64)
    for q in range(len(queries)):
        x, y = queries[q, 0], queries[q, 1]
        best, nearest, top = np.inf, -1, 1
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, len(points), 0
        while top > 0:
            top -= 1
            low, high, axis = stack[top, 0], stack[top, 1], stack[top, 2]
            if low >= high:
                continue
            middle = low + (high - low) // 2
            dx, dy = points[middle, 0] - x, points[middle, 1] - y
            distance = dx * dx + dy * dy
            if distance < best:
                best, nearest = distance, middle
            difference = dx if axis == 0 else dy
            if difference * difference < best or difference > 0:
                stack[top, 0], stack[top, 1], stack[top, 2] = low, middle, 1 - axis
                top += 1
            if difference * difference < best or difference <= 0:
                stack[top, 0], stack[top, 1], stack[top, 2] = middle + 1, high, 1 - axis
                top += 1
        found[q], best_distances[q] = nearest, best
    return found, best_distances


@program(lambda r, n: (r.integers(0, 4, n), r.integers(0, 4, n)), 10, 100, 600)
def affine_gap_alignment(a, b):
    n, m = len(a), len(b)
    M, X, Y = (np.full((n + 1, m + 1), -1e9) for _ in range(3))
    M[0, 0] = 0.0
    for i in range(1, n + 1):
        X[i, 0] = -3.0 - 0.5 * i
    for j in range(1, m + 1):
        Y[0, j] = -3.0 - 0.5 * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            score = 2.0 if a[i - 1] == b[j - 1] else -1.0
            M[i, j] = score + max(M[i - 1, j - 1], X[i - 1, j - 1], Y[i - 1, j - 1])
            X[i, j] = max(M[i - 1, j] - 3.5, X[i - 1, j] - 0.5)
            Y[i, j] = max(M[i, j - 1] - 3.5, Y[i, j - 1] - 0.5)
    return max(M[n, m], X[n, m], Y[n, m])


@program(lambda r, n: (r.integers(0, 20, n), r.integers(0, 20, n)), 10, 100, 1_000)
def longest_common_subsequence(a, b):
    lengths = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                lengths[i + 1, j + 1] = lengths[i, j] + 1
            else:
                lengths[i + 1, j + 1] = max(lengths[i, j + 1], lengths[i + 1, j])
    i, j, common = len(a), len(b), []
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            common.append(a[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1, j] >= lengths[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return lengths[-1, -1], len(common)


@program(lambda r, n: (r.normal(size=n), r.normal(size=n)), 20, 150, 800)
def dynamic_time_warping(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(x[i - 1] - y[j - 1])
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


@program(lambda r, n: (r.integers(5, 100, n + 1),), 6, 40, 150)
def matrix_chain_order(sizes):
    n = len(sizes) - 1
    cost, split = np.zeros((n, n)), np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                new = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if new < cost[i, j]:
                    cost[i, j], split[i, j] = new, k
    return cost[0, n - 1], split


@program(lambda r, n: (100.0, 95.0, 0.05, 0.25, 0.5, n), 20, 200, 1_500)
def crr_american(spot, strike, rate, sigma, years, steps):
    dt = years / steps
    up = np.exp(sigma * np.sqrt(dt))
    discount = np.exp(-rate * dt)
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    values = np.zeros(steps + 1)
    for i in range(steps + 1):
        values[i] = max(strike - spot * up ** (2 * i - steps), 0.0)
    for step in range(steps - 1, -1, -1):
        for i in range(step + 1):
            hold = discount * (p * values[i + 1] + (1 - p) * values[i])
            values[i] = max(hold, strike - spot * up ** (2 * i - step))
    return values[0]


@program(lambda r, n: (r.normal(size=(n, 50)), 0.04, 100.0), 50, 1_000, 10_000)
def heston_asian_option(draws, variance, spot):
    total = 0.0
    for path in range(draws.shape[0]):
        s, v, mean = spot, variance, 0.0
        for t in range(draws.shape[1]):
            z = draws[path, t]
            s = s * np.exp(-0.5 * v / 50 + np.sqrt(v / 50) * z)
            v = abs(v + 2.0 * (0.04 - v) / 50 - 0.3 * np.sqrt(v / 50) * z)
            mean += s
        total += max(mean / draws.shape[1] - 100.0, 0.0)
    return total / draws.shape[0]


@program(lambda r, n: (np.cumsum(r.exponential(1.0, n)), r.exponential(2.2, n)), 50, 1_000, 50_000)
def multi_server_queue(arrivals, services):
    free = np.zeros(3)
    waits, busy = np.zeros(len(arrivals)), 0.0
    for i in range(len(arrivals)):
        server = np.argmin(free)
        start = max(arrivals[i], free[server])
        waits[i] = start - arrivals[i]
        free[server] = start + services[i]
        busy += services[i]
    return waits.mean(), waits.max(), busy / free.max()


@program(lambda r, n: (r.integers(0, 4, (16, n)), np.arange(15).reshape(15, 1) * 2 + np.array([0, 1])), 20, 300, 5_000)
def felsenstein_pruning(sites, children):
    leaves, length = sites.shape
    change = 0.25 - 0.25 * np.exp(-4 / 3 * 0.1)
    P = np.full((4, 4), change) + (1 - 4 * change) * np.eye(4)
    likelihood = np.zeros((2 * leaves - 1, length, 4))
    for leaf in range(leaves):
        for s in range(length):
            likelihood[leaf, s, sites[leaf, s]] = 1.0
    for node in range(leaves - 1):
        left, right = children[node, 0], children[node, 1]
        likelihood[leaves + node] = (likelihood[left] @ P.T) * (likelihood[right] @ P.T)
    return np.log(likelihood[-1].mean(axis=1)).sum()


@program(lambda r, n: (r.random((n, n)),), 8, 30, 100)
def neighbour_joining(distances):
    D = distances + distances.T
    n = len(D)
    active, joins = np.ones(n, dtype=bool), np.zeros((n - 4, 2), dtype=np.int64)
    for step in range(n - 4):
        count = n - step
        sums = np.where(active, (D * active).sum(axis=1), 0.0)
        best, a, b = np.inf, 0, 0
        for i in range(n):
            if active[i]:
                for j in range(i + 1, n):
                    if active[j]:
                        q = (count - 2) * D[i, j] - sums[i] - sums[j]
                        if q < best:
                            best, a, b = q, i, j
        merged = 0.5 * (D[a] + D[b] - D[a, b])
        D[a], D[:, a] = merged, merged
        D[a, a] = 0.0
        active[b] = False
        joins[step] = a, b
    return joins


def _observations(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    return r.dirichlet(np.ones(4), 4), r.dirichlet(np.ones(6), 4), r.integers(0, 6, n)


@program(_observations, 10, 200, 3_000)
def baum_welch(A, B, seen):
    n, k = len(seen), len(A)
    for _ in range(3):
        alpha, beta, scale = np.zeros((n, k)), np.ones((n, k)), np.zeros(n)
        alpha[0] = B[:, seen[0]] / k
        scale[0] = alpha[0].sum()
        alpha[0] /= scale[0]
        for t in range(1, n):
            alpha[t] = (alpha[t - 1] @ A) * B[:, seen[t]]
            scale[t] = alpha[t].sum()
            alpha[t] /= scale[t]
        for t in range(n - 2, -1, -1):
            beta[t] = A @ (B[:, seen[t + 1]] * beta[t + 1]) / scale[t + 1]
        pairs, emitted = np.zeros((k, k)), np.zeros_like(B)
        for t in range(n - 1):
            pairs += A * np.outer(alpha[t], B[:, seen[t + 1]] * beta[t + 1]) / scale[t + 1]
        for t in range(n):
            emitted[:, seen[t]] += alpha[t] * beta[t]
        A = pairs / pairs.sum(axis=1, keepdims=True)
        B = emitted / emitted.sum(axis=1, keepdims=True)
    return A, B, np.log(scale).sum()


def _layers(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    shapes = ((8, 16), (16,), (16, 16), (16,), (16, 3), (3,))
    return r.normal(size=(n, 8)), r.integers(0, 3, n), *(0.3 * r.normal(size=shape) for shape in shapes)


@program(_layers, 10, 200, 5_000)
def deep_network_by_hand(X, y, W1, b1, W2, b2, W3, b3):
    rows = np.arange(len(X))
    loss = 0.0
    for _ in range(5):
        h1 = np.maximum(X @ W1 + b1, 0)
        h2 = np.maximum(h1 @ W2 + b2, 0)
        scores = h2 @ W3 + b3
        scores = scores - scores.max(axis=1, keepdims=True)
        p = np.exp(scores)
        p = p / p.sum(axis=1, keepdims=True)
        loss = -np.log(p[rows, y]).mean()
        d3 = (p - (y[:, None] == np.arange(3))) / len(X)
        d2 = (d3 @ W3.T) * (h2 > 0)
        d1 = (d2 @ W2.T) * (h1 > 0)
        W3, b3 = W3 - 0.1 * h2.T @ d3, b3 - 0.1 * d3.sum(axis=0)
        W2, b2 = W2 - 0.1 * h1.T @ d2, b2 - 0.1 * d2.sum(axis=0)
        W1, b1 = W1 - 0.1 * X.T @ d1, b1 - 0.1 * d1.sum(axis=0)
    return loss, W1, W2, W3
