"""Under `compile`: outer NumPy scalars are not converted to Python numbers, not even `np.float64`."""

import math

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error

TABLE = np.array([2.0, 3.0, 5.0])
COUNTS = np.array([[2, 3], [5, 7]])
RATE, NUMBER, TRUTH = np.float64(1.5), np.complex128(1 + 2j), np.True_


def halved(value, count):
    while count > 0:
        value = value * 0.5
        count -= 1
    return value


def summed(value, count):
    for i in range(count):
        value = value + i
    return value


FUNCTIONS = [
    lambda x, k: TABLE[0] + k,
    lambda x, k: k / RATE,
    lambda x, k: -TABLE[1] ** 2 * k,
    lambda x, k: TABLE[0],
    lambda x, k: COUNTS[0, 1],
    lambda x, k: [COUNTS.sum(), RATE, k],
    lambda x, k: {"a": RATE + k, "b": COUNTS[0][0]},
    lambda x, k: RATE if k > 1 else TABLE[0],
    lambda x, k: COUNTS[0, 0] if k > 1 else COUNTS[1, 0],
    lambda x, k: COUNTS[0, 0] if k > 1 else 3,
    lambda x, k: halved(RATE, k),
    lambda x, k: summed(TABLE[1], k),
    lambda x, k: summed(COUNTS[0, 0], k),
    lambda x, k: x[0] + k * RATE,
    lambda x, k: x * RATE,
    lambda x, k: x * TABLE[0],
    lambda x, k: np.sqrt(RATE) + k,
    lambda x, k: abs(NUMBER) + k,
    lambda x, k: NUMBER * k,
    lambda x, k: NUMBER.real + k,
    lambda x, k: TRUTH & (k > 1),
    lambda x, k: math.sqrt(RATE) + k,
    lambda x, k: RATE.item() + k,
    lambda x, k: float(RATE) + k,
    lambda x, k: TABLE.mean() * k,
    lambda x, k: f"{RATE:.2f} {k}",
]


def describe(value):
    if isinstance(value, (list, dict)):
        return [describe(item) for item in (value.values() if isinstance(value, dict) else value)]
    return type(value).__name__, getattr(value, "dtype", None), repr(value)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_scalars_keep_their_class(number):
    function = FUNCTIONS[number]
    compiled = autoconv.compile(function)
    for x in (np.array([1.0, 2.5]), np.array([1.0, 2.5], np.float32)):
        for k in (1, 2, 3):
            assert describe(compiled(x, k)) == describe(function(x, k))
    assert "plain Python" not in compiled.explain(), compiled.explain()


def test_max_with_nans_is_that_of_python():
    def f(x, k):
        return max(x[0], x[1]), min(x[0], x[1]), max(k, x[1]), min(x[0], k), max(x[0], k, x[1])

    compiled = autoconv.compile(f)
    for x in ([1.0, math.nan], [math.nan, 2.0], [0.0, -0.0], [-0.0, 0.0], [1.0, 2.0]):
        for k in (1.5, math.nan, -0.0):
            found, expected = (function(np.array(x), k) for function in (compiled, f))
            assert list(map(repr, map(float, found))) == list(map(repr, map(float, expected)))


def test_a_complex_number_of_pythons_left_of_a_float64_gives_pythons_results():
    def f(x, y, z):
        a, b, c = np.clip(x, 0, 2), np.clip(y, 0, 2), x + 0
        first = 1j == a, 1j != a, (1 + 0j) == c, 1j * a, 1j + a, 1j / a, 1j**a, z - a, z == a, 1j == b  # noqa: SIM300
        return first, (a == 1j, a * 1j, 1j == x, 1j * x, 1j * np.float32(a), z * np.float64(2.0))  # noqa: SIM300

    compiled = autoconv.compile(f)
    for x, y in ((np.array(1.0), np.array(2)), (np.array(5.0), np.array(1))):
        for z in (1j, 1 + 0j):
            found, expected = compiled(x, y, z), f(x, y, z)
            assert [describe(list(part)) for part in found] == [describe(list(part)) for part in expected]
    assert "plain Python" not in compiled.explain(), compiled.explain()


@pytest.mark.parametrize("use", [any, all, sum, max, sorted, list, len, lambda value: 1 in value, lambda value: 2])
@pytest.mark.parametrize("make", [lambda x: x[0] * 2, lambda x: np.asarray(x.sum()), lambda x: x.max() > 1])
def test_one_element_is_not_iterated(use, make, monkeypatch):
    monkeypatch.setattr(autoconv.config.SETTINGS, "tiers", "native")

    def used(x):
        return use(make(x))

    compiled, x = autoconv.compile(used), np.array([1.5, 2.5])
    expected, *found = (result_or_error(function, x) for function in (used, compiled, compiled))
    assert found == [expected, expected]
