"""Indices that are Python's int on one path and an integer of an array on another."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tracing.in_place import check_in_place


def walk(rows: Any, draws: Any) -> Any:
    state, counts = 0, np.zeros((5, 5), dtype=np.int64)
    for draw in draws:
        after = np.searchsorted(rows[state], draw)
        if after > 4:
            after = 4
        counts[state, after] += 1
        state = after
    return counts, state


def bounds(values: Any, steps: Any) -> Any:
    end = 0
    for step in range(len(steps)):
        end = np.argmax(steps) if steps[step] > 1 else 2
        values[end] += 1
        values[:end] += 1
        values[end:] = values[end] / 2
    return values, end


def mask_or_position(values: Any, n: int) -> Any:
    chosen = 1 if n > 2 else values > 2
    values[chosen] = -1.0
    return values


def test_as_numpy() -> None:
    draws = np.random.default_rng(0)
    check_in_place(walk, np.cumsum(draws.dirichlet(np.ones(5), 5), axis=1), draws.random(50) * 1.1)
    check_in_place(bounds, np.arange(6.0), np.array([1, 2, 3], np.int16))
    check_in_place(bounds, np.arange(2.0), np.array([1, 2, 0]))
    for n in (2, 3):
        check_in_place(mask_or_position, np.arange(6.0), n)
