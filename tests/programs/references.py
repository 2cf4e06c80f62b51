"""Independent NumPy solutions of the tensor programs in fixtures/programs.

Each function has the name of a program's entry, takes one of its cases as plain Python values, and
finds the same results by another road where there is one: a direct solver instead of an iteration,
exhaustive search instead of dynamic programming, loops over numbers instead of whole arrays.
"""

import itertools
import math
from functools import cache

import numpy as np


def conjugate_gradient(matrix, right_side, tolerance, max_steps):
    """The best approximation in each Krylov space in turn, by projection."""
    matrix, right_side = np.array(matrix), np.array(right_side)
    solution = np.zeros_like(right_side)
    basis = np.empty((len(right_side), 0))
    steps = 0
    while steps < max_steps:
        residual = right_side - matrix @ solution
        if np.linalg.norm(residual) <= tolerance:
            break
        basis = np.linalg.qr(np.column_stack([basis, residual]))[0]
        projected = basis.T @ matrix @ basis
        if np.linalg.eigvalsh(projected)[0] <= 0.0:
            return solution, steps, False
        solution = basis @ np.linalg.solve(projected, basis.T @ right_side)
        steps += 1
    return solution, steps, True


def fit_decay(times, values, guess, max_steps):
    """Every damped step as an augmented least-squares problem, solved by singular values."""
    times, values, parameters = np.array(times), np.array(values), np.array(guess)

    def misfit(parameters):
        return values - parameters[0] * np.exp(-parameters[1] * times)

    damping, kept, refused = 1e-2, 0, 0
    while kept + refused < max_steps and damping < 1e8:
        decay = np.exp(-parameters[1] * times)
        slopes = np.column_stack([decay, -parameters[0] * times * decay])
        scales = np.diag(np.sqrt(damping) * np.linalg.norm(slopes, axis=0))
        target = np.concatenate([misfit(parameters), np.zeros(2)])
        step = np.linalg.lstsq(np.vstack([slopes, scales]), target, rcond=None)[0]
        if np.linalg.norm(step) <= 1e-7 * (1e-7 + np.linalg.norm(parameters)):
            break
        better = np.sum(misfit(parameters + step) ** 2) < np.sum(misfit(parameters) ** 2)
        if better:
            parameters = parameters + step
            damping, kept = 0.1 * damping, kept + 1
        else:
            damping, refused = 10.0 * damping, refused + 1
    return parameters, kept, refused


def nelder_mead(start, scale, steepness, tolerance, max_steps):
    """The rules of Nelder and Mead on a sorted list of (height, point) pairs."""

    def corner(point):
        return (1.0 - point[0]) ** 2 + steepness * (point[1] - point[0] ** 2) ** 2, tuple(point)

    def along(origin, towards, factor):
        return corner([o + factor * (t - o) for o, t in zip(origin, towards, strict=True)])

    x, y = start
    corners = [corner((x, y)), corner((x + scale, y)), corner((x, y + scale))]
    counts = {"stretch": 0, "contract": 0, "shrink": 0}
    steps = 0
    for _ in range(max_steps):
        corners.sort(key=lambda each: each[0])
        best, middle, worst = corners
        if worst[0] - best[0] < tolerance:
            break
        steps += 1
        centre = [0.5 * (b + m) for b, m in zip(best[1], middle[1], strict=True)]
        chosen = reflected = along(centre, worst[1], -1.0)
        if reflected[0] < best[0]:
            stretched = along(centre, worst[1], -2.0)
            if stretched[0] < reflected[0]:
                chosen = stretched
                counts["stretch"] += 1
        elif reflected[0] >= middle[0]:
            counts["contract"] += 1
            chosen = along(centre, worst[1], -0.5 if reflected[0] < worst[0] else 0.5)
            if chosen[0] >= min(reflected[0], worst[0]):
                counts["shrink"] += 1
                corners = [best, along(best[1], middle[1], 0.5), along(best[1], worst[1], 0.5)]
                continue
        corners = [best, middle, chosen]
    return np.array(min(corners)[1]), counts["stretch"], counts["contract"], counts["shrink"], steps


