"""Twenty programs of `textbook.py` from further fields: sparse systems, elements, particles, lattices, images."""

from __future__ import annotations

from typing import Any

import numpy as np
from textbook_programs import program_table

FIELDS, program = program_table()


def _poisson(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Return the rows of the five-point Laplacian on n times n points, and a right side."""
    data, columns, starts = [], [], [0]
    for i in range(n):
        for j in range(n):
            for di, dj, value in ((-1, 0, -1.0), (0, -1, -1.0), (0, 0, 4.0), (0, 1, -1.0), (1, 0, -1.0)):
                if 0 <= i + di < n and 0 <= j + dj < n:
                    data.append(value)
                    columns.append((i + di) * n + j + dj)
            starts.append(len(data))
    return np.array(data), np.array(columns), np.array(starts), r.normal(size=n * n)


@program(_poisson, 4, 20, 80)
def csr_conjugate_gradients(data, columns, starts, b):
    n = len(b)
    x, r, p, q = np.zeros(n), b.copy(), b.copy(), np.zeros(n)
    rr = np.dot(r, r)
    for _ in range(40):
        for i in range(n):
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += data[k] * p[columns[k]]
            q[i] = total
        alpha = rr / np.dot(p, q)
        x += alpha * p
        r -= alpha * q
        new = np.dot(r, r)
        if new < 1e-16:
            break
        p = r + new / rr * p
        rr = new
    return x, rr


@program(_poisson, 4, 20, 80)
def csr_gauss_seidel(data, columns, starts, b):
    x = np.zeros(len(b))
    for _ in range(10):
        for i in range(len(b)):
            total, diagonal = b[i], 1.0
            for k in range(starts[i], starts[i + 1]):
                j = columns[k]
                if j == i:
                    diagonal = data[k]
                else:
                    total -= data[k] * x[j]
            x[i] = total / diagonal
    return x


@program(_poisson, 4, 20, 80)
def csr_transposed(data, columns, starts, b):
    n = len(b)
    counts = np.zeros(n + 1, dtype=np.int64)
    for j in columns:
        counts[j + 1] += 1
    for i in range(n):
        counts[i + 1] += counts[i]
    places = counts[:-1].copy()
    new_data, rows = np.empty_like(data), np.empty_like(columns)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            place = places[columns[k]]
            new_data[place] = data[k]
            rows[place] = i
            places[columns[k]] += 1
    return new_data, rows, counts


@program(lambda r, n: (r.normal(size=(n, n)) + n * np.eye(n), r.normal(size=n)), 8, 60, 300)
def gmres(A, b):
    n, m = len(b), min(len(b), 15)
    Q, H = np.zeros((n, m + 1)), np.zeros((m + 1, m))
    beta = np.linalg.norm(b)
    Q[:, 0] = b / beta
    cs, sn, e = np.zeros(m), np.zeros(m), np.zeros(m + 1)
    e[0] = beta
    for k in range(m):
        q = A @ Q[:, k]
        for i in range(k + 1):
            H[i, k] = q @ Q[:, i]
            q = q - H[i, k] * Q[:, i]
        H[k + 1, k] = np.linalg.norm(q)
        if H[k + 1, k] > 1e-12:
            Q[:, k + 1] = q / H[k + 1, k]
        for i in range(k):
            upper = cs[i] * H[i, k] + sn[i] * H[i + 1, k]
            H[i + 1, k] = -sn[i] * H[i, k] + cs[i] * H[i + 1, k]
            H[i, k] = upper
        size = np.hypot(H[k, k], H[k + 1, k])
        cs[k], sn[k] = H[k, k] / size, H[k + 1, k] / size
        H[k, k], H[k + 1, k] = size, 0.0
        e[k + 1] = -sn[k] * e[k]
        e[k] = cs[k] * e[k]
    y = np.zeros(m)
    for i in range(m - 1, -1, -1):
        y[i] = (e[i] - H[i, i + 1 : m] @ y[i + 1 :]) / H[i, i]
    return Q[:, :m] @ y


@program(lambda r, n: (r.normal(size=(n, n)),), 17, 65, 257)
def multigrid_2d(f):
    n = len(f)
    u, h = np.zeros((n, n)), 1.0 / (n - 1)
    for _ in range(2):
        for _ in range(3):
            for parity in range(2):
                for i in range(1, n - 1):
                    for j in range(1 + (i + parity) % 2, n - 1, 2):
                        u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + h * h * f[i, j])
        residual = np.zeros((n, n))
        residual[1:-1, 1:-1] = f[1:-1, 1:-1] + (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        ) / (h * h)
        coarse = residual[::2, ::2].copy()
        e = np.zeros_like(coarse)
        for _ in range(4):
            e[1:-1, 1:-1] = 0.25 * (
                e[:-2, 1:-1] + e[2:, 1:-1] + e[1:-1, :-2] + e[1:-1, 2:] + 4 * h * h * coarse[1:-1, 1:-1]
            )
        u[::2, ::2] += e
        u[1::2, ::2] += 0.5 * (e[:-1] + e[1:])
        u[::2, 1::2] += 0.5 * (e[:, :-1] + e[:, 1:])
    return u


@program(lambda r, n: (r.normal(size=n), r.normal(size=n // 4)), 64, 1_000, 50_000)
def fft_convolution(x, kernel):
    size = 1
    while size < len(x) + len(kernel) - 1:
        size *= 2
    spectrum = np.fft.rfft(x, size) * np.fft.rfft(kernel, size)
    return np.fft.irfft(spectrum, size)[: len(x) + len(kernel) - 1]


@program(lambda r, n: (r.random((n, n)),), 12, 64, 256)
def bilateral_filter(image):
    rows, columns = image.shape
    out = np.zeros_like(image)
    for y in range(2, rows - 2):
        for x in range(2, columns - 2):
            total, weights = 0.0, 0.0
            for dy in range(-2, 3):
                for dx in range(-2, 3):
                    difference = image[y + dy, x + dx] - image[y, x]
                    weight = np.exp(-(dy * dy + dx * dx) / 8.0 - difference * difference / 0.02)
                    total += weight * image[y + dy, x + dx]
                    weights += weight
            out[y, x] = total / weights
    return out


@program(lambda r, n: (r.random((n, n)),), 12, 100, 500)
def gaussian_blur_separable(image):
    kernel = np.exp(-0.5 * np.arange(-3, 4) ** 2 / 1.5**2)
    kernel /= kernel.sum()
    padded = np.pad(image, 3, mode="reflect")
    rows = sum(kernel[k] * padded[:, k : k + image.shape[1]] for k in range(7))
    return sum(kernel[k] * rows[k : k + image.shape[0]] for k in range(7))


@program(lambda r, n: ((r.random((n, n)) < 0.7).astype(np.uint8),), 10, 60, 300)
def distance_transform(mask):
    rows, columns = mask.shape
    d = np.where(mask > 0, rows + columns, 0)
    for i in range(rows):
        for j in range(columns):
            if d[i, j] > 0:
                if i > 0:
                    d[i, j] = min(d[i, j], d[i - 1, j] + 1)
                if j > 0:
                    d[i, j] = min(d[i, j], d[i, j - 1] + 1)
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            if i < rows - 1:
                d[i, j] = min(d[i, j], d[i + 1, j] + 1)
            if j < columns - 1:
                d[i, j] = min(d[i, j], d[i, j + 1] + 1)
    return d


@program(lambda r, n: ((r.random((n, n)) < 0.55).astype(np.int64),), 8, 40, 200)
def connected_components(grid):
    rows, columns = grid.shape
    parent = np.arange(rows * columns)
    for i in range(rows):
        for j in range(columns):
            if grid[i, j] == 0:
                continue
            for k in range(2):
                y, x = (i - 1, j) if k == 0 else (i, j - 1)
                if y < 0 or x < 0 or grid[y, x] == 0:
                    continue
                a, b = i * columns + j, y * columns + x
                while parent[a] != a:
                    a = parent[a]
                while parent[b] != b:
                    b = parent[b]
                if a < b:
                    parent[b] = a
                else:
                    parent[a] = b
    count = 0
    for k in range(rows * columns):
        if grid[k // columns, k % columns] == 1 and parent[k] == k:
            count += 1
    return parent, count


def _triangles(r: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Return the points and triangles of a square of n times n cells."""
    y, x = np.divmod(np.arange((n + 1) ** 2), n + 1)
    corners = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    lower = np.stack([corners, corners + 1, corners + n + 1], axis=1)
    upper = np.stack([corners + 1, corners + n + 2, corners + n + 1], axis=1)
    points = np.stack([x, y], axis=1) / n + r.uniform(-0.2, 0.2, ((n + 1) ** 2, 2)) / n
    return points, np.concatenate([lower, upper]), r.normal(size=(n + 1) ** 2)


@program(_triangles, 3, 15, 80)
def finite_element_product(points, triangles, u):
    out = np.zeros(len(points))
    for t in range(len(triangles)):
        corners = triangles[t]
        p = points[corners]
        b = np.array([p[1, 1] - p[2, 1], p[2, 1] - p[0, 1], p[0, 1] - p[1, 1]])
        c = np.array([p[2, 0] - p[1, 0], p[0, 0] - p[2, 0], p[1, 0] - p[0, 0]])
        area = 0.5 * abs((p[1, 0] - p[0, 0]) * (p[2, 1] - p[0, 1]) - (p[2, 0] - p[0, 0]) * (p[1, 1] - p[0, 1]))
        for i in range(3):
            for j in range(3):
                out[corners[i]] += (b[i] * b[j] + c[i] * c[j]) / (4 * area) * u[corners[j]]
    return out


@program(_triangles, 3, 15, 80)
def finite_element_arrays(points, triangles, u):
    p = points[triangles]
    e1, e2 = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    area = 0.5 * np.abs(e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0])
    load = np.repeat(area / 3, 3) * u[triangles].ravel()
    return np.bincount(triangles.ravel(), weights=load, minlength=len(points)), area.sum()


