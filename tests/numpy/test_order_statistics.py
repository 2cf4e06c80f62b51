"""Medians, percentiles and elements of sorted arrays: the same as NumPy's to the last bit, without a sort."""

import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


def medians(v):
    return np.median(v), np.median(v[v > 0]), np.median(v.reshape(-1, 2), axis=0), np.median(v[1:], keepdims=True)


def percentiles(v):
    return np.percentile(v, 30), np.percentile(v, 100), np.quantile(v, [0.1, 0.5, 0.9]), np.percentile(v[1:], 99.5)


def ordered(v):
    w = np.sort(v)
    return w[0], w[-1], np.sort(v[v >= 0])[3], np.sort(v.reshape(2, -1), axis=1)[:, 2]


def extremes_of_windows(v):
    out = np.zeros((3, min(len(v), 40)))
    for i in range(4, out.shape[1]):
        out[:, i] = np.sort(v[i:])[0], np.sort(v[:i])[-1], np.sort(v[i - 4 : i])[0]
    short = np.sort(v[:5])
    return out[0], out[1], out[2], short[0], short[-1]


def windows(v):
    out = np.zeros(len(v) - 7)
    for i in range(len(out)):
        out[i] = np.median(v[i : i + 7]) + np.percentile(v[: i + 2], 75)
    return out


def numbers(dtype, size, seed):
    draw = np.random.default_rng(seed)
    found = draw.normal(0, 3, size).round(1 if seed else 9).astype(dtype)
    if np.dtype(dtype).kind == "f" and seed == 2:
        found[[0, 3, 5]] = -0.0, 0.0, -np.inf
    return found


@pytest.mark.parametrize("function", [medians, percentiles, ordered, extremes_of_windows, windows])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16"])
@pytest.mark.search
def test_as_numpy(function, dtype):
    compiled = autoconv.compile(function)
    for size in (600, 40, 602):
        for seed in range(3):
            argument = numbers(dtype, size, seed)
            for part, expected in zip(compiled(argument.copy()), function(argument), strict=True):
                np.testing.assert_array_equal(part, expected)
                assert type(part) is type(expected) and part.dtype == expected.dtype


def test_nans_and_empty_arrays():
    compiled = autoconv.compile(medians)
    argument = numbers("float64", 600, 1)
    argument[7] = np.nan
    assert np.isnan(compiled(argument)[0]) and np.isnan(compiled(argument)[3]) and not np.isnan(compiled(argument)[1])
    with pytest.warns(RuntimeWarning, match="empty"):
        assert np.isnan(compiled(-np.abs(argument))[1])


def test_nans_are_last_and_windows_without_elements_raise():
    compiled = autoconv.compile(lambda v, i: (np.sort(v[i:])[0], np.sort(v[i:])[-1]))
    argument = np.array([2.0, np.nan, -1.0, 4.0, np.nan, np.nan])
    for i, (least, greatest) in enumerate([(-1, np.nan), (-1, np.nan), (-1, np.nan), (4, np.nan), (np.nan, np.nan)]):
        np.testing.assert_array_equal(compiled(argument, i), (least, greatest))
    with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
        compiled(argument, 6)


def test_quantiles_given_as_arguments():
    compiled = autoconv.compile(lambda v, q: np.percentile(v, q))
    argument = numbers("float64", 500, 0)
    for q in (30.0, 50.0, 99.9, 100.0, 0.0, 12.5):
        assert compiled(argument, q) == np.percentile(argument, q)
    with pytest.raises(ValueError, match=r"\[0, 100\]"):
        compiled(argument, 101.0)


def test_quantiles_of_any_length():
    some = autoconv.TensorSpec((None,), autoconv.float64)
    compiled = autoconv.function(lambda v: (np.quantile(v, 0.3), np.percentile(v, [5, 70.5])), input_signature=[some])
    for size in (1, 2, 7, 500):
        argument = numbers("float64", size, 0)
        low, others = compiled(argument)
        assert low.numpy() == np.quantile(argument, 0.3)
        np.testing.assert_array_equal(others, np.percentile(argument, [5, 70.5]))


def ordered(v, k, small):
    return np.lexsort((v, k)), np.lexsort([k, v.round(1), v > 0.5]), np.lexsort((small, k), 0), np.lexsort((v,))


