"""Gathers by parts of arrays of positions, whose sizes the graph computes: as in NumPy, without kernels."""

import numpy as np
import pytest

import autoconv


def row_products(starts, columns, values, x):
    found = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        part = slice(starts[i], starts[i + 1])
        found[i] = values[part] @ x[columns[part]]
    return found


def extremes(starts, columns, values, x):
    found = np.zeros(starts.size - 1, x.dtype)
    for i in range(starts.size - 1):
        found[i] = x[columns[starts[i] : starts[i + 1]]].max()
    return found


def updated(starts, columns, values, x):
    for i in range(starts.size - 1):
        lo, hi = starts[i], starts[i + 1]
        values[lo:hi] = values[lo:hi] * 2 + x[columns[lo:hi]]
    return values


def written_back(starts, columns, values, x):
    for i in range(starts.size - 1):
        lo, hi = starts[i], starts[i + 1]
        x[lo:hi] = x[columns[lo:hi]] + 1
    return x


def written_before(starts, columns, values, x):
    total = x.sum() * 0
    for i in range(starts.size - 1):
        x[i] = i
        total += np.sum(x[columns[starts[i] : starts[i + 1]]] * values[starts[i] : starts[i + 1]])
    return total


def new_arrays(starts, columns, values, x):
    total = x.sum() * 0
    for i in range(starts.size - 1):
        y = x[columns[starts[i] : starts[i + 1]]] * 2
        total += y.sum() + y.sum()
    return total


FUNCTIONS = [row_products, extremes, updated, written_back, written_before, new_arrays]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("positions", ["int64", "int32", "uint8"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.search
def test_as_numpy(function, positions, dtype):
    if dtype == "complex128" and function is extremes:
        pytest.skip("no order")
    compiled = autoconv.compile(function)
    for seed, wrong in ((0, None), (1, None), (2, 30), (3, -31), (4, -1)):
        if wrong is not None and wrong < 0 and positions == "uint8":
            continue
        compiled_inputs, plain_inputs = (_inputs(positions, dtype, seed, wrong) for _ in range(2))
        found, expected = _outcome(compiled, compiled_inputs), _outcome(function, plain_inputs)
        assert type(found) is type(expected)
        if isinstance(expected, tuple):
            assert found == expected
        else:
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-5)
        for actual_part, expected_part in zip(compiled_inputs, plain_inputs, strict=True):
            np.testing.assert_allclose(actual_part, expected_part, rtol=1e-5)


@pytest.mark.parametrize("function", [row_products, extremes, updated])
def test_no_kernels(function):
    compiled = autoconv.compile(function)
    compiled(*_inputs("int64", "float64", 0, None))
    assert "kernels" not in compiled.explain()


def _inputs(positions, dtype, seed, wrong):
    """Return rows of 3 to 5 of 30 columns; one position may be `wrong`."""
    random = np.random.default_rng(seed)
    starts = np.cumsum([0, *random.integers(3, 6, 8)])
    columns = random.integers(0, 30, starts[-1]).astype(positions)
    if wrong is not None:
        columns[7] = wrong
    values, x = ((random.random(size) * 9).astype(dtype) for size in (starts[-1], 30))
    return [starts, columns, values, x]


def _outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)
