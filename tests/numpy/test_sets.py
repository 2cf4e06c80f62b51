"""Functions of sets: NumPy's elements and dtypes, from native code, also of arrays whose size the program computes."""

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


def of_two(x, y):
    return (
        np.union1d(x, y), np.intersect1d(x, y), np.setdiff1d(x, y), np.setxor1d(x, y), np.isin(x, y),
        np.isin(x, y, invert=True), np.unique(x),
    )  # fmt: skip


def of_parts(x, y):
    first, second = x[x > 1], y[y > 0]
    counts = np.unique(first, return_counts=True)
    return np.intersect1d(first, second), np.union1d(first, second), np.isin(first, second), *counts


DRAW = np.random.default_rng(7)
PAIRS = [
    (DRAW.integers(0, 90, 200), DRAW.integers(30, 120, 100)),
    (DRAW.integers(0, 9, (4, 6)).astype(np.int32), DRAW.integers(0, 20, 80)),
    (DRAW.integers(0, 9, 40) / 4, DRAW.integers(0, 9, 70).astype(np.float32) / 4),
    (np.array([1.5, np.nan, 2.5, np.nan, -0.0]), np.array([np.nan, 2.5, 0.0] * 30)),
    (np.array([2**62, 3]), np.array([2**62 + 1, 3.5] * 40)),
    (np.array([3]), np.array([3])),
    (np.array([3.0]), np.array([4.0])),
]


@pytest.mark.parametrize("program", [of_two, of_parts])
@pytest.mark.parametrize("pair", PAIRS)
def test_equal_numpys(program, pair, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = autoconv.compile(program)
    for x, y in (pair, pair[::-1], (pair[0] + 1, pair[1])):
        for found, expected in zip(compiled(x, y), program(x, y), strict=True):
            np.testing.assert_array_equal(found, expected, strict=True)


def test_no_kernels():
    for program in (of_two, of_parts):
        compiled = autoconv.compile(program)
        compiled(*PAIRS[0])
        assert "kernels" not in compiled.explain() and "plain Python" not in compiled.explain()


def test_choices_keep_the_signs_of_zeros():
    compiled = autoconv.compile(lambda indices, x: (np.choose(indices, [x, -x]), np.choose(indices * 0, [x])))
    x = np.array([-0.0, 0.0, 1.0])
    for indices in (np.array([0, 1, 1]), np.array([[0], [1]])):
        for found, expected in zip(compiled(indices, x), compiled.__wrapped__(indices, x), strict=True):
            np.testing.assert_array_equal(found, expected, strict=True)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_a_choice_index_is_checked():
    compiled = autoconv.compile(lambda numbers, x: np.choose(numbers, [x, x * 2, 7.0]))
    x = np.arange(4.0)
    for numbers in (np.array([0, 2, 1, 1]), np.array([2, 2, 2, 0])):
        np.testing.assert_array_equal(compiled(numbers, x), np.choose(numbers, [x, x * 2, 7.0]), strict=True)
    assert "kernels" not in compiled.explain()
    for numbers in (np.array([0, 3, 1, 1]), np.array([0, -1, 1, 1])):
        with pytest.raises(ValueError, match="invalid entry in choice array"):
            compiled(numbers, x)


def distinct(x):
    return np.unique(x), *np.unique(x, return_counts=True), *np.unique(x, return_inverse=True, return_counts=True)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16, np.uint16, np.int32])
def test_distinct_short_integers_have_native_code(dtype):
    compiled = autoconv.compile(distinct)
    low = -100 if np.dtype(dtype).kind == "i" else 0
    for shape in ((7,), (40,), (9000,), (500,), (3, 4), (20, 9)):
        x = np.random.default_rng(3).integers(low, 100, shape)
        x = x > 50 if dtype is bool else x.astype(dtype)
        for found, expected in zip(compiled(x), distinct(x), strict=True):
            np.testing.assert_array_equal(found, expected, strict=True)
    assert "numpy_call" not in compiled.explain(), compiled.explain()
