"""numpy.finfo, numpy.iinfo and functions of math over arrays, compared with plain Python; they are staged."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv


def outcome(function: Callable[..., Any], *arguments: Any) -> str:
    try:
        return repr(function(*arguments))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def limits(x: Any) -> Any:
    return np.finfo(x.dtype).eps * x, np.finfo(x[0]).tiny, np.iinfo(np.int32).max, np.finfo(dtype=float).bits


def integer_limits(x: Any) -> Any:
    return np.iinfo(x.dtype).min, np.iinfo(len(x)).max


def least(x: Any) -> Any:
    best, changes = np.finfo(float).max, 0
    for value in x:
        if value < best:
            best = value
            changes += 1
    return best, changes


def limits_of_an_array(x: Any) -> Any:
    return np.finfo(x)


@pytest.mark.parametrize("function", [limits, integer_limits, least, limits_of_an_array])
def test_limits(function: Any) -> None:
    compiled = autoconv.compile(function)
    for x in (np.array([4.0, 3]), np.array([4.0, 3], np.float32), np.array([1, 2]), np.array([1 + 1j, 2])):
        if function is not least or x.dtype.kind != "c":
            assert outcome(compiled, x) == outcome(function, x)
    assert "plain Python" not in compiled.explain()


@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_distances_between_arrays() -> None:
    def between(p: Any, q: Any) -> Any:
        return math.dist(p, q)

    def to_lists(p: Any, q: Any) -> Any:
        return math.dist(p[:2], [1, q[0]]), math.dist((1, 2), q[:2])

    random = np.random.default_rng(0)
    points = [random.normal(size=(2, n)) * 10.0 ** random.integers(-200, 200, (2, 1)) for n in (1, 2, 3, 8)]
    points += [np.array([[1, 2, 3], [4, 5, 6]]), np.ones((2, 2, 2)), np.ones((2, 0)), np.array([[1j, 2], [1, 2]])]
    points += [np.array([[np.inf, 1], [0, np.nan]]), np.array([[True, False], [False, False]])]
    pairs: list[Any] = [*map(tuple, points), (np.ones(2), np.ones(3)), ([1.0, 2.0], np.ones(2)), (["a", 1], np.ones(2))]
    for function in (between, to_lists):
        compiled = autoconv.compile(function)
        for p, q in pairs:
            assert outcome(compiled, p, q) == outcome(function, p, q)
        assert compiled.concrete_functions


def test_arrays_where_an_int_is_required() -> None:
    def program(x: Any) -> Any:
        return math.gcd(x, 4)

    for x in (np.array([4.0]), np.array([1.0, 2.0]), np.array([4]), np.array(4)):
        assert outcome(autoconv.compile(program), x) == outcome(program, x)