@program(lambda r, n: (r.uniform(0, 6, (n, 3)), r.normal(size=(n, 3))), 20, 150, 1000)
def cell_list_forces(positions, velocities):
    n, cells = len(positions), 6
    head, following = np.full(cells**3, -1), np.full(n, -1)
    for i in range(n):
        x, y, z = int(positions[i, 0]), int(positions[i, 1]), int(positions[i, 2])
        cell = (x * cells + y) * cells + z
        following[i] = head[cell]
        head[cell] = i
    forces, energy = np.zeros((n, 3)), 0.0
    for i in range(n):
        x, y, z = int(positions[i, 0]), int(positions[i, 1]), int(positions[i, 2])
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                for dz in range(-1, 2):
                    j = head[(((x + dx) % cells) * cells + (y + dy) % cells) * cells + (z + dz) % cells]
                    while j >= 0:
                        if j != i:
                            d = positions[i] - positions[j]
                            d -= cells * np.round(d / cells)
                            r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
                            if r2 < 1.0:
                                energy += (1.0 - r2) ** 2
                                forces[i] += 4 * (1.0 - r2) * d
                        j = following[j]
    return forces, 0.5 * energy, velocities + 0.01 * forces


@program(lambda r, n: (np.ones((9, n, n)) / 9 + 0.01 * r.random((9, n, n)),), 8, 50, 200)
def lattice_boltzmann(f):
    ex, ey = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    w = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    for _ in range(5):
        rho = f.sum(axis=0)
        ux = (ex[:, None, None] * f).sum(axis=0) / rho
        uy = (ey[:, None, None] * f).sum(axis=0) / rho
        square = 1.5 * (ux**2 + uy**2)
        streamed = np.zeros_like(f)
        for k in range(9):
            eu = ex[k] * ux + ey[k] * uy
            balance = w[k] * rho * (1 + 3 * eu + 4.5 * eu**2 - square)
            streamed[k] = np.roll(np.roll(f[k] + 0.6 * (balance - f[k]), ex[k], axis=0), ey[k], axis=1)
        f = streamed
    return f


