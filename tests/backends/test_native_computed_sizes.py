"""Arrays whose sizes the program computes: NumPy's values, dtypes and errors, from native loops, also for 0 and 1."""

import itertools

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


def slices(x, y, k, m):
    return x[:k] + y[1 : k + 1], x[-k:] + k, x[:m:3], x[k::-1], x[::-1][:k][::2]


def of_other_sizes(x, y, k, m):
    return x[:k] + y[m:], (x[k:] * 2 - y[:m]).sum()


def joined(x, y, k, m):
    return np.concatenate((x[:k], y[m:], x[k:])), np.diff(np.concatenate((x[:m], np.zeros(1))))


def reduced(x, y, k, m):
    a = np.outer(x, y)[:, :m] + x[k]
    return a.sum(axis=0), (a * a).sum(axis=1), a.T.sum(axis=0), x[:k].prod(), np.any(x[:k] > 1), np.cumsum(x[m:])


def extremes(x, y, k, m):
    a = np.outer(x, y)[:, :k]
    return a.max(axis=1), a.argmin(axis=1), x[:k].max(), np.argmax(x[m:]), np.argmax(a)


def extremes_of_counted(x, y, k, m):
    picked = np.nonzero((x[1:-1] > x[:-2]) | (y[1:-1] > -9))[0] + 1
    return picked[np.argmax(x[picked])], x[picked].argmin()


def spread(x, y, k, m):
    a = np.outer(x[: k + 1], y)
    return (a - a.mean(axis=1)[:, None]).std(), x[:2].mean(), a.var(axis=0)


def products(x, y, k, m):
    a = np.outer(x, y)
    return a[:k, m:] @ a[m:, :k], a[:k] @ y, x @ a[:, :m], a[:, :k] @ y[:k], a[:k].T @ x[:k], x[:k] @ y[:k]


def new_arrays(x, y, k, m):
    return np.zeros(k + 1), np.arange(k, m), np.ones((k, 2)) * x[:2], np.arange(m, k, -2) * 1.5, np.arange(k) * x[:k]


def counted(x, y, k, m):
    picked = np.flatnonzero(x > 0)
    return x[x > 0.2] * 3, np.where(x > y)[0] + k, y[picked], np.sort(x[:k]), np.argsort(y[m:]), len(picked)


def masked(x, y, k, m):
    positive = (x[:k] > 0).astype(np.int64)
    return positive.sum(), positive * 2, np.where(positive > 0, x[:k], -1.0), x[:k].astype(np.float32) / 3


def reshaped(x, y, k, m):
    return x[: k * m].reshape(k, m).sum(axis=0), np.outer(x[:k], y).ravel(), x[k:].reshape(-1, 1) + y[:m]


def rotated(x, y, k, m):
    rows = np.outer(x, y)[:, :k]
    return np.roll(x[:k], 1) - x[:k], np.roll(y[y > 0], -2), np.roll(rows, (3, -7), axis=(0, 1)) + 1, np.roll(rows, 2)


def positions_of_pairs(x, y, k, m):
    table = np.outer(x, y)
    rows, columns = np.where(table > 0.1)
    return table[rows, columns].sum(), table[rows, columns] * 2, table[columns, rows], table[k, rows]


def rounded(x, y, k, m):
    return np.round(x[x > 0], 2), np.round(y[:k] * 9), (x[:m] * 5).round()


def moved(x, y, k, m):
    picked = x[x > 0]
    rows = np.outer(x, y)[:, :k]
    return (
        np.pad(picked, (2, 1)), np.pad(rows, 1), np.tile(picked, 3), np.repeat(picked, 2), np.repeat(rows, 2, axis=1),
        np.stack([picked, picked * 2]), np.stack([x[:k], y[:k]], axis=1), picked.copy(), np.diag(picked),
        np.take(y, np.flatnonzero(x > 0)), np.convolve(np.append(picked, y[:3]), np.ones(2), "same"),
    )  # fmt: skip


def looked_up(x, y, k, m):
    picked, edges = x[x > 0], np.linspace(-1, 1, 5)
    numbers = np.floor(np.clip(picked, 0, 2) * 3).astype(np.int64)
    return (
        np.searchsorted(edges, picked), np.interp(picked, edges, edges**2), np.clip(picked, 0.2, 0.5),
        np.argsort(picked), np.sort(np.outer(x, y)[:, :k], axis=0), np.partition(np.append(picked, 3.0), 0),
        np.bincount(numbers, minlength=3), np.histogram(y[:k], bins=4, range=(-1, 1))[0],
    )  # fmt: skip


def left_over(x, y, k, m):
    return x[:k].reshape(m, -1) * 2


def ends(x, y, k, m):
    return x[:k][0], x[m:][-1]


def shrinking(x, y, k, m):
    for _ in range(m):
        x = x[1:] * 0.5 + x[:-1]
    return x


def growing(x, y, k, m):
    found = x[:1]
    for i in range(1, len(x)):
        found = np.concatenate((found * 0.5, x[i : i + 1] + y[i]))
    return found