def test_orders_by_several_keys():
    compiled = autoconv.compile(ordered)
    random = np.random.default_rng(5)
    for size in (300, 0, 1, 2):
        v, keys = numbers("float64", size, 0), random.integers(0, 4, (2, size))
        v[random.random(size) < 0.2] = np.nan
        arguments = v, keys[0], keys[1].astype(np.int8)
        for found, expected in zip(compiled(*arguments), ordered(*arguments), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="same shape"):
        compiled(np.ones(3), np.ones(4), np.ones(3))


@pytest.mark.parametrize("name", ["percentile", "quantile", "nanquantile", "nanpercentile"])
def test_arguments_that_numpy_sorts(name):
    quantile = getattr(np, name)
    compiled = autoconv.compile(lambda v: quantile(v, [0.1, 0.9], overwrite_input=True))
    by_position = autoconv.compile(lambda v: quantile(v, 0.5, None, None, True))
    for function, plain in (
        (compiled, lambda v: quantile(v, [0.1, 0.9], overwrite_input=True)),
        (by_position, lambda v: quantile(v, 0.5, None, None, True)),
    ):
        for _ in range(2):
            argument, changed = numbers("float64", 9, 0), numbers("float64", 9, 0)
            np.testing.assert_array_equal(function(argument), plain(changed))
            np.testing.assert_array_equal(argument, changed)


def positions_in_bins(v, edges):
    return np.digitize(v, edges), np.digitize(v[0], edges + 0.5, right=True)


def test_bins_that_the_program_computes():
    compiled = autoconv.compile(positions_in_bins)
    argument = numbers("float64", 200, 0)
    for edges in ([-0.5, 0.0, 0.0, 1.0], [0.3], [1.0, 0.0, -0.5], [0.0, np.nan, 1.0]):
        for found, expected in zip(
            compiled(argument, np.array(edges)), positions_in_bins(argument, np.array(edges)), strict=True
        ):
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)


def test_gradients():
    argument = numbers("float64", 300, 0)
    (gradient,) = (np.flatnonzero(autoconv.grad(lambda v: np.percentile(v, 100))(argument)),)
    assert list(gradient) == [int(np.argmax(argument))]
    middle = autoconv.grad(lambda v: np.median(v))(argument)
    places = np.argsort(argument)[[149, 150]]
    assert sorted(np.flatnonzero(middle)) == sorted(places) and np.allclose(middle[places], 0.5)


def distinct(v):
    return (np.unique(v), *np.unique(v, return_index=True, return_inverse=True, return_counts=True), len(np.unique(v)))


def arranged(v):
    k = len(v) // 3
    rows = v.reshape(-1, 2)
    parts = np.partition(v, k), np.argpartition(v, 5), np.partition(rows, 3, axis=0), np.argsort(v)
    return (*parts, np.argsort(rows, axis=0), np.argsort(v[v > 0]), np.sort(v), np.sort(rows, axis=0))


@pytest.mark.parametrize("function", [distinct, arranged])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "int16"])
def test_orders_as_numpy(function, dtype):
    compiled = autoconv.compile(function)
    for size in (3000, 40, 3000, 602):
        for seed in range(3):
            argument = numbers(dtype, size, seed)
            if seed == 1 and argument.dtype.kind == "f":
                argument[[3, 8]] = np.nan
            for part, expected in zip(compiled(argument.copy()), function(argument), strict=True):
                np.testing.assert_array_equal(part, expected)
                assert type(part) is type(expected) and np.asarray(part).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_gradient_of_partition(axis):
    """The cotangents go to the elements that the result has at their positions."""
    argument, weights = numbers("float64", 20, 0).reshape(5, 4), np.arange(20.0).reshape(5, 4)
    weights = weights.ravel() if axis is None else weights
    program = lambda v: (np.partition(v, (1, 2), axis=axis) * weights).sum()
    parts = np.partition(argument, (1, 2), axis=axis)
    expected = [weights[parts == element].item() for element in argument.ravel()]
    for function in (autoconv.grad(program), autoconv.compile(autoconv.grad(program))):
        np.testing.assert_array_equal(np.ravel(function(argument)), expected)


