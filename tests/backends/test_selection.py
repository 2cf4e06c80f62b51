"""Conditions whose arms are both computed: ints within and beyond the bound of their operands, and beyond 64 bits."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tracing.plain_comparison import check_against_plain

pytestmark = pytest.mark.optimised


def collatz(x: int) -> Any:
    steps = 0
    while x not in (0, 1, -1, -5, -17) and steps < 400:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return x, steps


def folded(x: int) -> Any:
    total, alternate = x, x - 7
    for i in range(40):
        if (x ^ i) & 3:
            total, alternate = total * 5 - i, alternate - total
        else:
            total, alternate = total // 7, -abs(alternate) % 9
    return total, alternate


def shrunk(x: int) -> Any:
    found = []
    for i in range(12):
        if x % 4 == i % 3:
            x = x + 2**61
        else:
            x = x // 16 - (x % 8) * 3
        found.append(x)
    return found


def nested(x: int) -> Any:
    for i in range(30):
        if x > 1000:
            x = (x * x) % 1009
        elif x & 1:
            x = x * 7 + i
        else:
            x = x * x - i
    return x


STARTS = [27, 0, -9, 97, 2**31 + 1, 2**40 + 3, -(2**58) - 1, 2**61 - 1, 2**61, 2**61 + 1, -(2**61) - 1, 2**62 + 1,
          2**63 - 1, -(2**63), 6148914691236517205, 6148914691236517204]  # fmt: skip


@pytest.mark.parametrize("program", [collatz, folded, shrunk, nested])
def test_arms_that_may_overflow(program: Any) -> None:
    check_against_plain(program, *[(start,) for start in STARTS])
