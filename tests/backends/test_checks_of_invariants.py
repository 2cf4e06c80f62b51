"""Loops whose checks of Python's errors do not vary: the error comes in the iteration that Python raises it in."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autoconv

pytestmark = pytest.mark.optimised


def quotients(a: Any, out: Any, divisor: Any) -> Any:
    for i in range(len(a)):
        if a[i] > 0:
            out[i] = 0.25 / (1.5 - abs(divisor))
        else:
            out[i] = -1.0
    return out


def roots_and_integers(a: Any, out: Any, x: Any) -> Any:
    for i in range(len(a)):
        for j in range(3):
            if a[i] > j:
                out[i] += math.sqrt(x) + int(x * 1e18)
    return out


def shifted(a: Any, out: Any, k: Any) -> Any:
    for i in range(len(a)):
        if a[i] > 0:
            out[i] = (k << 3) % 7 + 10 // (k - 5) + abs(k) * 3
    return out


def outcome(program: Any, a: Any, number: Any) -> Any:
    out = np.zeros(len(a))
    try:
        result = program(a, out, number)
    except Exception as error:
        return type(error), str(error), out.tolist()
    return result.tolist(), out.tolist()


@pytest.mark.parametrize("a", [np.array([-1.0, -2.0, 3.0, 1.5]), np.array([-1.0, -2.0]), np.zeros(0)], ids=len)
@pytest.mark.parametrize(
    ("program", "numbers"),
    [
        (quotients, (2.0, 1.5, -1.5, 3, 2**60, -(2**63))),
        (roots_and_integers, (4.0, -1.0, 9.5, math.inf, math.nan)),
        (shifted, (1, 5, -3, 2**61, 2**62 + 5)),
    ],
)
def test_errors_come_in_the_iteration_of_python(program: Any, numbers: Any, a: Any) -> None:
    compiled = autoconv.compile(program)
    for number in numbers:
        assert outcome(compiled, a, number) == outcome(program, a, number)