def kmeans(points, centres, max_rounds):
    """Cluster by cluster, with lists of points."""

    def closest(point):
        return min(range(len(centres)), key=lambda label: math.dist(point, centres[label]))

    centres = [list(centre) for centre in centres]
    labels = [closest(point) for point in points]
    rounds = 0
    while rounds < max_rounds:
        rounds += 1
        for label in range(len(centres)):
            members = [point for point, own in zip(points, labels, strict=True) if own == label]
            if members:
                centres[label] = [sum(column) / len(members) for column in zip(*members, strict=True)]
        last_labels, labels = labels, [closest(point) for point in points]
        if labels == last_labels:
            break
    spread = sum(math.dist(point, centres[label]) ** 2 for point, label in zip(points, labels, strict=True))
    return np.array(centres), np.array(labels), spread, rounds


def fit_mixture(samples, means, first_variance, least_gain, max_rounds):
    """Densities, computed one number at a time."""
    size, components = len(samples), len(means)
    weights, means, variances = [1.0 / components] * components, list(means), [first_variance] * components
    likelihood, rounds, collapsed = -1e300, 0, False

    def density(sample, k):
        exponent = -0.5 * (sample - means[k]) ** 2 / variances[k]
        return weights[k] * math.exp(exponent) / math.sqrt(2.0 * math.pi * variances[k])

    while rounds < max_rounds and not collapsed:
        shares = [[density(sample, k) for k in range(components)] for sample in samples]
        last, likelihood = likelihood, sum(math.log(sum(share)) for share in shares)
        if likelihood - last < least_gain:
            break
        shares = [[part / sum(share) for part in share] for share in shares]
        for k in range(components):
            count = math.fsum(share[k] for share in shares)
            weights[k] = count / size
            means[k] = math.fsum(share[k] * x for share, x in zip(shares, samples, strict=True)) / count
            squares = [share[k] * (x - means[k]) ** 2 for share, x in zip(shares, samples, strict=True)]
            variances[k] = math.fsum(squares) / count
            if variances[k] < 1e-4:
                variances[k], collapsed = 1e-4, True
        rounds += 1
    return np.array(weights), np.array(means), np.array(variances), likelihood, rounds, collapsed


def pagerank(links, damping, tolerance, max_rounds):
    """Powers of the whole Google matrix."""
    links = np.array(links)
    pages = len(links)
    rows = [row / row.sum() if row.any() else np.full(pages, 1.0 / pages) for row in links]
    google = damping * np.array(rows).T + (1.0 - damping) / pages
    uniform = np.full(pages, 1.0 / pages)
    for rounds in range(1, max_rounds + 1):
        ranks = np.linalg.matrix_power(google, rounds) @ uniform
        before = np.linalg.matrix_power(google, rounds - 1) @ uniform
        if np.linalg.norm(ranks - before, 1) < tolerance:
            return ranks, rounds, True
    return np.linalg.matrix_power(google, max_rounds) @ uniform, max_rounds, False


def viterbi(observations, initial, transition, emission):
    """The most probable of all paths, by enumeration."""

    def probability(path):
        chance = initial[path[0]]
        for before, after in itertools.pairwise(path):
            chance *= transition[before][after]
        for state, seen in zip(path, observations, strict=False):
            chance *= emission[state][seen] if seen >= 0 else 1.0
        return chance

    states, length = range(len(initial)), len(observations)
    for explained in range(1, length + 1):
        if not any(probability(path) for path in itertools.product(states, repeat=explained)):
            return np.full(length, -1), 0.0, explained - 1
    best = max(itertools.product(states, repeat=length), key=probability)
    return np.array(best), math.log(probability(best)), length


