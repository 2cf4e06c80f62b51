"""Elements that a mask selects, used and changed, beside NumPy: values, dtypes, errors, arguments afterwards."""

import warnings

import numpy as np
import pytest

import autoconv


def squares(x, m):
    x[m] = x[m] ** 2 + x[m]
    return x


def incremented(x, m):
    x[m] += 1
    x[~m] *= 2
    return x.sum()


def set_to_number(x, m):
    x[m] = 3
    return x


def other_masks(x, m):
    x[m] = x[m[::-1]][: m.sum()]
    return x


def two_masks(x, m):
    y = x[m] * 2
    y[y > 1] = 1
    return y, y.sum()


def shifted(x, m):
    x[1:][m[1:]] = x[:-1][m[1:]]
    return x


def totals(x, m):
    selected = x[m]
    positive = selected > 0
    return selected.sum(), selected.mean(), selected.prod(), positive.any(), positive.all(), selected.sum(axis=0)


def returned_as_well(x, m):
    selected = x[m] + 1
    return selected, selected.sum(), len(selected)


def largest(x, m):
    return x[m].max()


def in_a_loop(x, m):
    count = np.zeros(x.shape, int)
    for _ in range(6):
        m = m & (np.abs(x) < 10)
        x[m] = x[m] * 2
        count[m] += 1
    return count


def wrong_shape(x, m):
    return x[m[:-1]].sum()


def too_many(x, m):
    x[m] = np.arange(x.size + 1)
    return x


def into_copy(x, m):
    y = x.copy()
    y[m] = -y[m]
    return y, x[m].sum()


FUNCTIONS = [
    squares, incremented, set_to_number, other_masks, two_masks, shifted, totals, returned_as_well, largest, in_a_loop,
    wrong_shape, too_many, into_copy,
]  # fmt: skip
DTYPES = ["float64", "float32", "float16", "int64", "uint8", "complex128", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.search
def test_as_numpy(function, dtype):
    compiled = autoconv.compile(function)
    for share in (0.5, 0.0, 1.0):
        _check(function, compiled, lambda share=share: _inputs(dtype, share))


@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64"])
def test_masks_of_rows(dtype):
    def rows(x, m, weights):
        x[m] = x[m] * weights + 1
        centre = x[m].mean(axis=0)
        return centre, x[m].sum(axis=1), x[m].sum(), (x[m] - x[m].sum(axis=0)).sum(axis=0)

    def make_arguments():
        random = np.random.default_rng(2)
        values = random.integers(-4, 5, (20, 3)).astype(dtype)
        return values, random.random(20) < 0.5, random.integers(1, 3, 3).astype(dtype)

    _check(rows, autoconv.compile(rows), make_arguments)


def test_no_kernels():
    """All these uses of masked elements have native code."""

    def f(x, y, m):
        x[m] = np.sqrt(y[m]) + 1.0
        y[m] += x[m]
        return y[m].mean()

    compiled = autoconv.compile(f)
    random = np.random.default_rng(0)
    compiled(random.random(100), random.random(100), random.random(100) < 0.5)
    assert "kernels" not in compiled.explain()


def test_unselected_elements_give_no_warnings():
    """Division by zero and overflow outside of the mask have no effect."""

    def inverse(x, m):
        x[m] = 1 / x[m]
        return x[m].sum()

    compiled = autoconv.compile(inverse)
    x, y = np.array([0.0, 2.0, np.inf, np.nan]), np.array([0.0, 2.0, np.inf, np.nan])
    mask = np.array([False, True, True, False])
    assert compiled(x, mask) == inverse(y, mask)
    np.testing.assert_array_equal(x, y)


def _inputs(dtype, share):
    random = np.random.default_rng(1)
    values = random.integers(0, 5, 40) if dtype == "uint8" else random.normal(size=40) * 3
    if dtype.startswith("complex"):
        values = values + 1j * random.normal(size=40)
    return values.astype(dtype), random.random(40) < share


def _check(function, compiled, make_arguments):
    compiled_arguments, plain_arguments = make_arguments(), make_arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found, expected = outcome(compiled, compiled_arguments), outcome(function, plain_arguments)
    compare(found, expected)
    compare(compiled_arguments, plain_arguments)


def outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


def compare(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for actual_part, expected_part in zip(found, expected, strict=True):
            compare(actual_part, expected_part)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        decimals = 3 if expected.dtype.itemsize == 2 else 5
        np.testing.assert_allclose(found, expected, rtol=10.0**-decimals)
    else:
        assert found == expected
