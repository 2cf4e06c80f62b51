"""Sums, extremes and products of views whose sizes the program computes: NumPy's results, in native code."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain

KINDS = ["sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin"]


def assert_native(compiled):
    """Assert that the graph is native, and that no kernel copies or computes an array."""
    report = compiled.explain()
    assert "plain Python" not in report and "as Python objects" not in report, report
    for name in ("array_load", "multiply", "numpy_sum", "numpy_max", "matmul", "numpy_argmax"):
        assert f"{name} (" not in report, report
    return compiled


def assert_close(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5 if found.dtype == np.float32 else 1e-12)


def data(dtype, size=40):
    random = np.random.default_rng(size)
    if dtype == "bool":
        return random.random(size) > 0.3
    found = random.normal(size=size) * 20
    return np.abs(found).astype(dtype) if dtype.startswith("u") else found.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int8", "uint8", "uint64", "bool"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.search
def test_reductions_of_windows(kind, dtype):
    function = getattr(np, kind)

    def windows(x, w):
        first = function(x[0:w])
        out = np.zeros(len(x), first.dtype)
        for i in range(len(x) - 1):
            out[i] = function(x[max(i - w, 0) : i + w])
        return out

    compiled = autoconv.compile(windows)
    x = data(dtype)
    for w in (1, 3, 9):
        assert_close(compiled(x, w), windows(x, w))
        assert_close(compiled(x[::-2], w), windows(x[::-2], w))
    assert "plain Python" not in compiled.explain()
    with pytest.warns(RuntimeWarning) if kind == "mean" else pytest.raises((ValueError, IndexError)) if kind in (
        "max", "min", "argmax", "argmin",
    ) else np.errstate():  # fmt: skip
        windows(x, 0)
    if kind in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=r"(zero-size array|empty sequence)"):
            compiled(x, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_nan_infinity_and_zero(kind):
    def windows(x, w):
        out = np.zeros(len(x))
        for i in range(len(x) - w):
            out[i] = getattr(x[i : i + w], kind)()
        return out

    compiled = autoconv.compile(windows)
    x = np.array([0.0, -0.0, np.inf, 1, np.nan, -np.inf, np.nan, -np.inf, -np.inf, 2, 3, -1e308, -1e308, 7])
    for w in (1, 2, 3):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(compiled(x, w), windows(x, w))


def test_reductions_of_computed_elements():
    def program(p, k, n):
        out = np.zeros((len(p) - 2, 3))
        for i in range(len(p) - 2):
            part = p[i : i + n, 1 : n + 1]
            out[i, 0] = np.sum(part * k) - (part - k).max()
            out[i, 1] = np.mean(np.exp(part) / (1 + k)) + np.abs(part * k[0]).min()
            out[i, 2] = np.any(part > 1.5) + np.argmax(part.T * 2) + (part**2).sum() ** 0.5
        return out

    compiled = assert_native(autoconv.compile(program))
    p, k = np.random.default_rng(1).normal(size=(9, 7)), np.random.default_rng(2).normal(size=(3, 3))
    assert_close(compiled(p, k, 3), program(p, k, 3))
    assert_close(assert_native(compiled)(p * 2, k, 3), program(p * 2, k, 3))
    for n, words in ((2, "(2,2) (3,3)"), (4, "(4,4) (3,3)")):
        for run in (program, compiled):
            with pytest.raises(ValueError) as error:
                run(p, k, n)
            assert words in str(error.value)


def test_one_element_broadcasts_against_many():
    def program(x, y, n, m):
        y[0] = 1
        return (x[:n] * y[:m]).sum(), (x[:n] + y[:m]).max()

    compiled = autoconv.compile(program)
    x, y = np.arange(9.0) + 1, np.arange(9.0) * 2
    for n, m in ((3, 3), (1, 5), (5, 1), (1, 1), (0, 1), (0, 0), (2, 3)):
        try:
            expected = program(x, y.copy(), n, m)
        except ValueError as error:
            with pytest.raises(ValueError) as found:
                compiled(x, y.copy(), n, m)
            assert str(found.value) == str(error)
        else:
            assert compiled(x, y.copy(), n, m) == expected


def test_products_of_vectors():
    def program(a, x):
        for i in range(len(x) - 1, -1, -1):
            x[i] -= a[i, i + 1 :] @ x[i + 1 :] + np.dot(a[:i, i], a[i, :i]) + a[i, ::-1][:i].dot(x[:i])
            x[i] /= a[i, i]
        return x

    compiled = autoconv.compile(program)
    a = np.random.default_rng(0).normal(size=(7, 7)) + 7 * np.eye(7)
    for _ in range(2):
        assert_close(compiled(a, np.ones(7)), program(a, np.ones(7)))
    assert_native(compiled)


def test_products_of_incompatible_sizes():
    def program(x, n, m):
        x[0] = 2
        return x[:n] @ x[:m]

    check_against_plain(program, *((np.arange(6.0), n, m) for n, m in ((2, 2), (0, 0), (2, 3), (1, 3), (3, 1))))
    check_against_plain(program, *((np.arange(6), n, m) for n, m in ((2, 2), (0, 0), (2, 3))))


def test_reductions_of_elements_computed_before_a_write():
    def program(x, n):
        twice = x[:n] * 2
        total = x[1:n].sum()
        x[1] = 100
        early, late = twice.sum(), x[:n].max()
        x[:n] += 1
        x[0] = x[:n].sum() + twice.max()
        return total, early, late, x

    check_against_plain(program, (np.arange(6.0), 4), (np.arange(6.0), 6), (np.arange(6.0), 2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_sums_are_accurate(dtype):
    def program(x, first, last):
        x[0] = 1
        return x[first:last].sum(), x[first:last].mean(), x[first:last] @ x[first:last]

    compiled = autoconv.compile(program)
    x = np.random.default_rng(0).random(1_000_003).astype(dtype)
    exact = x.astype(np.longdouble)
    exact[0] = 1
    for first, last in ((0, len(x)), (3, 4099), (1, 900_001)):
        found, part = compiled(x.copy(), first, last), exact[first:last]
        expected = part.sum(), part.mean(), part @ part
        for actual_part, expected_part in zip(found, expected, strict=True):
            assert actual_part.dtype == dtype
            assert abs(actual_part - expected_part) <= 64 * np.finfo(dtype).eps * abs(expected_part)


def test_gradients():
    def program(x, n):
        total = 0.0
        for i in range(n):
            total += (x[i : i + n] * x[:n]).sum() ** 2 + x[i : i + 2].max() + x[:i] @ x[1 : i + 1]
        return total

    x = np.random.default_rng(0).normal(size=8)
    found = autoconv.grad(autoconv.compile(program))(x, 3)
    steps = 1e-6 * np.eye(8)
    expected = [(program(x + step, 3) - program(x - step, 3)) / 2e-6 for step in steps]
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6, atol=1e-6)


def of_views(x):
    y = (x * 2).reshape(4, 5).T
    total = 0.0
    for i in range(4):
        total += y[i:, 0].sum() + y[:, i:].max() + y[i, : i + 1] @ y[i, : i + 1]
    return total


def of_parts(x):
    backwards, part, total = x[::-1], x[2:9], 0.0
    for i in range(5):
        total += backwards[i : i + 3].sum() * part[i:].max()
    return total


def of_rows(x):
    a, total = x.reshape(4, 5), 0.0
    for i in range(len(a)):
        total += (a[i, i:] - a[3 - i, : 5 - i]).max() + a[i:, i].prod() + np.abs(a[i:, i:]).min() - a[i].argmin()
    return total


def of_many_kinds(x):
    total = 0.0
    for n in range(3, 9):
        small, mask = x.astype(np.float32), x > 0.5
        total += float(small[:n].mean()) + int(mask[:n].sum()) + bool(mask[n:].any()) + (x[:n] > 0.25).sum()
        total += np.where(mask, x, 0)[n:-n].sum() + np.concatenate([x, x])[n:] @ np.concatenate([x, x])[:-n]
    return total


def in_comprehensions(x):
    return np.array([x[i : i + 4].max() - x[:i].sum() for i in range(len(x) - 3)]).sum()


def read_twice(x):
    total = 0.0
    for i in range(len(x) - 3):
        part = x[i : i + 3]
        total += part.max() + part[0] + np.sort(part)[1] + len(part)
    return total


@pytest.mark.parametrize("function", [of_views, of_parts, of_rows, of_many_kinds, in_comprehensions, read_twice])
def test_reductions_of_unchanged_arrays(function):
    x = np.random.default_rng(3).random(20)
    compiled = autoconv.compile(function)
    for argument in (x, x[::-1].copy(), x * 3):
        np.testing.assert_allclose(compiled(argument), function(argument), rtol=2e-6)
    assert "plain Python" not in compiled.explain()


def test_reductions_of_tensors():
    @autoconv.function
    def windows(x, w):
        total = autoconv.constant(0.0, autoconv.float64)
        for i in autoconv.range(autoconv.shape(x)[0]):
            part = x[i : i + w]
            total += autoconv.reduce_sum(part * 2) - autoconv.reduce_max(part) + autoconv.reduce_mean(part)
        return total

    x = np.random.default_rng(3).random(20)
    expected = sum(2 * x[i : i + 4].sum() - x[i : i + 4].max() + x[i : i + 4].mean() for i in range(20))
    np.testing.assert_allclose(float(windows(autoconv.constant(x), autoconv.constant(4))), expected)


def test_reductions_of_empty_slices():
    def extreme(x, n):
        try:
            return x[n:].max(), x[n]
        except (ValueError, IndexError) as error:
            return str(error)

    def mean(x, n):
        return x[n:].sum(), x[n:] @ x[n:]

    x = np.arange(5.0)
    check_against_plain(extreme, (x, 3), (x, 5), (x, 4), (x, 9))
    check_against_plain(mean, (x, 3), (x, 5), (x, -2))


def test_the_memory_of_a_part_is_kept_until_it_is_read():
    def program(x, n):
        y = np.exp(x)
        part = y[:n]
        z = np.sin(x) * 2
        w = np.cos(z) + 1
        return part.sum(), part @ part, z[0], w[0]

    def in_a_loop(x, n):
        total = 0.0
        for i in range(3):
            y = np.exp(x * i)
            part = y[i:]
            z = np.sin(x) * i
            total += part.sum() + z[n]
        return total

    for function in (program, in_a_loop):
        compiled = autoconv.compile(function)
        for size in (50, 300_000):
            x = np.random.default_rng(0).random(size)
            np.testing.assert_allclose(compiled(x, size // 3), function(x, size // 3), rtol=1e-9)


def test_totals_of_branch_results_beside_objects():
    def f(v, data, b):
        items = [1, b, 3]
        if b > 2:
            items, u = sorted(data, reverse=True), v[b - 3 :] + 1
        else:
            u = v[b:] - b
        return items[b % 3], u.max(), (u * u).sum()

    compiled = autoconv.compile(f)
    for b in (1, 3, 0):
        assert compiled(np.arange(5), [3, 1, 2], b) == f(np.arange(5), [3, 1, 2], b)
    assert "plain Python" not in compiled.explain(), compiled.explain()


def of_numbers(x, i):
    positive = 0
    for j in range(len(x)):
        if np.all(x[j] > 0) and not np.any(x[j] > 5):
            positive += 1
    return positive, np.sum(x[i]), np.prod(x[i]), np.mean(x[i]), np.max(x[i]), np.min(x[i]), np.any(x[i]), np.all(i)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int8", "uint64", "bool"])
def test_reductions_of_numbers(dtype):
    compiled, x = autoconv.compile(of_numbers), data(dtype)
    if dtype.startswith("float"):
        x[2] = np.nan
    for i in (0, 2, 7):
        for found, expected in zip(compiled(x, i), of_numbers(x, i), strict=True):
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)
    assert "kernel" not in compiled.explain()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("shape", [(8, 12, 12, 48), (700, 5), (3, 2, 9), (1, 400, 33)])
def test_several_reductions_of_a_loop(shape, dtype):
    """Sums, means and extremes over the leading axes, which share the loops that start and finish them."""
    axes = tuple(range(len(shape) - 1))

    def moments(x):
        y = x * 3 + 1
        return x.sum(axes), y.mean(axes), (x * y).sum(axes), (x - y).mean(axes), x.max(axes), y.min(axes)

    x = (np.random.default_rng(2).normal(size=shape) * 50).astype(dtype)
    results = autoconv.compile(moments)(x)
    for result, same_dtype, exact in zip(results, moments(x), moments(x.astype(np.float64)), strict=True):
        assert result.dtype == same_dtype.dtype
        np.testing.assert_allclose(result, exact, rtol=2e-5 if dtype == "float32" else 1e-9, atol=1e-3)


def windows_of_constant_length(x, excess):
    """Reduce windows of constant length, which are within the array or clipped at either end."""
    n = len(x)
    out = np.zeros((12, max(n + excess, 0)))
    for i in range(len(x) + excess):
        out[:, i] = (
            x[i : i + 9].sum(), x[i + 1 : i + 4].prod(), x[i + 2 : i].sum(), x[i - 2 : i + 1].sum(), x[i : i + 1].max(),
            x[i : i - 4 : -1].sum(), x[i + 3 : i - 1 : -1].sum(), x[i : i + 8 : 3].sum(), len(x[i - 3 : i]),
            x[n + 1 : n + 10 : 2].sum(), x[n - i : n - i + 7].sum(), x[n + 2 :: -1].sum(),
        )  # fmt: skip
    return out


@pytest.mark.parametrize("excess", [-9, -3, 0])
def test_windows_of_constant_length(excess):
    def windows(x):
        return windows_of_constant_length(x, excess)

    compiled = autoconv.compile(windows)
    for size in (30, 31, 32, 40, 11, 9, 4, 2, 1):
        x = data("float64", size)
        assert_close(compiled(x), windows(x))
        assert_close(compiled(x[::-1]), windows(x[::-1]))


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_bounds_that_wrap(dtype):
    """NumPy's integers wrap: the stop of a slice may be below its start, although a positive number was added."""

    def parts(x, positions):
        out = np.zeros((3, len(positions)))
        for i in range(len(positions)):
            out[0, i] = x[positions[i] : positions[i] + dtype(3)].sum()
            out[1, i] = x[: positions[i] - dtype(2)].sum()
            out[2, i] = x[positions[i] - dtype(2) : positions[i]].sum()
        return out

    compiled, limits = autoconv.compile(parts), np.iinfo(dtype)
    positions = np.array([0, 3, limits.max, limits.max - 3, limits.min, limits.min + 2, -1, -3], dtype)
    for size in (20, 21, 22, 200):
        x = data("float64", size)
        with np.errstate(over="ignore"):
            assert_close(compiled(x, positions), parts(x, positions))
