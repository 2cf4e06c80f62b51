"""Numbers, games, simulations, and small arrays in loops."""

from __future__ import annotations

import collections
import datetime
import fractions
import math
import random
import statistics

import numpy as np

from everyday import floats, ints, program


def board(draws, count):
    side = 3 + count % 9
    return [[int(draws.random() < 0.4) for _ in range(side)] for _ in range(side)]


@program(lambda r, n: (ints(r, n),))
def bubble_sort(values):
    values = list(values)
    for i in range(len(values)):
        for j in range(len(values) - 1 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
    return values


@program(lambda r, n: (ints(r, n),))
def quick_sort(values):
    if len(values) < 2:
        return list(values)
    pivot = values[len(values) // 2]
    return (
        quick_sort([v for v in values if v < pivot])
        + [v for v in values if v == pivot]
        + quick_sort([v for v in values if v > pivot])
    )


@program(lambda r, n: (sorted(ints(r, n)), r.randint(0, 1000)))
def binary_search(values, wanted):
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@program(lambda r, n: (n * 10,))
def sieve(limit):
    flags = [True] * (limit + 1)
    for i in range(2, int(limit**0.5) + 1):
        if flags[i]:
            for j in range(i * i, limit + 1, i):
                flags[j] = False
    return [i for i in range(2, limit + 1) if flags[i]]


@program(lambda r, n: (r.randint(2, 10**6),))
def factors(n):
    result, p = [], 2
    while p * p <= n:
        while n % p == 0:
            result.append(p)
            n //= p
        p += 1
    return [*result, n] if n > 1 else result


@program(lambda r, n: (r.randint(1, 10**6), r.randint(1, 10**6)))
def common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a, math.gcd(a, b), math.isqrt(a)


@program(lambda r, n: (r.randint(1, 10000),))
def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


@program(lambda r, n: (n,))
def factorial(n):
    total = 1
    for i in range(2, n + 1):
        total *= i
    return total


@program(lambda r, n: (n % 60,))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program(lambda r, n: (ints(r, n) if n % 2 else floats(r, n),))
def statistics_of(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)), statistics.median(values)


@program(lambda r, n: (r.choice([r.random() * 9, r.randint(1, 9), None, "x"]), r.choice([2, 2.5])))
def kinds(value, factor):
    if value is None:
        return 0
    if isinstance(value, str):
        return value * int(factor)
    return value * factor + 1


@program(lambda r, n: (r.uniform(1, 100), 1e-9))
def square_root(a, tolerance):
    x = a
    while abs(x * x - a) > tolerance:
        x = (x + a / x) / 2
    return x


@program(lambda r, n: (board(r, n),))
def life(cells):
    rows, columns = len(cells), len(cells[0])
    new = [[0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            count = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if (di or dj) and 0 <= i + di < rows and 0 <= j + dj < columns:
                        count += cells[i + di][j + dj]
            new[i][j] = int(count == 3 or (cells[i][j] and count == 2))
    return new


@program(lambda r, n: ([[r.choice(" XO") for _ in range(3)] for _ in range(3)],))
def tic_tac_toe(grid):
    lines = [*grid, *zip(*grid, strict=True), [grid[i][i] for i in range(3)], [grid[i][2 - i] for i in range(3)]]
    for line in lines:
        if line[0] != " " and line[0] == line[1] == line[2]:
            return line[0]
    return None if any(c == " " for row in grid for c in row) else "draw"


@program(lambda r, n: (4 + n % 3,))
def queens(n):
    def count_placements(row, columns, sums, differences):
        if row == n:
            return 1
        count = 0
        for c in range(n):
            if c not in columns and row + c not in sums and row - c not in differences:
                count += count_placements(row + 1, columns | {c}, sums | {row + c}, differences | {row - c})
        return count

    return count_placements(0, frozenset(), frozenset(), frozenset())


@program(lambda r, n: (board(r, n),))
def islands(cells):
    cells = [row[:] for row in cells]
    count = 0
    for i in range(len(cells)):
        for j in range(len(cells[0])):
            if cells[i][j]:
                count += 1
                stack = [(i, j)]
                while stack:
                    a, b = stack.pop()
                    if 0 <= a < len(cells) and 0 <= b < len(cells[0]) and cells[a][b]:
                        cells[a][b] = 0
                        stack += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    return count


@program(lambda r, n: (3 + n % 5,))
def hanoi(n):
    moves = []

    def move(count, source, target, spare):
        if count:
            move(count - 1, source, spare, target)
            moves.append((source, target))
            move(count - 1, spare, target, source)

    move(n, "a", "c", "b")
    return len(moves), moves[:2]


@program(lambda r, n: (r.randint(0, 10**6), n))
def dice(seed, count):
    draws = random.Random(seed)
    return collections.Counter(draws.randint(1, 6) + draws.randint(1, 6) for _ in range(count)).most_common(2)


@program(lambda r, n: (r.randint(0, 10**6), n))
def random_walk(seed, count):
    draws, x, y = random.Random(seed), 0, 0
    for _ in range(count):
        dx, dy = draws.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
        x, y = x + dx, y + dy
    return abs(x) + abs(y)


@program(lambda r, n: (r.randint(0, 10**6), n))
def linear_congruence(seed, count):
    inside = 0
    for _ in range(count):
        seed = (1103515245 * seed + 12345) % 2**31
        x = seed / 2**31
        seed = (1103515245 * seed + 12345) % 2**31
        y = seed / 2**31
        inside += x * x + y * y <= 1
    return 4 * inside / count


@program(lambda r, n: (r.randint(0, 10**6), n))
def bank_queue(seed, count):
    draws, clock, free_at, total_wait = random.Random(seed), 0.0, 0.0, 0.0
    for _ in range(count):
        clock += draws.expovariate(1.0)
        start = max(clock, free_at)
        total_wait += start - clock
        free_at = start + draws.expovariate(1.2)
    return total_wait / count


@program(lambda r, n: (r.uniform(100, 1000), r.uniform(0.01, 0.1), n % 30))
def interest(amount, rate, years):
    rows = []
    for year in range(1, years + 1):
        amount *= 1 + rate
        rows.append((year, round(amount, 2)))
    return rows


@program(lambda r, n: ([[r.randint(0, 9) for _ in range(1 + n % 8)] for _ in range(1 + n % 8)],))
def matrix_power(a):
    size = len(a)
    result = [[int(i == j) for j in range(size)] for i in range(size)]
    for _ in range(3):
        result = [[sum(result[i][k] * a[k][j] for k in range(size)) for j in range(size)] for i in range(size)]
    return result


@program(lambda r, n: ([list(row) for row in zip(floats(r, n), floats(r, n), strict=True)], r.randint(1, 4)))
def nearest(points, k):
    x, y = points[0]
    return sorted(points, key=lambda p: (p[0] - x) ** 2 + (p[1] - y) ** 2)[:k]


@program(lambda r, n: (ints(r, n),))
def best_sum(values):
    best = current = values[0] - 500
    for value in values[1:]:
        current = max(value - 500, current + value - 500)
        best = max(best, current)
    return best


@program(lambda r, n: (ints(r, n), r.randint(0, 2000)))
def two_sum(values, wanted):
    indices_by_value = {}
    for i, value in enumerate(values):
        if wanted - value in indices_by_value:
            return indices_by_value[wanted - value], i
        indices_by_value[value] = i
    return None


@program(lambda r, n: (datetime.date(2020, 1, 1) + datetime.timedelta(r.randint(0, 999)), n))
def working_days(day, count):
    while count:
        day += datetime.timedelta(1)
        if day.weekday() < 5:
            count -= 1
    return day.isoformat()


@program(lambda r, n: (n % 20,))
def harmonic(n):
    total = fractions.Fraction(0)
    for i in range(1, n + 1):
        total += fractions.Fraction(1, i)
    return total


@program(lambda r, n: (np.array(floats(r, n)),))
def smoothed(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
    return y


@program(lambda r, n: (np.array(floats(r, n)), r.uniform(0.1, 0.9)))
def exponential_average(x, alpha):
    level, out = x[0], []
    for value in x:
        level = alpha * value + (1 - alpha) * level
        out.append(level)
    return np.array(out)


@program(lambda r, n: (np.array(floats(r, n)),))
def normalised(x):
    return (x - x.mean()) / (x.std() + 1e-9), x[x > 0].sum()


@program(lambda r, n: (np.array(ints(r, n, 9)),))
def tally(x):
    counts = np.zeros(10, dtype=int)
    for value in x:
        counts[value] += 1
    return counts


@program(lambda r, n: (np.array(ints(r, n, 9)), np.array(floats(r, n)).astype(r.choice(["f4", "f8"]))))
def grouped_means(groups, x):
    return {int(g): float(x[groups == g].mean()) for g in np.unique(groups)}


@program(lambda r, n: (np.array([floats(r, 3) for _ in range(n)]),))
def distances(points):
    n = len(points)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            out[i, j] = out[j, i] = np.sqrt(((points[i] - points[j]) ** 2).sum())
    return out.max()


@program(lambda r, n: (np.array([floats(r, 1 + n % 6) for _ in range(1 + n % 6)]),))
def power_method(a):
    v = np.ones(len(a))
    for _ in range(20):
        v = a @ v
        v = v / (np.linalg.norm(v) + 1e-12)
    return np.abs(v).sum()


@program(lambda r, n: (np.array([ints(r, 3 + n % 9, 255) for _ in range(3 + n % 9)], dtype=np.uint8),))
def threshold(image):
    out = np.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            if image[i, j] > 127:
                out[i, j] = 255
    return out, int(image.mean())


@program(lambda r, n: (np.array(floats(r, n)), r.choice(["sum", "max", "mean"])))
def by_name(x, how):
    if how == "sum":
        return x.sum()
    if how == "max":
        return x.max()
    return x.mean()


@program(lambda r, n: ([np.array(floats(r, 1 + n % 5)) for _ in range(1 + n % 7)],))
def joined(parts):
    total = np.concatenate(parts)
    return total.cumsum(), [part.max() for part in parts]


@program(lambda r, n: (r.choice([np.array(floats(r, n)), floats(r, n), ints(r, n)]),))
def any_numbers(values):
    total = 0.0
    for value in values:
        if value > 0:
            total += value
    return total


@program(lambda r, n: (np.array(floats(r, n)), 1 + n % 5))
def moving_average(x, width):
    return [x[max(i - width, 0) : i + 1].mean() for i in range(len(x))]


@program(lambda r, n: (r.uniform(-2, 0.5), r.uniform(-1, 1), 10 + n))
def escape_time(x, y, limit):
    z, c = 0j, complex(x, y)
    for i in range(limit):
        z = z * z + c
        if abs(z) > 2:
            return i
    return limit
