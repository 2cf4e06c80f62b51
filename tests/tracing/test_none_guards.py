"""Names that are None until a loop assigns them a number of NumPy's: tests for None narrow the code they guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv


def total_of_steps(x: Any) -> Any:
    previous, total = None, 0.0
    for i in range(len(x)):
        if previous is not None:
            total += abs(x[i] - previous)
        previous = x[i]
    return total, previous


def rises(x: Any) -> Any:
    previous, total = None, 0.0
    for value in x:
        if previous is not None and value > previous:
            total += value - previous
        previous = value
    return total


def greatest(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if best is None or x[i] > best:
            best = x[i]
    return best


def position_of_greatest(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if best is None or x[i] > x[best]:
            best = i
    return best


def product_with_first(x: Any) -> Any:
    first, total = None, 0.0
    for value in x:
        if first is None:
            first = value
            continue
        total += value * first
    return total


def reset(x: Any) -> Any:
    start, total = None, 0.0
    for i in range(len(x)):
        if not (start is not None or x[i] <= 0):
            start = x[i]
        elif start is not None:
            if x[i] < 0:
                total += x[start > 1] - start
                start = None
            else:
                start = start + x[i]
    return total, start


def unguarded(x: Any) -> Any:
    previous = None
    for i in range(len(x)):
        if x[i] > 1.5:
            previous = x[i] + previous
    return previous


def unguarded_comparison(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if x[i] > 1.5 and x[i] > best:
            best = x[i]
    return best


def outcome(program: Callable[..., Any], x: Any) -> Any:
    try:
        result = program(x)
    except Exception as error:
        return type(error), str(error)
    return repr(result)


ARRAYS = [
    np.random.default_rng(5).normal(size=90), np.linspace(0, 1, 50), -np.linspace(0.5, 3, 41), np.full(3, np.nan),
    np.arange(-20, 30) % 7, np.zeros(0), np.array([2.0]),
]  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [total_of_steps, rises, greatest, position_of_greatest, product_with_first, reset, unguarded, unguarded_comparison],
)
def test_results_and_errors_are_those_of_plain_python(program: Callable[..., Any]) -> None:
    compiled = autoconv.compile(program)
    for _ in range(2):
        for x in ARRAYS:
            assert outcome(compiled, x) == outcome(program, x)


@pytest.mark.parametrize("program", [total_of_steps, rises, greatest, position_of_greatest, product_with_first])
def test_guarded_code_has_no_kernels(program: Callable[..., Any]) -> None:
    compiled = autoconv.compile(program)
    compiled(ARRAYS[0])
    assert compiled.get_concrete_function(ARRAYS[0]).kernels == []
