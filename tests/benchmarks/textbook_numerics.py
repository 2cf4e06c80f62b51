"""Six programs of `textbook.py` from numerics and computing: steps of ODEs, roots, quadrature, hashes, sorting."""

from __future__ import annotations

import numpy as np
from textbook_programs import program_table

NUMERICS, program = program_table()


@program(lambda r, n: (r.uniform(0.5, 2.0, n), 20.0), 2, 20, 200)
def dormand_prince(y0, end):
    out, steps = np.zeros(len(y0)), 0
    for case in range(len(y0)):
        t, y, v, h = 0.0, y0[case], 0.0, 0.05
        while t < end:
            h = min(h, end - t)
            a1, c1 = v, -np.sin(y) - 0.1 * v
            a2, c2 = v + h * c1 / 2, -np.sin(y + h * a1 / 2) - 0.1 * (v + h * c1 / 2)
            a3, c3 = v + 0.75 * h * c2, -np.sin(y + 0.75 * h * a2) - 0.1 * (v + 0.75 * h * c2)
            new_y = y + h * (2 * a1 + 3 * a2 + 4 * a3) / 9
            new_v = v + h * (2 * c1 + 3 * c2 + 4 * c3) / 9
            a4 = new_v
            error = abs(h * (-5 * a1 / 72 + a2 / 12 + a3 / 9 - a4 / 8)) + 1e-14
            steps += 1
            if error < 1e-6:
                t, y, v = t + h, new_y, new_v
            h *= min(5.0, max(0.2, 0.9 * (1e-6 / error) ** (1 / 3)))
        out[case] = y
    return out, steps


@program(lambda r, n: (r.uniform(0.0, 0.95, n), r.uniform(0, 6, n)), 20, 1_000, 50_000)
def kepler_by_newton(eccentricities, anomalies):
    roots = np.zeros(len(anomalies))
    for i in range(len(anomalies)):
        e, m = eccentricities[i], anomalies[i]
        x = m if e < 0.8 else np.pi
        for _ in range(50):
            step = (x - e * np.sin(x) - m) / (1 - e * np.cos(x))
            x -= step
            if abs(step) < 1e-12:
                break
        roots[i] = x
    return roots


@program(lambda r, n: (r.uniform(0.5, 3.0, n),), 5, 100, 2_000)
def bisection_and_simpson(limits):
    out = np.zeros((len(limits), 2))
    for i in range(len(limits)):
        low, high = 0.0, 4.0
        while high - low > 1e-10:
            middle = 0.5 * (low + high)
            if middle**3 - limits[i] * middle - 1 > 0:
                high = middle
            else:
                low = middle
        n, total = 40, 0.0
        h = limits[i] / n
        for k in range(n + 1):
            weight = 1 if k in (0, n) else 4 if k % 2 else 2
            total += weight * np.exp(-((k * h) ** 2))
        out[i, 0], out[i, 1] = low, total * h / 3
    return out


@program(lambda r, n: (r.normal(size=n), r.uniform(-1, 1, n)), 8, 60, 300)
def barycentric_interpolation(values, at):
    n = len(values)
    nodes = np.cos((2 * np.arange(n) + 1) * np.pi / (2 * n))
    weights = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) * np.sin((2 * np.arange(n) + 1) * np.pi / (2 * n))
    terms = weights / (at[:, None] - nodes)
    return (terms @ values) / terms.sum(axis=1)


@program(lambda r, n: (r.integers(0, 256, n).astype(np.uint8),), 100, 5_000, 200_000)
def adler_and_fnv(data):
    a, b, h = 1, 0, 2166136261
    for byte in data:
        a = (a + int(byte)) % 65521
        b = (b + a) % 65521
        h = ((h ^ int(byte)) * 16777619) & 0xFFFFFFFF
    return b * 65536 + a, h


@program(lambda r, n: (r.integers(0, 1000, n),), 20, 200, 2_000)
def quicksort_with_stack(values):
    a = values.copy()
    stack = np.zeros((64, 2), dtype=np.int64)
    stack[0, 0], stack[0, 1] = 0, len(a) - 1
    top, swaps = 1, 0
    while top > 0:
        top -= 1
        low, high = stack[top, 0], stack[top, 1]
        while low < high:
            pivot, i = a[high], low
            for j in range(low, high):
                if a[j] < pivot:
                    a[i], a[j] = a[j], a[i]
                    i += 1
                    swaps += 1
            a[i], a[high] = a[high], a[i]
            if i - low < high - i:
                stack[top, 0], stack[top, 1] = i + 1, high
                high = i - 1
            else:
                stack[top, 0], stack[top, 1] = low, i - 1
                low = i + 1
            top += 1
    return a, swaps