def run_network(inputs, lengths, inward, recurrent, limit):
    """Time by time and sequence by sequence, in single precision like the program."""
    inputs, inward, recurrent = (np.array(item, np.float32) for item in (inputs, inward, recurrent))
    states = np.zeros((len(lengths), len(recurrent)), np.float32)
    steps = resets = 0
    for time in range(min(max(lengths), inputs.shape[1])):
        for batch, length in enumerate(lengths):
            if time < length:
                total = inputs[batch, time] @ inward + states[batch] @ recurrent
                states[batch] = total / (1.0 + np.abs(total))
            if np.abs(states[batch]).max() > limit:
                states[batch] = 0.0
                resets += 1
        steps += 1
    return states, steps, resets


def play(board, max_generations):
    """The rules of life on a set of living cells."""
    height, width = len(board), len(board[0])
    cells = frozenset((y, x) for y in range(height) for x in range(width) if board[y][x])
    around = [step for step in itertools.product((-1, 0, 1), repeat=2) if step != (0, 0)]

    def following(cells):
        counts = {}
        for (y, x), (dy, dx) in itertools.product(cells, around):
            place = ((y + dy) % height, (x + dx) % width)
            counts[place] = counts.get(place, 0) + 1
        return frozenset(p for p, count in counts.items() if count == 3 or (count == 2 and p in cells))

    history = [cells]
    while True:
        generation = len(history) - 1
        if not history[-1]:
            verdict = 1
        elif generation == max_generations:
            verdict = 0
        elif following(history[-1]) == history[-1]:
            verdict = 2
        elif generation > 0 and following(history[-1]) == history[-2]:
            verdict = 3
        else:
            history.append(following(history[-1]))
            continue
        last = np.array([[int((y, x) in history[-1]) for x in range(width)] for y in range(height)])
        return last, generation, len(history[-1]), verdict


def run(program, registers, max_steps):
    """An interpreter with a table of operations on a list of registers."""
    values, place, steps = list(registers), 0, 0
    arithmetic = {
        2: lambda a, b: a + b,
        3: lambda a, b: a - b,
        4: lambda a, b: a * b,
        5: lambda a, b: a % b,
    }
    verdict = 1
    while steps < max_steps:
        if place not in range(len(program)):
            verdict = 2
            break
        operation, a, b, c = program[place]
        place += 1
        if operation == 0:
            verdict = 0
            break
        if operation == 1:
            values[a] = b
        elif operation == 6:
            place = b if values[a] == 0 else place
        elif operation == 7:
            place = a
        else:
            try:
                values[a] = arithmetic[operation](values[b], values[c])
            except (KeyError, ZeroDivisionError):
                verdict = 2
                break
        steps += 1
    return np.array(values), steps, place, verdict


def align(first, second, match, mismatch, gap, cutoff):
    """The alignment by its recursive definition."""

    @cache
    def score(i, j):
        if i == 0 or j == 0:
            return gap * (i + j)
        diagonal = match if first[i - 1] == second[j - 1] else mismatch
        return max(score(i - 1, j - 1) + diagonal, score(i - 1, j) + gap, score(i, j - 1) + gap)

    for rows in range(1, len(first) + 1):
        bound = max(score(rows, j) for j in range(len(second) + 1)) + match * (len(first) - rows)
        if bound < cutoff:
            return bound, rows
    return score(len(first), len(second)), len(first)


def compressed_size(text, window, least_length):
    """Matches found by comparing slices of the text continued periodically."""
    position, lengths = 0, []
    while position < len(text):
        best = 0
        for distance in range(1, min(window, position) + 1):
            period = text[position - distance : position]
            copies = (period * len(text))[: len(text) - position]
            agree = [a == b for a, b in zip(copies, text[position:], strict=True)]
            best = max(best, len(list(itertools.takewhile(bool, agree))))
        lengths.append(best if best >= least_length else 0)
        position += lengths[-1] or 1
    literals, matches = lengths.count(0), len(lengths) - lengths.count(0)
    return 9 * literals + 17 * matches, literals, matches, max(lengths)
