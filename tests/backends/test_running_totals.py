"""Sums of 64-bit integers that loops carry: those that overflow have NumPy's warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autoconv

pytestmark = pytest.mark.optimised
MAX_INT64 = 2**63 - 1


def total(a: Any) -> Any:
    result = a[0]
    for i in range(1, len(a)):
        result += a[i]
    return result


def falling_total(a: Any) -> Any:
    result = -a[0]
    for i in range(1, len(a)):
        result -= a[i]
    return result


def total_of_rows(a: Any) -> Any:
    result = a[0] * 0
    for _ in range(9):
        for i in range(len(a)):
            result = result + a[i]
    return result


def total_of_several_addends(a: Any) -> Any:
    result = a[0]
    for i in range(1, len(a)):
        result += a[i] >> 1
        if a[i] & 1:
            result += a[i] - (a[i] >> 1)
        else:
            result -= -(a[i] >> 1)
    return result


def sum_after_a_branch(a: Any) -> Any:
    result = 0
    for i in range(len(a)):
        result = max(result, a[i])
    return result + 1


def total_of_equal_addends(count: Any, addend: Any) -> Any:
    result = addend * 0
    for _ in range(count):
        result += addend
    return result


def outcome(program: Any, a: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = program(a)
    return result, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("program", [total, falling_total, total_of_rows, total_of_several_addends, sum_after_a_branch])
@pytest.mark.parametrize(
    "numbers",
    [range(40), [MAX_INT64 - 1, *[1] * 40], [2**62, *[2**39] * 40], [MAX_INT64 // 9 - 5] * 11, [2**41] * 30,
     [-MAX_INT64]],
    ids=["small", "full", "half", "overflowing", "large", "least"],
)
def test_warnings_are_those_of_numpy(program: Any, numbers: Any) -> None:
    compiled, a = autoconv.compile(program), np.array(numbers)
    for _ in range(3):
        assert outcome(compiled, a.copy()) == outcome(program, a.copy())


def test_a_total_that_wraps_to_a_small_number_has_the_warning() -> None:
    # 2**24 + 1 addends of nearly 2**40 pass 64 bits once, and end near 2**40 again.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = autoconv.compile(total_of_equal_addends)(2**24 + 1, np.int64(2**40 - 1))
    assert result == (2**24 + 1) * (2**40 - 1) - 2**64
    assert [str(warning.message) for warning in caught] == ["overflow encountered in scalar add"]


def total_of_python_ints(a: Any, start: int) -> Any:
    result = start
    for i in range(len(a)):
        result += int(a[i])
    return result


def difference_of_python_ints(a: Any, start: int) -> Any:
    result = start
    for _ in range(3):
        for i in range(len(a)):
            if a[i] % 2:
                result -= int(a[i])
            result -= i
    return result


@pytest.mark.parametrize("count", [3, 100, 2_000_000])
@pytest.mark.parametrize("program", [total_of_python_ints, difference_of_python_ints])
def test_totals_of_python_ints_are_exact(program: Any, count: int) -> None:
    compiled, a = autoconv.compile(program), np.arange(count, dtype=np.int32) - 7
    change = program(a, 0)
    for start in (0, -5, MAX_INT64 - change, MAX_INT64 - change + 1, -MAX_INT64 - change, -MAX_INT64 - change - 2):
        if abs(start) <= MAX_INT64:
            assert compiled(a, start) == start + change
