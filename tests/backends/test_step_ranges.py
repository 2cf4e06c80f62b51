"""Ints in loops that branches change by constants, or set to the loop's counter: exact, also beyond 64 bits."""

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


def gaps_between_hits(values: Any) -> Any:
    start, total, product = None, 0, 1
    for i in range(len(values)):
        if values[i]:
            if start is None:
                start = i
        elif start is not None:
            total += i - start
            product *= start
            start = None
    return total, product, start


def last_hit_from_a_large_number(values: Any) -> Any:
    last, total, down = 2**62, 0, -(2**62)
    for i in range(2, len(values)):
        if values[i]:
            last = i
            down = down - 1 if i % 7 else i - 2
        total += last - down
    return last, total, down


def last_hit_of_an_inner_loop(values: Any) -> Any:
    last = total = 0
    for i in range(len(values)):
        for j in range(i, len(values)):
            last = j if values[j] else last
        total += last * last - i
    return last, total


PROGRAMS = [
    longest_run, up_and_down, nested, left_early, accepted, gaps_between_hits, last_hit_from_a_large_number,
    last_hit_of_an_inner_loop,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_plain_python(program: Any) -> None:
    draws = np.random.default_rng(0)
    calls = [(draws.random(n) < p,) for n, p in [(0, 0.5), (1, 1), (7, 1), (50, 0.4), (51, 0.9), (50, 0)]]
    check_against_plain(program, *calls)