@program(lambda r, n: (0.1 * r.normal(size=(n, n)),), 10, 64, 256)
def cahn_hilliard(c):
    def laplacian(a):
        return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a

    for _ in range(10):
        c = c + 0.01 * laplacian(c**3 - c - 0.5 * laplacian(c))
    return c


@program(lambda r, n: (1.0 - 0.5 * r.random((n, n)), 0.25 * r.random((n, n))), 10, 64, 256)
def gray_scott(u, v):
    u, v = u.copy(), v.copy()
    for _ in range(10):
        lu = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        lv = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]
        inner, reaction = u[1:-1, 1:-1], u[1:-1, 1:-1] * v[1:-1, 1:-1] ** 2
        u[1:-1, 1:-1] += 0.16 * lu - reaction + 0.035 * (1 - inner)
        v[1:-1, 1:-1] += 0.08 * lv + reaction - 0.1 * v[1:-1, 1:-1]
    return u, v


@program(lambda r, n: (np.where(r.random((n, n)) < 0.5, 1, -1), r.random((8, n, n))), 8, 64, 256)
def ising_checkerboard(spins, draws):
    mask = np.indices(spins.shape).sum(axis=0) % 2
    energies = np.zeros(4)
    for sweep in range(4):
        for colour in range(2):
            neighbours = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
            cost = 2 * spins * neighbours
            flips = (draws[2 * sweep + colour] < np.exp(-0.44 * cost)) & (mask == colour)
            spins = np.where(flips, -spins, spins)
        energies[sweep] = -(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1))).sum()
    return spins, energies