def filtered(x, y, k, m):
    total = 0.0
    for _ in range(4):
        x = x[x > -k]
        total += x.sum()
        x = x - 0.5
    return total, x


def halved(x, y, k, m):
    while len(x) > 2:
        x = x[::2] + 1
        y = y[: len(x)]
    return x, y


def branched(x, y, k, m):
    found = x[:k]
    if m > 2:
        found = found + y[:k]
    else:
        found = np.concatenate((found, found))
    return found * 2


def stored(x, y, k, m):
    out = np.zeros((len(x), 3))
    out[:k, 0] = x[:k]
    out[m:, 1] = y[m:] * 2
    out[k:m, 2] = 7
    return out


def stored_elsewhere(x, y, k, m):
    x[k:] = np.sort(y[m:])
    return x


def triangles(x, y, k, m):
    a, out = np.outer(x, y), np.zeros(len(x))
    for i in range(1, len(x)):
        out[:i] = a[:i, :i].sum(axis=1)
        out[i:] += a[i:, :i].max(axis=1)
    return out


def handled(x, y, k, m):
    try:
        k = k // m
    except ZeroDivisionError:
        k = k + 1
    return x[:k][::-1] * 2


PROGRAMS = [
    slices, of_other_sizes, joined, reduced, extremes, extremes_of_counted, spread, products, new_arrays, counted,
    masked, reshaped, left_over, ends, shrinking, growing, filtered, halved, branched, stored, stored_elsewhere,
    triangles, handled, rotated, positions_of_pairs, rounded, moved, looked_up,
]  # fmt: skip


def result_of(function, x, y, k, m):
    arguments = x.copy(), y.copy()
    try:
        found = function(*arguments, k, m)
    except Exception as error:
        return type(error), str(error), arguments
    return found if isinstance(found, tuple) else (found,), None, arguments


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.search
def test_equals_numpy(program):
    compiled = autoconv.compile(program)
    random = np.random.default_rng(3)
    for size in (7, 1):
        x, y = random.normal(size=size), random.normal(size=size)
        for k, m in itertools.product((2, 0, 1, 7, -2, 9), (3, 0, 1)):
            found, message, arguments = result_of(compiled, x, y, k, m)
            expected, error, changed = result_of(program, x, y, k, m)
            assert message == error
            if error is not None:
                assert found is expected
                found = expected = ()
            for left, right in zip((*found, *arguments), (*expected, *changed), strict=True):
                assert type(left) is type(right)
                assert np.asarray(left).dtype == np.asarray(right).dtype
                assert np.shape(left) == np.shape(right)
                np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-12)


def test_no_kernels():
    programs = slices, reduced, new_arrays, shrinking, growing, filtered, triangles, stored, reshaped, masked, rotated
    programs += positions_of_pairs, rounded, moved, looked_up
    for program in programs:
        compiled = autoconv.compile(program)
        compiled(np.ones(7), np.ones(7), 2, 3)
        assert "kernel" not in compiled.explain(), compiled.explain()


def test_gradients_through_slices():
    @autoconv.function
    def slope(x, k):
        with autoconv.GradientTape() as tape:
            tape.watch(x)
            total = autoconv.reduce_sum((x[:k] * x[1 : k + 1]) ** 2)
        return tape.gradient(total, x)

    x = np.array([1.0, 2.0, 3.0, 4.0])
    for k in (0, 1, 3):
        found = slope(autoconv.constant(x), autoconv.constant(k)).numpy()
        expected = np.zeros(4)
        for i in range(k):
            expected[i] += 2 * x[i] * x[i + 1] ** 2
            expected[i + 1] += 2 * x[i + 1] * x[i] ** 2
        np.testing.assert_allclose(found, expected)


def written_between(a, k, m):
    sums = a[:k].sum(axis=1)
    a[m] = 5.0
    return sums, a[:k].sum(axis=1)


def written_by_its_sums(a, k, m):
    for i in range(1, k):
        a[:i, 0] = a[:i, :i].sum(axis=1)
        a[i, m:] += a[:i, m:].max(axis=0)
    return a


def read_late(a, k, m):
    part, whole = a[:k, m:] * 2, a[:k, m:].mean(axis=0)
    a[:k, m] = part[:, 0] + whole[0]
    return part.sum(axis=0), whole, part @ whole


def factors(a, k, m):
    for i in range(k):
        a[i + 1 :, i] /= a[i, i] + 9
        a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
    return a[m:, :k] @ a[:k, m:], a[:k, :k] @ a[:k, m], a[k, :m] @ a[:m], a[::-1, :k].T @ a[:, m]


def square(layout):
    matrix = np.random.default_rng(5).normal(size=(12, 12))
    return matrix[::2, ::2] if layout == "steps" else np.array(matrix[:6, :6], order=layout)


