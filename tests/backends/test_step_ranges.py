"""Counters in loops that branches change by constants: exact, also beyond 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tracing.plain_comparison import check_against_plain

pytestmark = pytest.mark.optimised


def longest_run(values: Any) -> Any:
    best = run = 0
    for value in values:
        if value:
            run += 1
        else:
            run = 0
        best = max(best, run)
    return best, run


def up_and_down(values: Any) -> Any:
    up, down, sum_near_limit = 5, -3, 2**63 - 4
    for value in values:
        up = up + 2 if value else up - 1
        down = down - 3 if not value else down
        if value:
            sum_near_limit += 1
    return up, down, sum_near_limit


def nested(values: Any) -> Any:
    total = 0
    for i in range(len(values)):
        inner = total
        for j in range(i):
            if values[j]:
                inner += 1
            elif values[i]:
                inner = 7
        total = inner + 1 if inner < 2**62 else 0
    return total


def left_early(values: Any) -> Any:
    count, step = 0, 2**62
    for value in values:
        if count > 3:
            break
        count += bool(value)
        step = step + 2**61 if value else 0
    return count, step


def accepted(values: Any) -> Any:
    level, count, last = 0.0, 2**63 - 9, 0
    for value in values:
        if level + value < 1.5:
            level = level + value - 0.25
            count += 1
            last += 1
        else:
            level -= 0.5
            last = 0
    return level, count, last


@pytest.mark.parametrize("program", [longest_run, up_and_down, nested, left_early, accepted])
def test_as_plain_python(program: Any) -> None:
    draws = np.random.default_rng(0)
    calls = [(draws.random(n) < p,) for n, p in [(0, 0.5), (1, 1), (7, 1), (50, 0.4), (51, 0.9), (50, 0)]]
    check_against_plain(program, *calls)