def test_positions_out_of_range():
    compiled = autoconv.compile(lambda v, k: np.partition(v, k))
    np.testing.assert_array_equal(compiled(np.arange(9.0), -2), np.arange(9.0))
    with pytest.raises(ValueError, match="out of bounds"):
        compiled(np.arange(9.0), 9)


@pytest.mark.parametrize("function", [
    lambda v: np.median(v), lambda v: np.quantile(v, 0.9), lambda v: np.percentile(v, [10, 80], axis=1).sum(),
    lambda v: (np.median(v, axis=0) * np.arange(4.0)).sum(),
])  # fmt: skip
def test_gradients_without_kernels(function):
    value_and_gradient = autoconv.value_and_grad(autoconv.compile(function))
    argument = numbers("float64", 20, 0).reshape(5, 4)
    value, gradient = value_and_gradient(argument)
    np.testing.assert_allclose(value, function(argument))
    steps = 1e-6 * np.eye(20).reshape(20, 5, 4)
    differences = [(function(argument + step) - function(argument - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient.reshape(-1), differences, atol=1e-7)
    assert "by kernels" not in value_and_gradient.explain()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("share", [0.05, 0.25, 0.7, 1.0])
def test_arrays_with_a_frequent_number(share, dtype):
    """Beside a number as frequent as that there are others on both sides, and zeros of both signs."""
    random = np.random.default_rng(5)
    x = np.where(random.random(2000) < share, random.choice([0.0, -0.0], 2000), random.normal(scale=9.0, size=2000))
    x = x.astype(dtype)
    compiled = autoconv.compile(statistics_of_rows)
    for array in (x, -x, np.abs(x), x[:500], x + 1):
        for found, expected in zip(compiled(array), statistics_of_rows(array), strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype


def statistics_of_rows(v):
    rows = v.reshape(10, -1)
    return (
        np.median(v), np.quantile(v, [0.1, 0.5, 0.75]), np.percentile(v, 90), np.median(rows, axis=1),
        np.median(rows, axis=0),
    )  # fmt: skip


def test_short_windows_have_the_zeros_and_nans_of_a_stable_sort():
    compiled = autoconv.compile(lambda v, n, i: np.sort(v[:n])[i])
    argument = np.random.default_rng(0).choice([-0.0, 0.0, 1.0, -1.0, np.nan, np.inf], 40)
    for n in range(1, 41):
        expected = np.sort(argument[:n], kind="stable")
        found = np.array([compiled(argument, n, i) for i in range(n)])
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[expected == 0]))
    with pytest.raises(IndexError):
        compiled(argument, 0, 0)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("q", [30, 100, 0, [25.0, 50.0]])
def test_quantiles_without_nans(axis, q, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")

    def f(x):
        return np.nanpercentile(x, q, axis=axis), np.nanquantile(x[:4], 0.3, axis=axis)

    def make():
        x = np.random.default_rng(2).normal(size=(7, 5))
        x[0, 0], x[1, 2:4], x[5] = np.nan, np.nan, [np.nan, np.inf, np.nan, 1.0, 2.0]
        return x

    compiled = autoconv.compile(f)
    for _ in range(3):
        for found, expected in zip(compiled(make()), f(make()), strict=True):
            assert type(found) is type(expected)
            np.testing.assert_array_equal(found, expected)
    explanation = compiled.explain()
    assert "by kernels" not in explanation and "plain Python" not in explanation


def test_quantiles_of_nans_alone_warn_in_each_call(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = autoconv.compile(lambda x: np.nanpercentile(x, 30, axis=1))
    for x in (np.ones((2, 3)), np.array([[1.0, np.nan, 2.0], [np.nan] * 3])):
        for _ in range(3):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                compiled(x)
            assert len(found) == np.isnan(x).all(axis=1).sum()


def test_gradient_of_quantiles_without_nans():
    x = np.array([3.0, np.nan, 1.0, 4.0, 1.5])
    gradient = autoconv.grad(autoconv.compile(lambda x: np.nanpercentile(x, 30.0)))(x)
    np.testing.assert_allclose(gradient, [0.0, 0.0, 0.1, 0.0, 0.9], rtol=1e-12)
