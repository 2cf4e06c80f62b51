"""Rows that are gathered at computed positions, beside reductions of these rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tracing.in_place import check_in_place

ROWS = np.random.default_rng(0).integers(0, 9, (3, 12))


def of_two_orders(rows: Any, i: Any) -> Any:
    first, second = i.astype(np.int32), np.array([0, 2, 1])[i]
    centred = rows[first * 2 - 1] - rows[second].max(axis=1, keepdims=True)
    sums = np.cumsum(centred, axis=1)
    sums[0, 0] = 5
    return sums


def positions_of_sums(rows: Any, i: Any) -> Any:
    largest = rows.max(axis=1, keepdims=True)
    positions = largest[:, 0] - largest[:, 0] + i
    rows[0, 0] += 1
    return rows[positions] - largest, rows[positions] * positions[:, None]


@pytest.mark.parametrize("program", [of_two_orders, positions_of_sums])
def test_as_numpy(program: Any) -> None:
    check_in_place(program, ROWS, np.array([1, 1, 0]))