@pytest.mark.parametrize("program", [written_between, written_by_its_sums, read_late, factors])
@pytest.mark.parametrize("layout", ["C", "F", "steps"])
def test_arrays_that_are_read_in_place(program, layout):
    compiled = autoconv.compile(program)
    for k, m in ((3, 1), (4, 0), (2, 3), (5, 2)):
        compiled_argument, plain_argument = square(layout), square(layout)
        found, expected = compiled(compiled_argument, k, m), program(plain_argument, k, m)
        np.testing.assert_allclose(compiled_argument, plain_argument, rtol=1e-10)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for actual, desired in pairs:
            np.testing.assert_allclose(actual, desired, rtol=1e-10)


def below_the_positive(x, y):
    return y.cumsum() < x[x > 0]


def test_operands_that_do_not_fit_are_not_there_yet():
    compiled = autoconv.compile(below_the_positive)
    for x, y in ((np.arange(3.0), np.ones(2)), (np.ones((1, 3)), np.ones((2, 2))), (np.arange(5.0), np.ones((2, 2)))):
        try:
            expected = below_the_positive(x, y).tolist()
        except ValueError as error:
            expected = str(error)
        try:
            found = compiled(x, y).tolist()
        except ValueError as error:
            found = str(error)
        assert found == expected


@pytest.mark.parametrize(
    ("start", "limit", "step"),
    [(10, 0, -(2**63)), (0, 10, -(2**63)), (-(2**62) - 5, 2**62 + 9, 2**61), (0, 2**60 + 1, 2**60), (5, 5, 2),
     (-(2**63), 2**63 - 1, 1), (-(2**63), 2**63 - 1, 2), (2**63 - 9, 2**63 - 1, 4), (2**62, -(2**62), -(2**60) + 1)],
)  # fmt: skip
def test_ranges_of_large_numbers(monkeypatch, start, limit, step):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    outcomes = []
    for program in (np.arange, autoconv.compile(lambda start, limit, step: np.arange(start, limit, step))):
        try:
            outcomes.append(program(start, limit, step).tolist())
        except (ValueError, MemoryError) as error:
            outcomes.append(str(error))
    assert outcomes[1] == outcomes[0]


def vectors_of_changing_sizes(x, sizes):
    """Vectors shrink, grow and vanish from turn to turn; some outlive the turn, in the state and in a list."""
    kept, last, total = [], x[:0], 0.0
    for size in sizes:
        part = x[:size] * 2.0
        shorter = np.sqrt(part[1:] + 1.0)
        total += part.sum() - (shorter[:-1] * shorter[1:]).sum()
        if size % 3 == 0:
            last = np.concatenate((shorter, part[:2]))
        kept.append(np.cumsum(part[size // 2 :]))
        x = np.append(x[1:], total % 7.0)
    return kept, last, total, x


@pytest.mark.parametrize("length", [12, 9000])
def test_vectors_in_a_loop_take_the_memory_of_longer_ones(length):
    draw = np.random.default_rng(length)
    compiled = autoconv.compile(vectors_of_changing_sizes)
    for _ in range(3):
        x, sizes = draw.random(length), draw.integers(0, length, 60)
        found, expected = compiled(x, sizes), vectors_of_changing_sizes(x, sizes)
        for part, expected_part in zip((*found[0], *found[1:]), (*expected[0], *expected[1:]), strict=True):
            np.testing.assert_allclose(part, expected_part, rtol=1e-6)
        for part in found[0]:  # results have memory of their own
            part += 1.0
        for part, expected_part in zip((*found[0], found[1]), (*expected[0], expected[1] - 1.0), strict=True):
            np.testing.assert_allclose(part, expected_part + 1.0, rtol=1e-6)


def states_of_one_size(n, turns):
    """The states keep the sizes that they begin with; an array of the same sizes is read and another one written."""
    c = np.linspace(-2, 0.5, n)[None, :] + 1j * np.linspace(-1.2, 1.2, n)[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    total = c.real * 0.0
    for _ in range(turns):
        inside = np.abs(z) <= 2
        z = np.where(inside, z * z + c, z)
        total = total + z.imag
        count += inside
    return count, z, total


def states_of_other_sizes(n, turns):
    """One state has another size from the first turn on, one broadcasts, and one is exchanged with another."""
    x, y, z = np.linspace(0, 1, n), np.ones(1), np.zeros(n)
    u, v = np.arange(n) * 1.0, np.arange(n + 1) * 2.0
    for i in range(turns):
        x = np.concatenate((x[1:], x[:2] * 0.5))
        y = y + z
        for _ in range(i % 3):
            z = z * 0.5 + 1.0
        u, v = v[: len(u)] + 1.0, v
        if i % 4 == 3:
            u = u[:-1]
    return x, y, z, u, v


@pytest.mark.parametrize("function", [states_of_one_size, states_of_other_sizes])
def test_states_of_loops_with_computed_sizes(function):
    compiled = autoconv.compile(function)
    for n, turns in ((7, 40), (30, 40), (1, 40), (2, 0), (12, 1), (40, 41), (9, 4)):
        try:
            expected = function(n, turns)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                compiled(n, turns)
            continue
        for part, expected_part in zip(compiled(n, turns), expected, strict=True):
            np.testing.assert_allclose(part, expected_part, rtol=1e-7, atol=1e-9)
            assert part.shape == expected_part.shape and part.dtype == expected_part.dtype