@program(lambda r, n: (r.normal(size=n),), 64, 1024, 65_536)
def daubechies_wavelet(x):
    h = np.array([0.48296291314469025, 0.8365163037378079, 0.22414386804185735, -0.12940952255092145])
    g = np.array([h[3], -h[2], h[1], -h[0]])
    out, n = x.copy(), len(x)
    while n >= 4:
        half = n // 2
        part = out[:n].copy()
        for i in range(half):
            a, d = 0.0, 0.0
            for k in range(4):
                value = part[(2 * i + k) % n]
                a += h[k] * value
                d += g[k] * value
            out[i] = a
            out[half + i] = d
        n = half
    return out


@program(lambda r, n: (r.random((n, n)), r.uniform(1, n - 2, (n, n)), r.uniform(1, n - 2, (n, n))), 10, 80, 400)
def bilinear_resampling(image, ys, xs):
    y, x = np.floor(ys).astype(np.int64), np.floor(xs).astype(np.int64)
    fy, fx = ys - y, xs - x
    top = (1 - fx) * image[y, x] + fx * image[y, x + 1]
    bottom = (1 - fx) * image[y + 1, x] + fx * image[y + 1, x + 1]
    return (1 - fy) * top + fy * bottom


@program(lambda r, n: (r.normal(size=(n, n, 4)), 0.05 * r.normal(size=(n, n, 4))), 8, 40, 150)
def horizontal_diffusion(field, coefficient):
    laplace = 4 * field[1:-1, 1:-1] - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])
    flux_x = laplace[1:, 1:-1] - laplace[:-1, 1:-1]
    flux_x = np.where(flux_x * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0.0, flux_x)
    flux_y = laplace[1:-1, 1:] - laplace[1:-1, :-1]
    flux_y = np.where(flux_y * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0.0, flux_y)
    out = field.copy()
    out[2:-2, 2:-2] -= coefficient[2:-2, 2:-2] * (flux_x[1:] - flux_x[:-1] + flux_y[:, 1:] - flux_y[:, :-1])
    return out
